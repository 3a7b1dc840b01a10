"""Show a tournament while it is played: a live view for people, JSON lines for programs."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click
from rich.console import Console

from referee.cli.live_view import LiveView
from referee.cli.plain_text import replace_control_characters
from referee.cli.tables import standings
from referee.cli.tournament import formatting
from referee.cli.tournament.stream import StreamMessage
from referee.match.canonical import Json

STEPS = 10  # lines of progress per round if the output is not a terminal


class Display:
    """Base of what shows the messages of a tournament."""

    trouble = ""

    def show(self, message: StreamMessage) -> None:
        """Show a message of the stream."""

    def note(self, trouble: str) -> None:
        """Show why nothing happens at the moment, unless it was shown already."""
        if trouble != self.trouble:
            self.trouble = trouble
            self.complain()

    def complain(self) -> None:
        """Show the trouble."""

    def close(self, tournament: Json, rows: Sequence[Json]) -> None:
        """Show how the tournament ended."""


class JsonLines(Display):
    """Print a line of JSON for each message."""

    def show(self, message: StreamMessage) -> None:
        self.trouble = ""
        click.echo(json.dumps({"event": message.name, "id": message.id, "data": message.content}))

    def complain(self) -> None:
        click.echo(f"{self.trouble}; waiting for it", err=True)


class LiveTournament(Display):
    """Keep the state of a tournament from its messages and show it in a live view."""

    def __init__(self, tournament: Json, view: LiveView) -> None:
        self._tournament = tournament
        self._rows: Sequence[Json] = []
        self._view = view

    def show(self, message: StreamMessage) -> None:
        self.trouble = ""
        match message.name:
            case "progress":
                progress = dict(message.content)
                self._tournament = self._tournament | {
                    "status": progress.pop("status"),
                    "status_reason": progress.pop("reason"),
                }
                self._tournament["progress"] = progress
            case "standings":
                self._rows = message.content["items"]
        self._update()

    def complain(self) -> None:
        self._view.complain(self.trouble)
        self._update()

    def close(self, tournament: Json, rows: Sequence[Json]) -> None:
        self._view.stop()
        reason = f" ({tournament['status_reason']})" if tournament["status_reason"] else ""
        head = (
            f"{formatting.title(tournament)}: {tournament['status']}{reason}, {tournament['progress']['done']} matches"
        )
        click.echo(replace_control_characters(f"\n{standings(head, rows, error_bars=True).plain() if rows else head}"))

    def _update(self) -> None:
        so_far = self._tournament["progress"]
        self._view.show(
            standings(formatting.title(self._tournament), self._rows),
            formatting.progress(self._tournament),
            so_far["done"],
            so_far["total"],
            is_endless=self._tournament["format"] == "ladder",
            phase=(self._tournament["status"], so_far["stage"]),
            trouble=self.trouble,
        )


@contextmanager
def display(tournament: Json, *, as_json: bool) -> Iterator[Display]:
    """Show a tournament while the block runs."""
    if as_json:
        yield JsonLines()
    else:
        with LiveView(Console(), STEPS) as view:
            yield LiveTournament(tournament, view)
