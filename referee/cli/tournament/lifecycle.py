"""Implement `referee tournament open`, `enter`, `start` and the other commands that run a tournament."""

from typing import Final

import click

from referee.accounts.roles import Role
from referee.bots.states import BotState
from referee.cli.options import Number
from referee.cli.plain_text import replace_control_characters
from referee.cli.service import lookup
from referee.cli.service.api_client import ApiRefusal
from referee.cli.service.remote import (
    Remote,
    RequestRefused,
    error_sentence,
    error_to_json,
    service_command,
    tournament_command,
)
from referee.cli.tournament.live_view import watch_tournament
from referee.match.canonical import Json
from referee.matches.states import VoidState
from referee.tournaments.states import IN_PROGRESS, TournamentState

NEEDS_ACCEPTANCE: Final = "needs_acceptance"  # code of the refusal to enter a bot whose owner decides
ASKED: Final = "asked"
# Codes of refusals that may concern a single bot only.
OF_A_BOT: Final = ("forbidden", "conflict", "quota_exceeded", "no_certificate", "validation_failed")


def _act(remote: Remote, tournament_id: str, verb: str, outcome: str, body: Json | None = None) -> None:
    document = remote.api.post(f"/tournaments/{tournament_id}/{verb}", body)
    remote.show(document, f"{document['name']} {outcome}")


def _action(verb: str, outcome: str, help: str) -> click.Command:
    """Return the command that sends ``verb`` to a tournament and reports the ``outcome``."""

    def act(remote: Remote, tournament_id: str) -> None:
        _act(remote, tournament_id, verb, outcome)

    act.__doc__ = help
    return tournament_command(verb)(act)


open_ = _action("open", "is open for entries", "Open a draft for entries.")
pause = _action("pause", "is paused", "Start no further matches.\n\nRunning matches are played to the end.")
resume = _action("resume", "is running again", "Resume a paused tournament.")


@tournament_command(example='"Ada sound" "Carl random" --seed 1')
@click.argument("bots", metavar="[BOT...]", nargs=-1)
@click.option("--all", "enters_all", is_flag=True, help="Enter all verified bots of the game, or ask their owners.")
@click.option(
    "--seed",
    type=Number(1),
    help="Seed of the first bot, where 1 is the strongest. The following bots get the following seeds.",
)
@click.option("--code", metavar="CODE", help="Join code of the tournament, if it needs one.")
def enter(
    remote: Remote,
    tournament_id: str,
    bots: tuple[str, ...],
    enters_all: bool,
    seed: int | None,
    code: str | None,
) -> None:
    """Enter bots, or ask the organiser to enter them if the tournament approves entries.

    These may be your own bots or, if you organise the tournament, bots of others. Owners decide whether organisers may
    enter their bots: those who want to be asked get an invitation, and the bot is entered when they accept. If bots are
    refused, they are reported, the others are entered, and the exit status is 1. --all leaves out bots that
    are entered already; in a tournament that you organise and that is open for entries, it skips bots that cannot be
    entered, for example because their owner refuses or was asked before, says why, and the exit status is 0.
    """
    names = _choose_bots(remote, tournament_id, bots, enters_all)
    more: dict[str, Json] = {bot: {} if code is None else {"code": code} for bot in names}
    if seed is not None:
        for index, bot in enumerate(names):
            more[bot]["seed"] = seed + index
    tournament = remote.api.get(f"/tournaments/{tournament_id}")
    runs = _runs(remote, tournament)
    if tournament["approval"] and not runs:
        _apply_to_bots(remote, tournament_id, "requests", names, more, "requested")
    else:
        skips = enters_all and runs and _is_open_for_entries(tournament)
        _apply_to_bots(remote, tournament_id, "enter", names, more, "entered", skips=skips)


@tournament_command(example='"Carl random"')
@click.argument("bots", metavar="BOT...", nargs=-1, required=True)
def withdraw(remote: Remote, tournament_id: str, bots: tuple[str, ...]) -> None:
    """Withdraw bots.

    Matches that have started are played to the end; the remaining ones do not count.
    """
    _apply_to_bots(remote, tournament_id, "withdraw", {bot: bot for bot in bots}, {}, "withdrawn")


@tournament_command(example='"Carl random" --reason "It was entered under two names."')
@click.argument("bot")
@click.option("--reason", metavar="TEXT", required=True, help="Reason that everyone can read.")
def disqualify(remote: Remote, tournament_id: str, bot: str, reason: str) -> None:
    """Disqualify a bot.

    Unlike a withdrawn bot, it is ranked after all others and cannot enter again. Results of matches that are over stay.
    """
    body = {"bot": lookup.bot_id(remote.api, bot), "reason": reason}
    remote.show(remote.api.post(f"/tournaments/{tournament_id}/disqualify", body), f"{bot}: disqualified")


