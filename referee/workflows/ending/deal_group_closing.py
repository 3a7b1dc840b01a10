"""Close a deal group after its last match: reveal the seed in its logs, sign them, and count its results on ladders."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from referee.db.prepared import Prepared
from referee.errors import NotFound
from referee.ladders import ledger
from referee.ladders.rating_replay import RatedSeats
from referee.match.log import digest, reveal_line
from referee.match.reveal import Reveal
from referee.match.signature import ChainHead
from referee.matches.deals import deal_groups
from referee.matches.deals.deal_groups import GroupToReveal
from referee.matches.logs import logs
from referee.matches.logs.chain import ChainWriter
from referee.matches.states import ENDED, DealGroupState, MatchState
from referee.matches.tables import DealGroup, Result, StoredMatch


class ClosedGroup(NamedTuple):
    """Hold what a closed group reveals, and the chain's head, which is None if none of its matches has a log."""

    reveal: Reveal
    head: ChainHead | None


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
    chain: ChainWriter | None = None,
) -> ClosedGroup | None:
    """Close the group if all of its matches have ended. Return what it reveals if this call closed it, otherwise None.

    Append the reveal of the seed to every log, sign the logs in the order of their results, then enter the results into
    the ledger in this order, which changes the ratings. ``last_lines`` has the number and the bytes of the last row of
    each log that was compressed just now, keyed by match id. Pass one ``chain`` to all calls in a transaction, so that
    its head is read once. Raise ``NotFound`` if there is no such group.
    """
    session.flush()
    ledger.lock_ledger(session)
    found = _GROUP.rows(session, {"of": group_id})
    if not found:
        raise NotFound("group", group_id)
    group = GroupToReveal(*found[0])
    matches = [_Match(*row) for row in _MATCHES_OF.rows(session, {"of": group_id})]
    if group.state == DealGroupState.REVEALED or any(match.status not in ENDED for match in matches):
        return None
    reveal = deal_groups.load_reveal(session, group, master_key)
    digests = _reveal_in_logs(session, matches, reveal, last_lines or {})
    head = (chain or ChainWriter(session, master_key)).sign(digests)
    _CLOSE.execute(session, {"of": group_id})
    ledger.enter_results(session, _load_counting_results(matches))
    return ClosedGroup(reveal, head)


def _reveal_in_logs(
    session: Session, matches: Sequence[_Match], reveal: Reveal, last_lines: Mapping[str, tuple[int, bytes]]
) -> list[tuple[str, str]]:
    """Append the reveal to every log. Return the match ids and the digests of the last rows, in order of results.

    Matches without a result follow, in order of their ids.
    """
    revealed = reveal.to_json()
    digests = []
    for match in sorted(matches, key=lambda match: (match.seq is None, match.seq or 0)):
        last = last_lines.get(match.id) or logs.last_line(session, match.id)
        if last is not None:
            line = reveal_line(last[0] + 1, last[1], revealed)
            logs.append_reveal(session, match.id, line)
            digests.append((match.id, digest(line)))
    return digests


def _load_counting_results(matches: Sequence[_Match]) -> list[ledger.RatedResult]:
    """Return the results of finished matches that count on a ladder, in order of ``seq``."""
    rated = [match for match in matches if match.status == MatchState.FINISHED and match.ladder_id is not None]
    return [
        ledger.RatedResult(match.ladder_id, match.id, RatedSeats(*match[4:]))
        for match in sorted(rated, key=lambda match: int(match.seq))
    ]


_GROUPS, _MATCHES, _RESULTS = (model.__table__ for model in (DealGroup, StoredMatch, Result))
_GROUP: Final = Prepared(
    select(*(_GROUPS.c[name] for name in GroupToReveal._fields))
    .where(_GROUPS.c.id == bindparam("of"))
    .with_for_update()
)
_MATCHES_OF: Final = Prepared(
    select(*(_MATCHES.c[name] for name in ("id", "status")), *(_RESULTS.c[name] for name in _Match._fields[2:]))
    .select_from(_MATCHES.outerjoin(_RESULTS, _RESULTS.c.match_id == _MATCHES.c.id))
    .where(_MATCHES.c.group_id == bindparam("of"))
    .order_by(_MATCHES.c.id)
)
_CLOSE: Final = Prepared(update(_GROUPS).where(_GROUPS.c.id == bindparam("of")).values(state=DealGroupState.REVEALED))
