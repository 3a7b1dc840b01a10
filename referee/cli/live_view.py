"""Show the progress of matches as a live table with a progress bar on a terminal, and as lines of text elsewhere."""

from types import TracebackType
from typing import Self

import click
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from referee.cli.tables import TextTable

OTHER_LINES = 8  # lines of the terminal for the title, headings, frame, progress bar and trouble


class LiveView:
    """Show a table and the number of finished matches during a ``with`` block, and restore the terminal at its end."""

    def __init__(self, console: Console, steps: int) -> None:
        """Create a view that prints a line after each 1/``steps`` of the matches if the console is not a terminal."""
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
        self, table: TextTable, progress: str, done: int, total: int, *, phase: object = None, trouble: str = ""
    ) -> None:
        """Show the table and the text ``progress``. Without a terminal, print only the text, and only when a step is
        completed or ``phase`` changes."""
        if self._live:
            self._bar.update(self._task, completed=done, total=total or None, description=progress)
            rows = max(1, self._console.size.height - OTHER_LINES)
            self._live.update(
                Group(
                    table.render_styled(rows, width=self._console.width),
                    self._bar,
                    Text(_waiting(trouble), style="yellow"),
                )
            )
            return
        step = (phase, done * self._steps // max(1, total))
        if step != self._printed:
            self._printed = step
            self._console.print(progress, highlight=False, markup=False, soft_wrap=True)

    def complain(self, trouble: str) -> None:
        """Print ``trouble``, the reason for a delay, unless the live table shows it."""
        if not self._live:
            click.echo(_waiting(trouble), err=True)


def _waiting(trouble: str) -> str:
    return f"{trouble}; retrying" if trouble else ""
