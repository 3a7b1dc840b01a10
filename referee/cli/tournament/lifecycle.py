"""`referee tournament open`, `enter`, `start` and the other commands that run a tournament."""

import click

from referee.cli.api_client import ApiRefusal
from referee.cli.plain_text import replace_control_characters
from referee.cli.tournament import lookup
from referee.cli.tournament.parameters import Seed
from referee.cli.tournament.remote import (
    Remote,
    RequestRefused,
    error_sentence,
    error_to_json,
    service_command,
    tournament_argument,
)
from referee.cli.tournament.watching import watch_tournament
from referee.match.canonical import Json


@click.command("open")
@tournament_argument
@service_command
def open_(remote: Remote, tournament_id: str) -> None:
    """Open a draft for entries.

    \b
    Example:
      referee tournament open "Spring cup"
    """
    _act(remote, tournament_id, "open", "is open for entries")


@click.command()
@tournament_argument
@click.argument("bots", metavar="BOT...", nargs=-1, required=True)
@click.option(
    "--seed",
    type=click.IntRange(1),
    metavar="N",
    help="Seed of the first bot, 1 for the strongest; the following bots get the following seeds.",
)
@service_command
def enter(remote: Remote, tournament_id: str, bots: tuple[str, ...], seed: int | None) -> None:
    """Enter bots.

    These may be your own bots, or any bots if you organise the tournament. A bot that is refused is named and the
    others are entered; the exit status is then 1.

    \b
    Example:
      referee tournament enter "Spring cup" "Ada sound" "Carl random" --seed 1
    """
    seeds = {} if seed is None else {bot: {"seed": seed + index} for index, bot in enumerate(bots)}
    _apply_to_bots(remote, tournament_id, "enter", bots, seeds, "entered")


@click.command()
@tournament_argument
@click.argument("bots", metavar="BOT...", nargs=-1, required=True)
@service_command
def withdraw(remote: Remote, tournament_id: str, bots: tuple[str, ...]) -> None:
    """Withdraw bots.

    Matches that have started are played to the end; the remaining ones do not count.

    \b
    Example:
      referee tournament withdraw "Spring cup" "Carl random"
    """
    _apply_to_bots(remote, tournament_id, "withdraw", bots, {}, "withdrawn")


@click.command()
@tournament_argument
@click.argument("pairs", metavar="BOT=NUMBER...", type=Seed(), nargs=-1, required=True)
@service_command
def seeds(remote: Remote, tournament_id: str, pairs: tuple[tuple[str, int | None], ...]) -> None:
    """Seed entries by hand, before the start.

    Seed 1 is the strongest; BOT=- seeds the bot by its rating.

    \b
    Example:
      referee tournament seeds "Spring cup" "Ada sound=1" "Carl random=2" "Emmy first=-"
    """
    known = lookup.BotLookup(remote.api)
    given = {known.id(bot): number for bot, number in pairs}
    document = remote.api.put(f"/tournaments/{tournament_id}/seeds", {"seeds": given})
    remote.show(document, "\n".join(f"{bot}: {'by rating' if number is None else number}" for bot, number in pairs))


@click.command()
@tournament_argument
@click.option("--watch", "watches", is_flag=True, help="Show the tournament until it is over.")
@service_command
def start(remote: Remote, tournament_id: str, watches: bool) -> None:
    """Close the entries, call every bot, and play.

    \b
    Example:
      referee tournament start "Spring cup" --watch
    """
    document = remote.api.post(f"/tournaments/{tournament_id}/start")
    if watches:
        watch_tournament(remote, tournament_id)
    else:
        remote.show(document, f"{document['name']} is running; `referee tournament watch {tournament_id}` shows it")


@click.command()
@tournament_argument
@service_command
def pause(remote: Remote, tournament_id: str) -> None:
    """Start no further matches.

    Running matches are played to the end.

    \b
    Example:
      referee tournament pause "Spring cup"
    """
    _act(remote, tournament_id, "pause", "is paused")


@click.command()
@tournament_argument
@service_command
def resume(remote: Remote, tournament_id: str) -> None:
    """Resume a paused tournament.

    \b
    Example:
      referee tournament resume "Spring cup"
    """
    _act(remote, tournament_id, "resume", "is running again")


@click.command()
@tournament_argument
@click.option("--reason", metavar="TEXT", help="Reason that is shown with the tournament.")
@service_command
def cancel(remote: Remote, tournament_id: str, reason: str | None) -> None:
    """End a tournament early.

    Finished matches keep their results.

    \b
    Example:
      referee tournament cancel "Spring cup" --reason "The hall is closed."
    """
    _act(remote, tournament_id, "cancel", "is cancelled", {} if reason is None else {"reason": reason})


@click.command()
@tournament_argument
@service_command
def finish(remote: Remote, tournament_id: str) -> None:
    """End a continuous ladder.

    No further matches are arranged; running ones are played to the end.

    \b
    Example:
      referee tournament finish "Long ladder"
    """
    _act(remote, tournament_id, "finish", "ends with its running matches")


def _act(remote: Remote, tournament_id: str, verb: str, outcome: str, body: Json | None = None) -> None:
    document = remote.api.post(f"/tournaments/{tournament_id}/{verb}", body)
    remote.show(document, f"{document['name']} {outcome}")


def _apply_to_bots(
    remote: Remote, tournament_id: str, verb: str, bots: tuple[str, ...], more: dict[str, Json], word: str
) -> None:
    """Send a request for each bot, with ``more`` fields by bot. Report each, and fail at the end if any is refused."""
    known, done, refused = lookup.BotLookup(remote.api), [], []
    for bot in bots:
        try:
            body = {"bot": known.id(bot), **more.get(bot, {})}
            remote.api.post(f"/tournaments/{tournament_id}/{verb}", body)
            done.append(body)
            if not remote.as_json:
                click.echo(f"{bot}: {word}")
        except (ApiRefusal, lookup.NotFoundByName) as error:
            refused.append({"bot": bot, "error": error_to_json(error)})
            click.echo(replace_control_characters(f"{bot}: {error_sentence(error)}"), err=True)
    if remote.as_json:
        remote.show({"tournament": tournament_id, word: done, "refused": refused}, "")
    if refused:
        raise RequestRefused(f"{len(refused)} of {len(bots)} bots were not {word}")
