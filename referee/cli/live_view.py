"""What the demo shows while it plays: a live table under a progress bar, or plain lines where nothing can move."""

from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from referee.cli.tables import Standings

PLAIN_STEPS = 5  # lines a tournament where the output is no terminal


class Screen:
    """Shows one tournament from its first match to its last."""

    def __init__(self, console: Console, title: str, total: int) -> None:
        self._console = console
        self._title = title
        self._total = total
        self._said = 0
        self._live = Live(console=console, refresh_per_second=8, transient=True) if console.is_terminal else None
        self._progress = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console
        )
        self._task = self._progress.add_task(title, total=total)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live:
            self._live.stop()

    def show(self, done: int, standings: Standings) -> None:
        """The state of play now."""
        self._progress.update(self._task, completed=done)
        if self._live:
            self._live.update(Group(standings.rich(), self._progress))
        elif done * PLAIN_STEPS // max(1, self._total) > self._said:
            self._said = done * PLAIN_STEPS // max(1, self._total)
            self._console.print(f"{self._title}: {done} of {self._total} matches", highlight=False)
