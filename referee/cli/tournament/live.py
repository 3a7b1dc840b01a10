"""How an event is shown while it goes on: a moving table in a terminal, lines in a pipe, JSON for programs."""

import json
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import click
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from referee.cli.plain_text import plain
from referee.cli.tournament import formatting
from referee.cli.tournament.stream import Event
from referee.match.canonical import Json

STEPS = 10  # lines of a stage in a pipe
REST_LINES = 8  # of the screen: title, heads, frame, bar, trouble


class Display:
    """Knows how an event stands from its messages. Used as a context; showing it is for the kinds below."""

    def __init__(self, event: Json) -> None:
        self.event = event
        self.rows: Sequence[Json] = []
        self.trouble = ""

    def tell(self, message: Event) -> None:
        """The next thing that happened."""
        self.trouble = ""
        match message.name:
            case "progress":
                said = dict(message.content)
                self.event = self.event | {"status": said.pop("status"), "status_reason": said.pop("reason")}
                self.event["progress"] = said
            case "standings":
                self.rows = message.content["items"]
        self.show()

    def note(self, trouble: str) -> None:
        """Why nothing moves at the moment."""
        if trouble != self.trouble:
            self.trouble = trouble
            self.complain()

    def show(self) -> None:
        """The state of play; called as often as something happens."""

    def complain(self) -> None:
        """The trouble."""
        click.echo(f"{self.trouble}; waiting for it", err=True)

    def close(self, event: Json, rows: Sequence[Json]) -> None:
        """How it ended; nothing is told after it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Leaves the terminal as it was."""


def display(event: Json, *, as_json: bool) -> Display:
    console = Console()
    if as_json:
        return JsonLines(event)
    return Screen(event, console) if console.is_terminal else Lines(event)


class JsonLines(Display):
    """A line of JSON for each message."""

    def tell(self, message: Event) -> None:
        self.trouble = ""
        click.echo(json.dumps({"event": message.name, "id": message.id, "data": message.content}))


class Lines(Display):
    """A line when the state or the stage changes and for each tenth of the matches; the table at the end."""

    _told: tuple[object, ...] = ()

    def show(self) -> None:
        so_far = self.event["progress"]
        telling = (self.event["status"], so_far["stage"], so_far["done"] * STEPS // max(1, so_far["total"]))
        if telling != self._told:
            self._told = telling
            click.echo(formatting.progress(self.event))

    def close(self, event: Json, rows: Sequence[Json]) -> None:
        click.echo(f"\n{closing(event, rows)}")


class Screen(Display):
    """The table under its title, the bar below; at the end the table stays."""

    def __init__(self, event: Json, console: Console) -> None:
        super().__init__(event)
        self._console = console
        self._live = Live(console=console, refresh_per_second=8, transient=True)
        self._bar = Progress(
            BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn(), TextColumn("{task.description}")
        )
        self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._live.stop()

    def show(self) -> None:
        so_far = self.event["progress"]
        endless = self.event["format"] == "ladder" or not so_far["total"]
        total = None if endless else so_far["total"]
        self._bar.update(self._task, total=total, completed=so_far["done"], description=formatting.progress(self.event))
        room = max(1, self._console.size.height - REST_LINES)
        table = formatting.standings(formatting.title(self.event), self.rows[:room])
        self._live.update(
            Group(
                table.rich(), self._bar, Text(f"{self.trouble}; waiting for it" if self.trouble else "", style="yellow")
            )
        )

    def complain(self) -> None:
        self.show()

    def close(self, event: Json, rows: Sequence[Json]) -> None:
        self._live.stop()
        self._console.print(closing(event, rows), highlight=False, markup=False)


def closing(event: Json, rows: Sequence[Json]) -> str:
    """What stays when it is over."""
    reason = f" ({event['status_reason']})" if event["status_reason"] else ""
    head = f"{formatting.title(event)}: {event['status']}{reason}, {event['progress']['done']} matches"
    return plain(formatting.standings(head, rows, bars=True).plain() if rows else head)
