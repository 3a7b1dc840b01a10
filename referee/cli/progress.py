"""Show progress on standard error: a bar on a terminal, elsewhere lines, for commands that ask for them."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

from referee.cli.plain_text import replace_control_characters

UpdateBar = Callable[[int, int | None, str], None]  # completed steps, all steps, description of the current step
LINE_EVERY_S = 5.0


@contextmanager
def progress_bar(
    title: str,
    *,
    time_column: ProgressColumn | None = None,
    hidden: bool = False,
    lines: bool = False,
    now: Callable[[], float] = time.monotonic,
) -> Iterator[UpdateBar]:
    """Show a bar while the block runs, and yield a function that updates it.

    ``time_column`` replaces the column with the remaining time. If standard error is not a terminal, print a line every
    ``LINE_EVERY_S`` seconds with ``lines``, otherwise nothing.
    """
    console = Console(stderr=True)
    if lines and not hidden and not console.is_terminal:
        yield _print_lines(title, now)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        time_column or TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=hidden or not console.is_terminal) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total, what: progress.update(task, completed=done, total=total, description=what)


def _print_lines(title: str, now: Callable[[], float]) -> UpdateBar:
    due_s = now() + LINE_EVERY_S

    def update(done: int, total: int | None, what: str) -> None:
        nonlocal due_s
        if now() >= due_s:
            due_s = now() + LINE_EVERY_S
            click.echo(replace_control_characters(f"{title}: {done} of {total} {what}"), err=True)

    return update
