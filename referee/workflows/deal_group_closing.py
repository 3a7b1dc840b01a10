"""Close a deal group after its last match: reveal the seed in its logs and count its results on ladders."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from referee.db.prepared import Prepared
from referee.errors import NotFound
from referee.ladders import ledger
from referee.ladders.rating_replay import RatedSeats, RatingMove
from referee.match.log import reveal_line
from referee.match.reveal import Reveal
from referee.matches import deal_groups, logs
from referee.matches.states import ENDED, DealGroupState, MatchState
from referee.matches.tables import DealGroup, Result, StoredMatch


class _Group(NamedTuple):
    id: str
    state: DealGroupState
    seed_sealed: bytes
    commitment: str
    entries: list[str]
    nonces: list[str] | None
    nonce_hashes: list[str] | None
    accepted: list[bool | None] | None
    opening_number: int


class ClosedGroup(NamedTuple):
    """Hold what a closed group reveals, and the rating changes by its matches, keyed by match id."""

    reveal: Reveal
    moves: dict[str, list[RatingMove]]


class _Match(NamedTuple):
    """Hold a match of the group and the fields of its result, which are None if it has no result."""

    id: str
    status: MatchState
    seq: Any
    ladder_id: Any
    bots: Any
    placements: Any
    rated: Any
    owners: Any
    versions: Any
    anchors: Any


def close_if_over(
    session: Session,
    group_id: str,
    *,
    master_key: bytes,
    last_lines: Mapping[str, tuple[int, bytes]] | None = None,
) -> ClosedGroup | None:
    """Close the group if all of its matches have ended. Return what it reveals if this call closed it, otherwise None.

    Append the reveal of the seed to every log, then enter the results into the ledger in order, which changes the
    ratings. ``last_lines`` has the number and the bytes of the last row of each log that was compressed just now, keyed
    by match id. Raise ``NotFound`` if there is no such group.
    """
    session.flush()
    ledger.lock_ledger(session)
    found = _GROUP.rows(session, {"of": group_id})
    if not found:
        raise NotFound("group", group_id)
    group = _Group(*found[0])
    matches = [_Match(*row) for row in _MATCHES_OF.rows(session, {"of": group_id})]
    if group.state == DealGroupState.REVEALED or any(match.status not in ENDED for match in matches):
        return None
    reveal = deal_groups.load_reveal(session, group, master_key)
    revealed = reveal.to_json()
    known_last_lines = last_lines or {}
    for match_id in (match.id for match in matches):
        last = known_last_lines.get(match_id) or logs.last_line(session, match_id)
        if last is not None:
            logs.append_reveal(session, match_id, reveal_line(last[0] + 1, last[1], revealed))
    _CLOSE.execute(session, {"of": group_id})
    moves = ledger.enter_results(session, _load_counting_results(matches))
    return ClosedGroup(reveal, moves)


def _load_counting_results(matches: Sequence[_Match]) -> list[ledger.RatedResult]:
    """Return the results of finished matches that count on a ladder, in order of ``seq``."""
    rated = [match for match in matches if match.status == MatchState.FINISHED and match.ladder_id is not None]
    return [
        ledger.RatedResult(match.ladder_id, match.id, RatedSeats(*match[4:]))
        for match in sorted(rated, key=lambda match: int(match.seq))
    ]


_GROUPS, _MATCHES, _RESULTS = (model.__table__ for model in (DealGroup, StoredMatch, Result))
_GROUP: Final = Prepared(
    select(*(_GROUPS.c[name] for name in _Group._fields)).where(_GROUPS.c.id == bindparam("of")).with_for_update()
)
_MATCHES_OF: Final = Prepared(
    select(
        *(_MATCHES.c[name] for name in ("id", "status")),
        *(_RESULTS.c[name] for name in _Match._fields[2:]),
    )
    .select_from(_MATCHES.outerjoin(_RESULTS, _RESULTS.c.match_id == _MATCHES.c.id))
    .where(_MATCHES.c.group_id == bindparam("of"))
    .order_by(_MATCHES.c.id)
)
_CLOSE: Final = Prepared(update(_GROUPS).where(_GROUPS.c.id == bindparam("of")).values(state=DealGroupState.REVEALED))
