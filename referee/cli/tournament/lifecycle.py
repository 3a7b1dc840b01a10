"""`referee tournament open`, `enter`, `start` and the other words an event is run with."""

from collections.abc import Callable
from typing import Any

import click

from referee.cli.api_client import ApiRefusal
from referee.cli.plain_text import plain
from referee.cli.tournament import lookup
from referee.cli.tournament.parameters import Seed
from referee.cli.tournament.remote import Refused, Remote, asks_service, problem_of, sentence_of
from referee.cli.tournament.watching import watched
from referee.match.canonical import Json

tournament_argument = click.argument("tournament", metavar="TOURNAMENT")


@click.command("open")
@tournament_argument
@asks_service
def open_(remote: Remote, tournament: str) -> None:
    """Open a draft for entries.

    \b
    Example:
      referee tournament open "Spring cup"
    """
    _act(remote, tournament, "open", "takes entries")


@click.command()
@tournament_argument
@click.argument("bots", metavar="BOT...", nargs=-1, required=True)
@click.option("--seed", type=click.IntRange(1), help="Of the first bot, 1 for the strongest; the next ones follow on.")
@asks_service
def enter(remote: Remote, tournament: str, bots: tuple[str, ...], seed: int | None) -> None:
    """Enter bots.

    Your own, or any in an event of yours. A bot that is refused is named and the others are entered all the same; the
    exit status is then 1.

    \b
    Example:
      referee tournament enter "Spring cup" "Ada sound" "Carl random" --seed 1
    """
    known = lookup.Bots(remote.api)
    seeds = {bot: {} if seed is None else {"seed": seed + place} for place, bot in enumerate(bots)}

    def entered(event: str, bot: str) -> Json:
        body = {"bot": known.id(bot), **seeds[bot]}
        remote.api.post(f"/tournaments/{event}/enter", body)
        return body

    _each(remote, tournament, bots, entered, "entered")


@click.command()
@tournament_argument
@click.argument("bots", metavar="BOT...", nargs=-1, required=True)
@asks_service
def withdraw(remote: Remote, tournament: str, bots: tuple[str, ...]) -> None:
    """Take bots out.

    What they have begun is played, the rest counts for nobody.

    \b
    Example:
      referee tournament withdraw "Spring cup" "Carl random"
    """

    known = lookup.Bots(remote.api)

    def withdrawn(event: str, bot: str) -> Json:
        body = {"bot": known.id(bot)}
        remote.api.post(f"/tournaments/{event}/withdraw", body)
        return body

    _each(remote, tournament, bots, withdrawn, "withdrawn")


@click.command()
@tournament_argument
@click.argument("pairs", metavar="BOT=NUMBER...", type=Seed(), nargs=-1, required=True)
@asks_service
def seeds(remote: Remote, tournament: str, pairs: tuple[tuple[str, int | None], ...]) -> None:
    """Seed entries by hand, before the start.

    1 is the strongest; BOT=- leaves it to the rating.

    \b
    Example:
      referee tournament seeds "Spring cup" "Ada sound=1" "Carl random=2" "Emmy first=-"
    """
    event = lookup.tournament_id(remote.api, tournament)
    known = lookup.Bots(remote.api)
    given = {known.id(bot): number for bot, number in pairs}
    document = remote.api.put(f"/tournaments/{event}/seeds", {"seeds": given})
    remote.tell(document, "\n".join(f"{bot}: {'by rating' if number is None else number}" for bot, number in pairs))


@click.command()
@tournament_argument
@click.option("--watch", "watches", is_flag=True, help="Stay and show it until it is over.")
@asks_service
def start(remote: Remote, tournament: str, watches: bool) -> None:
    """Close the entries, call every bot, and play.

    \b
    Example:
      referee tournament start "Spring cup" --watch
    """
    event = lookup.tournament_id(remote.api, tournament)
    document = remote.api.post(f"/tournaments/{event}/start")
    if watches:
        watched(remote, event)
    else:
        remote.tell(document, f"{document['name']} runs; `referee tournament watch {event}` shows it")


@click.command()
@tournament_argument
@asks_service
def pause(remote: Remote, tournament: str) -> None:
    """Let no further match begin.

    Those being played are played out.

    \b
    Example:
      referee tournament pause "Spring cup"
    """
    _act(remote, tournament, "pause", "pauses")


@click.command()
@tournament_argument
@asks_service
def resume(remote: Remote, tournament: str) -> None:
    """Go on after a pause.

    \b
    Example:
      referee tournament resume "Spring cup"
    """
    _act(remote, tournament, "resume", "goes on")


@click.command()
@tournament_argument
@click.option("--reason", help="Shown with the event.")
@asks_service
def cancel(remote: Remote, tournament: str, reason: str | None) -> None:
    """End an event before its time.

    Matches that are over keep their results.

    \b
    Example:
      referee tournament cancel "Spring cup" --reason "The hall is closed."
    """
    _act(remote, tournament, "cancel", "is cancelled", {} if reason is None else {"reason": reason})


@click.command()
@tournament_argument
@asks_service
def finish(remote: Remote, tournament: str) -> None:
    """End a continuous ladder.

    Nothing more is arranged, what is being played is played out.

    \b
    Example:
      referee tournament finish "Long ladder"
    """
    _act(remote, tournament, "finish", "ends with the matches that are being played")


def _act(remote: Remote, tournament: str, verb: str, words: str, body: Json | None = None) -> None:
    event = lookup.tournament_id(remote.api, tournament)
    document = remote.api.post(f"/tournaments/{event}/{verb}", body)
    remote.tell(document, f"{document['name']} {words}")


def _each(remote: Remote, tournament: str, bots: tuple[str, ...], act: Callable[[str, str], Json], word: str) -> None:
    """Does it for bot after bot; tells what was done, and fails at the end when any was refused."""
    event = lookup.tournament_id(remote.api, tournament)
    done: list[Json] = []
    refused: list[dict[str, Any]] = []
    for bot in bots:
        try:
            done.append(act(event, bot))
            if not remote.as_json:
                click.echo(f"{bot}: {word}")
        except (ApiRefusal, lookup.NotFoundByName) as error:
            refused.append({"bot": bot, "error": problem_of(error)})
            click.echo(plain(f"{bot}: {sentence_of(error)}"), err=True)
    if remote.as_json:
        remote.tell({"tournament": event, word: done, "refused": refused}, "")
    if refused:
        raise Refused(f"{len(refused)} of {len(bots)} bots were not {word}")
