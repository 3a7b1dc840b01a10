"""Export what series store about an account, and hand its series over when it is deleted."""

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.events import AccountDeleted
from referee.workflows.erasing.account_export import of_account
from referee_extras.series import operations
from referee_extras.series.tables import Series, SeriesOrganiser

EXPORTED: Final = {
    "series": (Series, of_account(Series.created_by)),
    "series_organisers": (SeriesOrganiser, of_account(SeriesOrganiser.account_id)),
}


def hand_over_series(session: Session, deleted: AccountDeleted) -> None:
    """Give the series of a deleted account to their first co-organiser, and leave those of others.

    Of the others, delete those without a finished tournament; the rest is part of the archive.
    """
    run = select(Series).where(Series.created_by == deleted.account).order_by(Series.id).with_for_update()
    for managed in session.scalars(run).all():
        is_left = not operations.CO_ORGANISERS.hand_over(session, managed)
        if is_left and not operations.has_finished(session, managed.id):
            operations.delete_series(session, managed.id)
    operations.CO_ORGANISERS.leave_all(session, deleted.account)
