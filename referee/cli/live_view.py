"""Show the progress of matches: a live table and a progress bar on a terminal, else lines of text."""

from types import TracebackType
from typing import Self

import click
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from referee.cli.tables import TextTable

OTHER_LINES = 8  # of the terminal: title, heads, frame, bar, trouble


class LiveView:
    """Show a table and the number of finished matches from ``__enter__`` on, and restore the terminal at the end."""

    def __init__(self, console: Console, steps: int) -> None:
        """Print ``steps`` lines between the first match and the last if the console is not a terminal."""
        self._console = console
        self._steps = steps
        self._printed: tuple[object, int] = (None, 0)
        is_live = console.is_terminal and not console.quiet
        self._live = Live(console=console, refresh_per_second=8, transient=True) if is_live else None
        self._bar = Progress(
            *(BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn()),
            TextColumn("{task.description}", markup=False),
            console=console,
        )
        self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live:
            self._live.stop()

    def show(
        self,
        table: TextTable,
        progress: str,
        done: int,
        total: int,
        *,
        is_endless: bool = False,
        phase: object = None,
        trouble: str = "",
    ) -> None:
        """Show the table and the sentence ``progress``. Without a terminal, print only the sentence, at each step and
        when ``phase`` changes. If ``is_endless``, ``total`` may still grow."""
        if self._live:
            shown_total = None if is_endless else total or None
            self._bar.update(self._task, completed=done, total=shown_total, description=progress)
            rows = max(1, self._console.size.height - OTHER_LINES)
            self._live.update(Group(table.rich(rows), self._bar, Text(_waiting(trouble), style="yellow")))
            return
        step = (phase, done * self._steps // max(1, total))
        if step != self._printed:
            self._printed = step
            self._console.print(progress, highlight=False, markup=False, soft_wrap=True)

    def complain(self, trouble: str) -> None:
        """Print why nothing happens at the moment, unless the live table shows it."""
        if not self._live:
            click.echo(_waiting(trouble), err=True)


def _waiting(trouble: str) -> str:
    return f"{trouble}; waiting for it" if trouble else ""
