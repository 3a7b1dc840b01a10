"""Extend matches with seats and deal groups, and voids with names, as endpoints and pages show them to the caller.

Data that the caller may not see is removed here; schemas decide the format of the rest.
"""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy.orm import Session

from api.auth import may_organise
from api.extended import Extended
from api.matches.schemas import MatchView
from api.views import current_session, master_key
from referee.accounts import accounts
from referee.ladders import match_ratings, ratings
from referee.matches import matches
from referee.matches.deals import deal_groups
from referee.matches.queue import friendly_time
from referee.matches.states import DealGroupState
from referee.matches.tables import DealGroup, MatchVoid, StoredMatch
from referee.workflows.explaining import unrated
from referee.workflows.publishing import visibility
from referee.workflows.voids.voiding import VoidReport

Json = dict[str, Any]

HIDDEN_SEAT: Json = dict.fromkeys(("bot_id", "bot_name", "version", "entrant", "rated", "rating"))


def visible_matches(found: Sequence[StoredMatch]) -> list[Extended]:
    """Return these matches with their seats. Hide bots that the caller may not see yet."""
    named = {match.id for match in found} if may_organise() else visibility.filter_known_seats(current_session(), found)
    return attach_seats(current_session(), found, named)


def attach_seats(session: Session, found: Sequence[StoredMatch], named: Collection[str]) -> list[Extended]:
    """Return these matches with their seats. Show the bots in the seats only for matches in ``named``."""
    seats = matches.seats_of(session, [match.id for match in found])
    reasons = unrated.unrated_reasons(session, found)
    ladders = ratings.find_ladders_of(session, found)
    rated = match_ratings.load_match_ratings(session, [match.id for match in found if match.id in named])
    return [
        Extended(
            match,
            seats=[
                Extended(seat, rating=rated[match.id][seat.seat] if match.id in rated else None)
                if match.id in named
                else Extended(seat, **HIDDEN_SEAT)
                for seat in seats[match.id]
            ],
            unrated_reason=reasons.get(match.id),
            rated_on=ladders.get(match.id),
        )
        for match in found
    ]


def attach_group(match: StoredMatch) -> Extended:
    """Return a match with its seats, as the caller may see them, and its deal group, revealed once it is over."""
    (visible,) = visible_matches([match])
    group = deal_groups.get_group(current_session(), match.group_id)
    longest_s = friendly_time.longest_s(match.game, match.seats, match.budget_ms) if match.is_friendly else None
    return Extended(visible, group=extend_group(group), may_last_s=longest_s)


def extend_group(group: DealGroup) -> Extended:
    """Return a deal group with its earlier openings and, once it is revealed, its seed and nonces."""
    is_revealed = group.state == DealGroupState.REVEALED
    reveal = deal_groups.load_reveal(current_session(), group, master_key()) if is_revealed else None
    return Extended(extend_openings(group), reveal=reveal and {**reveal.to_json(), "accepted": reveal.accepted})


def extend_openings(group: DealGroup) -> Extended:
    """Return a deal group with its earlier openings.

    The bots that ended them are named when the group is revealed, as its entries are.
    """
    is_revealed = group.state == DealGroupState.REVEALED
    ended = deal_groups.load_ended_openings(current_session(), group.id, master_key()) if group.left_out else []
    openings = [
        {
            "id": opening.id,
            "commitment": opening.commitment,
            "seed": opening.seed.hex(),
            "failures": [
                {"bot": bot_id if is_revealed else None, "code": code} for bot_id, code in opening.failures.items()
            ],
        }
        for opening in ended
    ]
    return Extended(group, openings=openings)


def match_views(found: Sequence[StoredMatch]) -> list[Json]:
    """Return these matches as the API shows them to the caller."""
    return list(MatchView(many=True).dump(visible_matches(found)))


def present_voids(rows: Sequence[MatchVoid]) -> list[Extended]:
    """Return voids with the names of the accounts that proposed and decided them."""
    ids = {account_id for row in rows for account_id in (row.proposed_by, row.decided_by) if account_id is not None}
    names = accounts.names_of(current_session(), ids) if ids else {}
    return [
        Extended(row, proposed_by=names.get(row.proposed_by or ""), decided_by=names.get(row.decided_by or ""))
        for row in rows
    ]


def present_report(report: VoidReport, proposal: MatchVoid | None = None) -> Extended:
    """Return what was voided, with the proposal that still has to be confirmed, if any."""
    return Extended(report, proposal=None if proposal is None else present_voids([proposal])[0])
