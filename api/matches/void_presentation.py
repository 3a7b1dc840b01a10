"""Prepare voids for the API and the pages."""

from collections.abc import Sequence

from api.extended import Extended
from api.views import current_session
from referee.accounts import accounts
from referee.matches.tables import MatchVoid
from referee.workflows.voids.voiding import VoidReport


def present_voids(rows: Sequence[MatchVoid]) -> list[Extended]:
    """Return voids with the names of the accounts that proposed and decided them."""
    ids = {account_id for row in rows for account_id in (row.proposed_by, row.decided_by) if account_id is not None}
    names = accounts.names_of(current_session(), ids) if ids else {}
    return [
        Extended(
            row,
            proposed_by=None if row.proposed_by is None else names[row.proposed_by],
            decided_by=None if row.decided_by is None else names[row.decided_by],
        )
        for row in rows
    ]


def present_report(report: VoidReport, proposal: MatchVoid | None = None) -> Extended:
    """Return what was voided, with the proposal that still has to be confirmed, if any."""
    return Extended(report, proposal=None if proposal is None else present_voids([proposal])[0])
