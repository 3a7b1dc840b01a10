"""Rotate the master key: count what needs an earlier one, and seal the seeds of ended deal groups again.

The seed of a group whose matches are not over stays sealed with the key with which they began, because other values
derive from that key (the ids in anonymous matches, the choices of house players).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from referee.db import sealing
from referee.db.engine import Database
from referee.master_keys import key_ring
from referee.match.signing_keys import SigningKey
from referee.matches.deals import deal_groups
from referee.matches.logs import chain
from referee.matches.logs.chain import UsedKey
from referee.matches.states import DealGroupState
from referee.matches.tables import DealGroup

GROUPS_PER_STEP: Final = 200


@dataclass(slots=True)
class KeyUse:
    """Describe a master key of the settings: its id, its signing key, and how many deal groups it is needed for."""

    id: str
    is_current: bool
    signing_key: str
    signed: UsedKey | None
    unfinished_groups: int = 0
    ended_groups: int = 0


@dataclass(slots=True)
class ResealingReport:
    """Count the seeds that were sealed again, and those that no key of the settings unseals."""

    resealed: int = 0
    unreadable: int = 0


def list_key_uses(session: Session, master_key: bytes) -> list[KeyUse]:
    """Return the keys of the settings, the current one first. This reads the key id of every deal group."""
    signed = {used.key.id: used for used in chain.list_keys(session)}
    uses: dict[str, KeyUse] = {}
    for index, key in enumerate(key_ring(master_key)):
        public = SigningKey.derive(key).public
        uses[sealing.key_id(key)] = KeyUse(sealing.key_id(key), index == 0, public.id, signed.get(public.id))
    head = func.substr(DealGroup.seed_sealed, 1, sealing.HEAD_BYTES)
    query = select(head, DealGroup.state, func.count()).group_by(head, DealGroup.state)
    for sealed, state, count in session.execute(query):
        use = uses.get(sealing.read_key_id(bytes(sealed)))
        if use is not None and state == DealGroupState.REVEALED:
            use.ended_groups += count
        elif use is not None:
            use.unfinished_groups += count
    return list(uses.values())


def reseal_ended_groups(database: Database, master_key: bytes) -> ResealingReport:
    """Seal the seeds of all ended groups with the current key, in short transactions. It may be interrupted."""
    report, after, wanted = ResealingReport(), "", sealing.key_id(key_ring(master_key)[0])
    while True:
        with database.read() as session:
            rows = _next_groups(session, after)
        if not rows:
            return report
        after = rows[-1][0]
        old = [row for row in rows if sealing.read_key_id(row[1]) != wanted]
        if old:
            with database.write() as session:
                _reseal(session, old, master_key, report)


def _next_groups(session: Session, after: str) -> Sequence[tuple[str, bytes, str]]:
    query = select(DealGroup.id, DealGroup.seed_sealed, DealGroup.commitment)
    query = query.where(DealGroup.state == DealGroupState.REVEALED, DealGroup.id > after)
    return [(row[0], row[1], row[2]) for row in session.execute(query.order_by(DealGroup.id).limit(GROUPS_PER_STEP))]


def _reseal(
    session: Session, rows: Sequence[tuple[str, bytes, str]], master_key: bytes, report: ResealingReport
) -> None:
    for group_id, sealed, promised in rows:
        try:
            again = deal_groups.reseal_seed(group_id, sealed, promised, master_key)
        except deal_groups.WrongMasterKey:
            report.unreadable += 1
            continue
        session.execute(update(DealGroup).where(DealGroup.id == group_id).values(seed_sealed=again))
        report.resealed += 1
