"""Ask what runners have to do for extras, in transactions of the service."""

from collections.abc import Iterator

from sqlalchemy.orm import Session

from referee import plugs
from referee.db.reporting import call_extra
from referee.plugs import Extra, RunnerWork


def list_work() -> Iterator[tuple[Extra, RunnerWork]]:
    """Yield each extra with work for runners, and a description of the work."""
    for extra in plugs.extras():
        if extra.runner_work is not None:
            yield extra, plugs.load(extra.runner_work)


def has_due(session: Session) -> bool:
    """Return whether an extra has anything to do for a runner."""
    return any(_ask(session, extra, "has_due") for extra, _ in list_work())


def list_unclaimed(session: Session) -> list[str]:
    """Return the names of the work of which something is due and nothing under way."""
    return [work.name for extra, work in list_work() if _ask(session, extra, "is_unclaimed")]


def _ask(session: Session, extra: Extra, question: str) -> bool:
    return bool(call_extra(session, extra, question, f"{extra.runner_work}.{question}"))
