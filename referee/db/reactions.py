"""Let extras take part in transactions of the service."""

from typing import Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from referee import plugs
from referee.db.driver_errors import is_outage
from referee.plugs import Reaction


def react(session: Session, reaction: Reaction, *details: Any) -> None:
    """Call the extras that react, each in a savepoint: the failure of one is logged and undoes only its own work.

    An outage of the database fails the whole transaction.
    """
    for extra in plugs.extras():
        if reaction in extra.reactions:
            try:
                with session.begin_nested():
                    plugs.load(extra.reactions[reaction])(session, *details)
            except Exception as error:
                if isinstance(error, DBAPIError) and is_outage(error):
                    raise
                plugs.report_failure(extra, reaction)
