"""Implement the commands that void matches and decide about proposals of voids, and `referee tournament waiting`."""

from urllib.parse import urlencode

import click

from referee.cli.tables import TextTable, number
from referee.cli.tournament import lookup
from referee.cli.tournament.remote import Remote, service_command
from referee.labels import rated_label
from referee.match.canonical import Json
from referee.matches.states import VoidState


@service_command()
@click.argument("match", metavar="MATCH")
@click.option("--reason", metavar="TEXT", required=True, help="Reason, shown to everyone with the match.")
@click.option(
    "--rematch/--no-rematch",
    default=None,
    help="Whether to play the match again. By default, in a tournament, if possible.",
)
@click.option(
    "--whole-group", is_flag=True, help="Void all matches that share their cards with it, as duplicate deals require."
)
def void(remote: Remote, match: str, reason: str, rematch: bool | None, whole_group: bool) -> None:
    """Void a finished match, so that it does not count, or propose it.

    MATCH is its id. If its result counts, a void by anybody but the operator is only proposed, and so is one by an
    operator who owns a bot in the match: another operator has to confirm it. The log stays readable and states the
    reason. Ratings are recalculated without the match.

    \b
    Example:
      referee tournament void mat_… --reason "The cable was cut." --rematch
    """
    body = {"reason": reason, "rematch": rematch, "whole_group": whole_group}
    document = remote.api.post(f"/matches/{match}/void", body)
    remote.show(document, "\n".join(_outcome(document)))


@service_command()
@click.argument("chosen", metavar="[TOURNAMENT]", required=False)
@click.option(
    "--state",
    type=click.Choice([state.value for state in VoidState]),
    help="Only those in this state, such as proposed.",
)
def voids(remote: Remote, chosen: str | None, state: str | None) -> None:
    """List voids of ended matches and proposals of voids, newest first.

    \b
    Example:
      referee tournament voids "Spring cup" --state proposed
    """
    wanted = {"state": state, "tournament": chosen and lookup.tournament_id(remote.api, chosen)}
    query = urlencode({name: value for name, value in wanted.items() if value} | {"limit": 100})
    document = remote.api.get(f"/voids?{query}")
    rows = [
        (
            void["id"],
            void["match"],
            void["state"],
            void["proposed_by"] or "-",
            void["decided_by"] or "-",
            void["reason"],
        )
        for void in document["items"]
    ]
    columns = ("id", "match", "state", "proposed by", "decided by", "reason")
    remote.show(document, TextTable(columns, rows, left=columns).plain() if rows else "No match was voided.")


@service_command("confirm-void")
@click.argument("void_id", metavar="VOID")
def confirm_void(remote: Remote, void_id: str) -> None:
    """Confirm the proposal of a void, as an operator who owns no bot in the match.

    VOID is its id, see `referee tournament voids`.

    \b
    Example:
      referee tournament confirm-void vod_…
    """
    document = remote.api.post(f"/voids/{void_id}/confirm")
    remote.show(document, "\n".join(_outcome(document)))


@service_command("decline-void")
@click.argument("void_id", metavar="VOID")
def decline_void(remote: Remote, void_id: str) -> None:
    """Decline the proposal of a void, as an operator who owns no bot in the match.

    \b
    Example:
      referee tournament decline-void vod_…
    """
    document = remote.api.post(f"/voids/{void_id}/decline")
    remote.show(document, document["state"])


@service_command("withdraw-void")
@click.argument("void_id", metavar="VOID")
def withdraw_void(remote: Remote, void_id: str) -> None:
    """Withdraw your own proposal of a void.

    \b
    Example:
      referee tournament withdraw-void vod_…
    """
    document = remote.api.post(f"/voids/{void_id}/withdraw")
    remote.show(document, document["state"])


def _outcome(document: Json) -> list[str]:
    if document["proposal"]:
        command = f"referee tournament confirm-void {document['proposal']['id']}"
        return [f"proposed; an operator without a bot in the match has to confirm it: {command}"]
    labels = (("void", "void"), ("cancelled", "cancelled"), ("rematches", "played again as"))
    return [f"{label}: {', '.join(document[field])}" for field, label in labels if document[field]]


@service_command()
@click.argument("bot", metavar="BOT")
def waiting(remote: Remote, bot: str) -> None:
    """Show why a bot is not playing.

    The bot's owner and organisers also see its position in the queue and the reason for waiting.

    \b
    Example:
      referee tournament waiting "Ada sound"
    """
    document = remote.api.get(f"/bots/{lookup.bot_id(remote.api, bot)}/waiting")
    head = f"{bot}: no open match"
    if document["open"]:
        head = f"{bot}: {document['playing']} of {document['open']} open matches are being played"
    if document["reason"]:
        head += f"; {document['reason']['text']}"
    rows = [
        (match["match"], number(match["position"]), f"{_reason(match)}{_describe_unrated(match)}")
        for match in document["matches"]
    ]
    rows += [(tournament["tournament"], "-", _reason(tournament)) for tournament in document["tournaments"]]
    rows += [(ladder["ladder"], "-", _reason(ladder)) for ladder in document["ladders"]]
    waits_for = "match, tournament or ladder"
    table = TextTable((waits_for, "position", "reason"), rows, left=(waits_for, "reason"))
    text = f"{head}\n{table.plain()}" if rows else head
    remote.show(document, text)


def _describe_unrated(match: Json) -> str:
    return f" ({rated_label({**match, 'rated': False})})" if match["unrated_reason"] else ""


def _reason(waiting: Json) -> str:
    return str(waiting["reason"]["text"]) if waiting["reason"] else "is being played"
