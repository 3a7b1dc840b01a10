"""Close a deal group after its last match: reveal the seed in its logs and count its results on ladders."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, bindparam, select, update
from sqlalchemy.orm import Session

from referee.errors import NotFound
from referee.ladders import ledger
from referee.match.log import reveal_line
from referee.matches import deal_groups, logs
from referee.matches.states import ENDED, DealGroupState, MatchState
from referee.matches.tables import DealGroup, Result, StoredMatch


def close_if_over(
    session: Session,
    group_id: str,
    *,
    master_key: bytes,
    last_lines: Mapping[str, tuple[int, bytes]] | None = None,
) -> bool:
    """Close the group if all of its matches have ended; return whether this call closed it.

    1. Append the reveal of the seed to every log. 2. Enter the results into the ledger, in order, which changes the
    ratings. ``last_lines`` maps ids of matches whose logs were compressed just now to the number and bytes of their
    last rows. Raise ``NotFound``.
    """
    session.flush()
    ledger.lock_ledger(session)
    group = session.connection().execute(_GROUP, {"of": group_id}).one_or_none()
    if group is None:
        raise NotFound("group", group_id)
    matches = session.connection().execute(_MATCHES_OF, {"of": group_id}).all()
    if group.state == DealGroupState.REVEALED or any(match.status not in ENDED for match in matches):
        return False
    seed = deal_groups.unseal_seed(group.id, group.seed_sealed, group.commitment, master_key)
    blank = [""] * len(group.entries)
    nonces, hashes = group.nonces or blank, group.nonce_hashes or blank
    known_last_lines = last_lines or {}
    for match_id in (match.id for match in matches):
        last = known_last_lines.get(match_id) or logs.last_line(session, match_id)
        if last is not None:
            logs.append_reveal(session, match_id, reveal_line(last[0] + 1, last[1], seed, nonces, hashes))
    session.connection().execute(_CLOSE, {"of": group_id})
    ledger.enter_results(session, _load_counting_results(matches))
    return True


def _load_counting_results(matches: Sequence[Row[Any]]) -> list[ledger.RatedResult]:
    """Return the results of finished matches that count on a ladder, in order of ``seq``."""
    rated = [match for match in matches if match.status == MatchState.FINISHED and match.ladder_id is not None]
    return [
        ledger.RatedResult(match.ladder_id, match.id, match.bots, match.placements, match.rated)
        for match in sorted(rated, key=lambda match: int(match.seq))
    ]


# Built once, without the ORM: these run at the end of every match.
_GROUPS, _MATCHES, _RESULTS = (model.__table__ for model in (DealGroup, StoredMatch, Result))
_GROUP = (
    select(*(_GROUPS.c[n] for n in ("id", "state", "seed_sealed", "commitment", "entries", "nonces", "nonce_hashes")))
    .where(_GROUPS.c.id == bindparam("of"))
    .with_for_update()
)

_MATCHES_OF = (
    select(
        *(_MATCHES.c[name] for name in ("id", "status")),
        *(_RESULTS.c[name] for name in ("seq", "ladder_id", "bots", "placements", "rated")),
    )
    .select_from(_MATCHES.outerjoin(_RESULTS, _RESULTS.c.match_id == _MATCHES.c.id))
    .where(_MATCHES.c.group_id == bindparam("of"))
    .order_by(_MATCHES.c.id)
)

_CLOSE = update(_GROUPS).where(_GROUPS.c.id == bindparam("of")).values(state="revealed")
