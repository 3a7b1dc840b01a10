"""Report events to extras, and call their functions in transactions of the service."""

from typing import Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from referee import plugs
from referee.db.driver_errors import is_outage
from referee.events import Event
from referee.plugs import Extra


def notify(session: Session, event: Event) -> None:
    """Let each extra do what follows from the event."""
    for extra in plugs.extras():
        for kind, reference in extra.events.items():
            if isinstance(event, kind):
                call_extra(session, extra, type(event).__name__, reference, event)


def call_extra(session: Session, extra: Extra, point: str, reference: str, *details: Any) -> Any:
    """Return what a function of an extra returns for the session and ``details``, or None if it fails.

    A failure is logged and undoes only the work of the extra: it is called in a savepoint. An outage of the database
    fails the whole transaction.
    """
    try:
        with session.begin_nested():
            return plugs.load(reference)(session, *details)
    except Exception as error:
        if isinstance(error, DBAPIError) and is_outage(error):
            raise
        plugs.report_failure(extra, point)
        return None
