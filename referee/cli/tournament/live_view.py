"""Implement `referee tournament watch`, which shows a tournament until it is over, even across service restarts."""

import json
from collections.abc import Sequence

import click
from rich.console import Console

from referee.cli.live_view import LiveView
from referee.cli.plain_text import replace_control_characters
from referee.cli.service import formatting
from referee.cli.service.remote import Remote, tournament_command
from referee.cli.service.stream import StreamMessage, fetch_snapshot, follow_tournament, retry_until_answered
from referee.cli.tables import standings
from referee.match.canonical import Json

STEPS = 10  # lines of progress per round if the output is not a terminal


@tournament_command()
def watch(remote: Remote, tournament_id: str) -> None:
    """Show a tournament until it is over.

    A terminal shows the standings, a progress bar and the estimated end; other outputs show lines of text. --json
    prints a line of JSON for each message: match, progress, standings, end. If the service is unavailable, the command
    retries. Ctrl-C ends the command with status 130; the tournament continues.
    """
    watch_tournament(remote, tournament_id)


def watch_tournament(remote: Remote, tournament_id: str) -> None:
    """Show a tournament until it is over. Raise an error if the first request fails, but retry all later ones."""
    tournament = remote.api.get(f"/tournaments/{tournament_id}")
    with LiveView(Console(quiet=remote.as_json), STEPS) as view:
        shown = LiveTournament(tournament, view)
        for message in follow_tournament(remote.api, tournament_id, shown.note):
            shown.trouble = ""
            if remote.as_json:
                click.echo(json.dumps({"event": message.name, "id": message.id, "data": message.content}))
            else:
                shown.show(message)
        if remote.as_json:
            return
        tournament, table = retry_until_answered(lambda: fetch_snapshot(remote.api, tournament_id), shown.note)
    reason = f" ({tournament['status_reason']})" if tournament["status_reason"] else ""
    head = f"{formatting.title(tournament)}: {tournament['status']}{reason}, {tournament['progress']['done']} matches"
    rows = table["items"]
    click.echo(replace_control_characters(f"\n{standings(tournament, head, rows).plain() if rows else head}"))


class LiveTournament:
    """Track the state of a tournament from its messages, and show the state and any ``trouble`` in a live view."""

    def __init__(self, tournament: Json, view: LiveView) -> None:
        self.trouble = ""
        self._tournament = tournament
        self._rows: Sequence[Json] = []
        self._view = view

    def show(self, message: StreamMessage) -> None:
        """Update the state from a message of the stream, and show it."""
        match message.name:
            case "progress":
                progress = dict(message.content)
                status = {"status": progress.pop("status"), "status_reason": progress.pop("reason")}
                self._tournament = self._tournament | status | {"progress": progress}
            case "standings":
                self._rows = message.content["items"]
        self._update()

    def note(self, trouble: str) -> None:
        """Show ``trouble``, the reason for a delay, unless it is already shown."""
        if trouble != self.trouble:
            self.trouble = trouble
            self._view.complain(trouble)
            self._update()

    def _update(self) -> None:
        so_far = self._tournament["progress"]
        self._view.show(
            standings(self._tournament, formatting.title(self._tournament), self._rows),
            formatting.progress(self._tournament),
            so_far["done"],
            so_far["total"],
            phase=(self._tournament["status"], so_far["tournament_round"]),
            trouble=self.trouble,
        )
