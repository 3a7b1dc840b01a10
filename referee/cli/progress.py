"""Show a progress bar on standard error if it is a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

UpdateBar = Callable[[int, int, str], None]  # completed steps, total steps, description of the current step


@contextmanager
def progress_bar(title: str, *, time: ProgressColumn | None = None, hidden: bool = False) -> Iterator[UpdateBar]:
    """Show a bar while the block runs, and yield a function that updates it.

    ``time`` replaces the column with the remaining time.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        time or TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=hidden or not console.is_terminal) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total, what: progress.update(task, completed=done, total=total, description=what)