@service_command()
@click.argument("match", metavar="MATCH")
@click.option("--reason", metavar="TEXT", help="Reason that everyone can read.")
@click.option("--confirm", is_flag=True, help="As an operator, confirm what an organiser proposed.")
def void(remote: Remote, match: str, reason: str | None, confirm: bool) -> None:
    """Void a finished match, so that its result does not count.

    A result that counts stays until an operator without a bot in the match has confirmed it.

    \b
    Examples:
      referee tournament void mat_… --reason "The service had an error."
      referee tournament void mat_… --confirm
    """
    if confirm == (reason is not None):
        raise click.UsageError("Pass --reason TEXT, or --confirm for a match that somebody proposed to void.")
    if confirm:
        proposals = list(remote.api.items(f"/voids?match={match}&state={VoidState.PROPOSED}"))
        if not proposals:
            raise RequestRefused("Nobody has proposed to void this match.")
        document = remote.api.post(f"/voids/{proposals[0]['id']}/confirm")
    else:
        document = remote.api.post(f"/matches/{match}/void", {"reason": reason})
    waits = f"{match} is proposed; an operator confirms it with `referee tournament void {match} --confirm`"
    remote.show(document, waits if document["proposal"] else f"{match} is void")


@tournament_command(example="--watch")
@click.option("--watch", "watches", is_flag=True, help="Show the tournament until it is over.")
def start(remote: Remote, tournament_id: str, watches: bool) -> None:
    """Close entries, call every bot, and start the matches."""
    document = remote.api.post(f"/tournaments/{tournament_id}/start")
    if watches:
        watch_tournament(remote, tournament_id)
    else:
        remote.show(document, f"{document['name']} is running; `referee tournament watch {tournament_id}` shows it")


@tournament_command(example='--reason "The hall is closed."')
@click.option("--reason", metavar="TEXT", help="Reason that is shown with the tournament.")
def cancel(remote: Remote, tournament_id: str, reason: str | None) -> None:
    """End a tournament early.

    Finished matches keep their results.
    """
    _act(remote, tournament_id, "cancel", "is cancelled", {} if reason is None else {"reason": reason})


def _choose_bots(remote: Remote, tournament_id: str, named: tuple[str, ...], enters_all: bool) -> dict[str, str]:
    """Return the named bots or, with ``enters_all``, all verified ones that play the game and are not entered yet.

    The keys are ids or names, the values what is shown for each.
    """
    if bool(named) == enters_all:
        raise click.UsageError("Name one or more bots, or pass --all.")
    if named:
        return {bot: bot for bot in named}
    game = remote.api.get(f"/tournaments/{tournament_id}")["game"]
    entered = {entry["bot"] for entry in remote.api.items(f"/tournaments/{tournament_id}/entries?limit=100")}
    listed = remote.api.items(f"/bots?status={BotState.VERIFIED}&game={game}&limit=100")
    chosen = {bot["id"]: bot["name"] for bot in listed if bot["id"] not in entered}
    if not chosen:
        raise RequestRefused(f"No verified bot that plays {game} is left to enter.")
    return chosen


def _runs(remote: Remote, tournament: Json) -> bool:
    """Return whether the caller runs the tournament."""
    account = remote.api.get("/accounts/me")
    return account["role"] == Role.ADMIN or account["id"] in [item["id"] for item in tournament["organisers"]]


def _is_open_for_entries(tournament: Json) -> bool:
    late = tournament["late_entry"] and tournament["status"] in IN_PROGRESS
    return bool(late or tournament["status"] == TournamentState.OPEN)


def _apply_to_bots(
    remote: Remote,
    tournament_id: str,
    verb: str,
    names: dict[str, str],
    more: dict[str, Json],
    word: str,
    *,
    skips: bool = False,
) -> None:
    """Send a request for each key of ``names``, with the fields that ``more`` has for it; report each outcome by name.

    Raise ``RequestRefused`` at the end if any request was refused. If it ``skips`` bots, only raise refusals that
    concern all of them, immediately.
    """
    outcomes: dict[str, list[Json]] = {word: []}
    refused = []
    for bot, name in names.items():
        try:
            body = {"bot": lookup.bot_id(remote.api, bot), **more.get(bot, {})}
            outcome = _send_or_ask(remote, f"/tournaments/{tournament_id}", verb, body, word)
            outcomes.setdefault(outcome, []).append(body)
            if not remote.as_json:
                click.echo(f"{name}: {outcome}" + (", its owner decides" if outcome == ASKED else ""))
        except (ApiRefusal, lookup.NotFoundByName) as error:
            if skips and isinstance(error, ApiRefusal) and error.code not in OF_A_BOT:
                raise
            refused.append({"bot": name, "error": error_to_json(error)})
            prefix = f"{name}: skipped; " if skips else f"{name}: "
            click.echo(replace_control_characters(prefix + error_sentence(error)), err=True)
    if remote.as_json:
        remote.show({"tournament": tournament_id, **outcomes, "refused": refused}, "")
    if refused and not skips:
        raise RequestRefused(f"{len(refused)} of {len(names)} bots were not {word}.")


def _send_or_ask(remote: Remote, path: str, verb: str, body: Json, word: str) -> str:
    """Send a request, or ask the owner of the bot if they decide. Return what was done: ``word`` or ``ASKED``."""
    try:
        remote.api.post(f"{path}/{verb}", body)
    except ApiRefusal as error:
        if error.code != NEEDS_ACCEPTANCE:
            raise
        remote.api.post(f"{path}/invitations", {"bot": body["bot"]})
        return ASKED
    return word
