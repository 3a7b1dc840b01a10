"""Deal groups: a sealed seed promised beforehand, the bots' nonces, and the reveal when all matches are over."""

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.db import sealing
from referee.db.engine import current_time, lease_now
from referee.db.ids import new_id
from referee.db.leases import Leases
from referee.errors import NotFound, RefereeError
from referee.match.chance import commitment
from referee.matches.tables import DealGroup, Match

ENDED = ("finished", "cancelled", "void")
SEED_BYTES = 32
LEASES: Final = Leases(DealGroup, state="state", due="new", claimed="new")


class WrongMasterKey(RefereeError):
    """A sealed seed does not open to what was promised: the master key is not the one it was sealed with."""


@dataclass(frozen=True, slots=True)
class Opening:
    """A claimed opening: whom to ask for nonces, and how far an earlier claimer came."""

    group_id: str
    epoch: int
    commitment: str
    entries: list[str]
    nonce_hashes: list[str] | None


def create_group(
    session: Session,
    entries: Sequence[str],
    *,
    master_key: bytes,
    tournament_id: str | None = None,
    kind: str = "own",
) -> DealGroup:
    """A new group with a fresh seed; ``entries`` are the bots whose nonces count, in this order, each once."""
    group = DealGroup(**fresh(entries, current_time(session), master_key, tournament_id), kind=kind)
    session.add(group)
    return group


def fresh(entries: Sequence[str], moment: datetime, master_key: bytes, tournament_id: str | None) -> dict[str, Any]:
    """The row of a new group."""
    group_id, seed = new_id("group"), secrets.token_bytes(SEED_BYTES)
    return {
        "id": group_id,
        "commitment": commitment(seed, group_id),
        "seed_sealed": sealing.seal(seed, key_ring=[master_key], context=_context(group_id)),
        "state": "new",
        "entries": list(dict.fromkeys(entries)),
        "tournament_id": tournament_id,
        "epoch": 0,
        "created_at": moment,
    }


def get_group(session: Session, group_id: str, *, populate_existing: bool = False) -> DealGroup:
    group = session.get(DealGroup, group_id, populate_existing=populate_existing)
    if group is None:
        raise NotFound("group", group_id)
    return group


def claim_opening(session: Session, group_id: str) -> Opening | None:
    """The right to ask the bots for nonces; None when the group is open already or another asks them now."""
    claimed = LEASES.claim_keys(session, [group_id], *lease_now(session))
    group = get_group(session, group_id, populate_existing=True)
    if not claimed:
        return None
    return Opening(group.id, group.epoch, group.commitment, list(group.entries), group.nonce_hashes)


def record_nonce_hashes(session: Session, group_id: str, epoch: int, hashes: Sequence[str]) -> list[str]:
    """Keeps the hashes (by entry, "" where none came) and gives back those that count: the first recorded."""
    group = get_group(session, group_id, populate_existing=True)
    counting = _fitting(group, hashes) if group.nonce_hashes is None else list(group.nonce_hashes)
    LEASES.update(session, group_id, epoch, nonce_hashes=counting)
    return counting


def open_group(session: Session, group_id: str, epoch: int, nonces: Sequence[str]) -> None:
    """Keeps the nonces (by entry, "" where none came or it did not fit) and lets the matches begin."""
    group = LEASES.lock(session, group_id, epoch)
    if group.nonce_hashes is None:
        raise ValueError("the hashes of the nonces are recorded before the nonces")
    group.nonces = _fitting(group, nonces)
    group.state = "open"
    group.end_lease()


def give_back_opening(session: Session, group_id: str, epoch: int) -> None:
    """Lets others ask at once; a claim that is no longer ours is passed over."""
    LEASES.release(session, [(group_id, epoch)])


def seed_of(group: DealGroup, master_key: bytes) -> bytes:
    """The seed; raises ``WrongMasterKey`` when it is not the promised one."""
    return unseal_seed(group.id, group.seed_sealed, group.commitment, master_key)


def left_open(session: Session, *, limit: int = 100) -> list[str]:
    """Groups that nobody closed when their last match was cancelled."""
    going_on = select(Match.id).where(Match.group_id == DealGroup.id, Match.status.not_in(ENDED)).exists()
    begun = select(Match.id).where(Match.group_id == DealGroup.id).exists()
    return list(session.scalars(select(DealGroup.id).where(DealGroup.state != "over", begun, ~going_on).limit(limit)))


def reveal_of(session: Session, group_id: str, master_key: bytes) -> dict[str, Any] | None:
    """What ``reveal_fields`` gives for the group of this id."""
    return reveal_fields(get_group(session, group_id), master_key)


def reveal_fields(group: DealGroup, master_key: bytes) -> dict[str, Any] | None:
    """Seed and nonces for everybody, once the group is over; before that None."""
    if group.state != "over":
        return None
    return {
        "seed": seed_of(group, master_key).hex(),
        "nonces": group.nonces or [""] * len(group.entries),
        "nonce_hashes": group.nonce_hashes or [""] * len(group.entries),
    }


def unseal_seed(group_id: str, sealed: bytes, promised: str, master_key: bytes) -> bytes:
    """Return the sealed seed of this group; raise ``WrongMasterKey`` when it is not the promised one."""
    seed = _unseal(sealed, group_id, master_key)
    if commitment(seed, group_id) != promised:
        raise WrongMasterKey(f"the seed of {group_id} does not fit its commitment")
    return seed


def _unseal(sealed: bytes, group_id: str, master_key: bytes) -> bytes:
    if len(sealed) == SEED_BYTES:  # as it was sealed before sealed bytes named their key
        pad = hmac.digest(master_key, f"deal-seed|{group_id}".encode(), "sha256")
        return bytes(a ^ b for a, b in zip(sealed, pad, strict=True))
    try:
        return sealing.unseal(sealed, key_ring=[master_key], context=_context(group_id))
    except sealing.CannotUnseal as error:
        raise WrongMasterKey(f"the seed of {group_id} cannot be opened: {error}") from error


def _context(group_id: str) -> tuple[str, str]:
    return "deal-seed", group_id


def _fitting(group: DealGroup, values: Sequence[str]) -> list[str]:
    if len(values) != len(group.entries):
        raise ValueError(f"expected {len(group.entries)} values, got {len(values)}")
    return list(values)
