"""Implement `referee watch`, which follows a match of a service to its end and shows its result."""

import time
from typing import Final

import click

from referee.cli.plain_text import note
from referee.cli.service.remote import Remote, service_command
from referee.cli.service.stream import retry_until_answered
from referee.cli.tables import TextTable
from referee.labels import rated_label, state_label
from referee.match.canonical import Json
from referee.matches.states import ENDED

POLL_S: Final = 0.5


@service_command()
@click.argument("match", metavar="MATCH")
def watch(remote: Remote, match: str) -> None:
    """Follow a match until it is over, and show its result.

    If the service is unavailable, the command retries. Ctrl-C ends the command with status 130; the match continues.

    \b
    Example:
      referee watch mat_01j8z2k4p6r8t0v2x4y6a8c0e2
    """
    shown = follow_match(remote, match)
    remote.show(shown, result(shown))


def follow_match(remote: Remote, match_id: str) -> Json:
    """Wait for the match to end and return it as the API shows it. Print each status change on standard error."""
    status = ""
    shown: Json = remote.api.get(f"/matches/{match_id}")  # outside the loop, so that a wrong id fails immediately
    while shown["status"] not in ENDED:
        if shown["status"] != status:
            status = shown["status"]
            note(_head(shown))
        time.sleep(POLL_S)
        shown = retry_until_answered(lambda: remote.api.get(f"/matches/{match_id}"), note)
    return shown


def tell_time_limit(match: Json) -> str:
    """Return for how long a friendly may last, as text."""
    return f"while other matches wait for slots, it may last for {match['may_last_s'] // 60} minutes"


def result(match: Json) -> str:
    """Return the result of a finished match as text."""
    if any(seat["placement"] is None for seat in match["seats"]):
        return _head(match)
    order = sorted(match["seats"], key=lambda seat: (seat["placement"], seat["seat"]))
    heads = ("place", "bot", "version", "seat", "returns")
    return TextTable(heads, [_row(seat) for seat in order], left=("bot", "version"), title=_head(match)).plain()


def _row(seat: Json) -> tuple[str, ...]:
    return (
        str(seat["placement"]),
        seat["name"] or "-",
        seat["version"] or "-",
        str(seat["seat"] + 1),
        f"{seat['returns']:+}",
    )


def _head(match: Json) -> str:
    because = f" ({match['reason']})" if match["reason"] else ""
    return f"{match['id']}: {match['game']}, {rated_label(match)}, {state_label(match['status'])}{because}"
