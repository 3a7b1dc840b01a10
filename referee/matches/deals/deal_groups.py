"""Manage deal groups: the committed and sealed seed, the bots' nonces, and the reveal when all matches have ended."""

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from referee.db import sealing
from referee.db.ids import new_id
from referee.db.leases import Leases
from referee.errors import NotFound, RefereeError
from referee.master_keys import key_ring
from referee.match.chance import commitment
from referee.match.reveal import EndedOpening, Reveal
from referee.matches.states import DealGroupState
from referee.matches.tables import DealGroup, FailedNonce, GroupToClose

SEED_BYTES = 32
LEASES: Final = Leases(DealGroup, state="state", due=DealGroupState.NEW, claimed=DealGroupState.NEW)


class GroupToReveal(NamedTuple):
    """Hold the columns of a deal group that its reveal consists of."""

    id: str
    state: DealGroupState
    seed_sealed: bytes
    commitment: str
    entries: list[str]
    nonces: list[str] | None
    nonce_hashes: list[str] | None
    accepted: list[bool | None] | None
    opening_number: int


class WrongMasterKey(RefereeError):
    """Report that a sealed seed does not match its commitment, because it was sealed with another master key."""


def new_group_row(
    entries: Sequence[str], moment: datetime, master_key: bytes, tournament_id: str | None
) -> dict[str, Any]:
    """Return the row of a new group with a new seed."""
    group_id, seed = new_id("group"), secrets.token_bytes(SEED_BYTES)
    return {
        "id": group_id,
        "commitment": commitment(seed, group_id),
        "seed_sealed": sealing.seal(seed, key_ring=[master_key], context=_context(group_id)),
        "state": DealGroupState.NEW,
        "entries": list(dict.fromkeys(entries)),
        "tournament_id": tournament_id,
        "epoch": 0,
        "opening_number": 1,
        "left_out": [],
        "created_at": moment,
    }


def get_group(session: Session, group_id: str) -> DealGroup:
    group = session.get(DealGroup, group_id)
    if group is None:
        raise NotFound("group", group_id)
    return group


def unseal_seed_of_group(group: DealGroup | GroupToReveal, master_key: bytes) -> bytes:
    """Return the seed of the group. Raise ``WrongMasterKey`` when it does not match the commitment."""
    return unseal_with_key(group.id, group.seed_sealed, group.commitment, master_key)[0]


def list_groups_to_close(session: Session, *, limit: int = 100) -> list[str]:
    """Return ids of groups that may be over: their last matches were cancelled after others had been played."""
    return list(session.scalars(select(GroupToClose.group_id).distinct().order_by(GroupToClose.group_id).limit(limit)))


def remove_group_to_close(session: Session, group_id: str) -> None:
    """Remove a group from this list. Close it afterwards, so that a match that is cancelled meanwhile counts."""
    session.execute(delete(GroupToClose).where(GroupToClose.group_id == group_id))


def load_reveal(session: Session, group: DealGroup | GroupToReveal, master_key: bytes) -> Reveal:
    """Return what logs reveal about this group once it is closed, with its earlier openings."""
    blank = [""] * len(group.entries)
    return Reveal(
        seed=unseal_seed_of_group(group, master_key),
        nonces=group.nonces or blank,
        nonce_hashes=group.nonce_hashes or blank,
        accepted=group.accepted or [None] * len(group.entries),
        openings=load_ended_openings(session, group.id, master_key) if group.opening_number > 1 else (),
    )


def load_ended_openings(session: Session, group_id: str, master_key: bytes) -> list[EndedOpening]:
    """Return the earlier openings of the group with this id, oldest first. They are public."""
    return [
        EndedOpening(
            id=group.id,
            commitment=group.commitment,
            seed=unseal_seed_of_group(group, master_key),
            nonces=group.nonces or (),
            nonce_hashes=group.nonce_hashes or (),
            failures=failures,
        )
        for group, failures in list_superseded(session, group_id)
    ]


def list_superseded(session: Session, group_id: str) -> list[tuple[DealGroup, dict[str, str]]]:
    """Return the groups that the group with this id replaced, oldest first, and why each bot ended their openings."""
    earlier = select(DealGroup).where(DealGroup.superseded_by == group_id, DealGroup.superseded_by.is_not(None))
    groups = session.scalars(earlier.order_by(DealGroup.opening_number)).all()
    failed = select(FailedNonce.group_id, FailedNonce.bot_id, FailedNonce.code)
    failures: dict[str, dict[str, str]] = {group.id: {} for group in groups}
    for ended_id, bot_id, code in session.execute(failed.where(FailedNonce.group_id.in_(failures))):
        failures[ended_id][bot_id] = code
    return [(group, failures[group.id]) for group in groups]


def unseal_with_key(group_id: str, sealed: bytes, promised: str, master_key: bytes) -> tuple[bytes, bytes]:
    """Return the seed in ``sealed`` and the master key of the ring with which it was sealed.

    All that derives from the master key in a match that was begun derives from that one. Raise ``WrongMasterKey`` when
    no key of the ring leads to the ``promised`` commitment.
    """
    problem = f"the seed of {group_id} does not match its commitment"
    for key in key_ring(master_key):
        try:
            seed = sealing.unseal(sealed, key_ring=[key], context=_context(group_id))
        except sealing.CannotUnseal as error:
            problem = f"the seed of {group_id} cannot be unsealed: {error}"
            continue
        if commitment(seed, group_id) == promised:
            return seed, key
    raise WrongMasterKey(problem)


def reseal_seed(group_id: str, sealed: bytes, promised: str, master_key: bytes) -> bytes:
    """Return the seed in ``sealed``, sealed with the current key of the ring. Raise ``WrongMasterKey``."""
    seed, _ = unseal_with_key(group_id, sealed, promised, master_key)
    return sealing.seal(seed, key_ring=key_ring(master_key), context=_context(group_id))


def _context(group_id: str) -> tuple[str, str]:
    return "deal-seed", group_id
