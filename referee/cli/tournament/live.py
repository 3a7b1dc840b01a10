"""How an event is shown while it goes on: a moving table in a terminal, lines in a pipe, JSON for programs."""

import json
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

import click
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from referee.canonical import Json
from referee.cli.tournament import words

STEPS = 10  # lines of a stage in a pipe, besides those that tell of something new
REST_LINES = 8  # of the screen, for title, heads, frame and bar


class Display(Protocol):
    """Something that shows an event; used as a context."""

    def __enter__(self) -> "Display": ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...

    def show(self, event: Json, rows: Sequence[Json]) -> None:
        """The state of play; told as often as one likes."""

    def note(self, trouble: str) -> None:
        """Why nothing moves at the moment."""


def display(*, as_json: bool) -> Display:
    console = Console()
    if as_json:
        return JsonLines()
    return Screen(console) if console.is_terminal else Lines()


class JsonLines:
    """A line of JSON for each change: ``{"event": "progress" or "standings", "data": …}``."""

    def __init__(self) -> None:
        self._said: dict[str, Json] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Nothing is left to say."""

    def show(self, event: Json, rows: Sequence[Json]) -> None:
        self._say("standings", {"id": event["id"], "items": list(rows)})
        state = {name: event[name] for name in ("id", "name", "status", "status_reason", "progress", "entries")}
        self._say("progress", state)

    def note(self, trouble: str) -> None:
        click.echo(trouble, err=True)

    def _say(self, name: str, content: Json) -> None:
        if self._said.get(name) != content:
            self._said[name] = content
            click.echo(json.dumps({"event": name, "data": content}))


class Lines:
    """A line when the state or the stage changes and for each tenth of the matches; the table at the end."""

    def __init__(self) -> None:
        self._told: tuple[object, ...] = ()
        self._in_trouble = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Nothing is left to say."""

    def show(self, event: Json, rows: Sequence[Json]) -> None:
        self._in_trouble = False
        so_far = event["progress"]
        telling = (event["status"], so_far["stage"], so_far["done"] * STEPS // max(1, so_far["total"]))
        if telling != self._told:
            self._told = telling
            click.echo(words.progress(event))
        if event["status"] in words.OVER:
            click.echo(f"\n{closing(event, rows)}")

    def note(self, trouble: str) -> None:
        if not self._in_trouble:
            click.echo(f"{trouble}; waiting for it", err=True)
        self._in_trouble = True


class Screen:
    """The table under its title, the bar below; at the end the whole table stays."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, refresh_per_second=8, transient=True)
        self._bar = Progress(
            BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn(), TextColumn("{task.description}")
        )
        self._task = self._bar.add_task("", total=None)
        self._shown: tuple[Json, Sequence[Json]] | None = None

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._live.stop()
        if kind is None and self._shown is not None:
            self._console.print(closing(*self._shown), highlight=False, markup=False)

    def show(self, event: Json, rows: Sequence[Json], trouble: str = "") -> None:
        self._shown = event, rows
        so_far = event["progress"]
        endless = event["format"] == "ladder" or not so_far["total"]
        total = None if endless else so_far["total"]
        self._bar.update(self._task, total=total, completed=so_far["done"], description=words.progress(event))
        room = max(1, self._console.size.height - REST_LINES)
        table = words.standings(words.title(event), rows[:room])
        self._live.update(Group(table.rich(), self._bar, Text(trouble, style="yellow")))

    def note(self, trouble: str) -> None:
        if self._shown is not None:
            self.show(*self._shown, f"{trouble}; waiting for it")


def closing(event: Json, rows: Sequence[Json]) -> str:
    """What stays when it is over."""
    reason = f" ({event['status_reason']})" if event.get("status_reason") else ""
    head = f"{words.title(event)}: {event['status']}{reason}, {event['progress']['done']} matches"
    return words.standings(head, rows).plain() if rows else head
