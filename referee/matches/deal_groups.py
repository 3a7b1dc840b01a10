"""Manage deal groups: the committed and sealed seed, the bots' nonces, and the reveal when all matches have ended."""

import hmac
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import and_, bindparam, delete, func, select, update
from sqlalchemy.orm import Session

from referee.db import sealing
from referee.db.engine import current_time, lease_now
from referee.db.ids import new_id
from referee.db.leases import NO_LEASE, Fence, Leases
from referee.db.prepared import Prepared
from referee.errors import NotFound, RefereeError
from referee.match.chance import commitment
from referee.matches.states import OPEN, UNREVEALED, DealGroupState, DealSharing
from referee.matches.tables import DealGroup, GroupToClose, StoredMatch

SEED_BYTES = 32
LEASES: Final = Leases(DealGroup, state="state", due=DealGroupState.NEW, claimed=DealGroupState.NEW)


class WrongMasterKey(RefereeError):
    """Report that a sealed seed does not match its commitment, because it was sealed with another master key."""


@dataclass(frozen=True, slots=True)
class Opening:
    """Describe the claimed opening of a group: the bots to ask for nonces, and hashes that were recorded earlier."""

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
    kind: DealSharing = DealSharing.OWN,
) -> DealGroup:
    """Create a group with a new seed. ``entries`` are the bots whose nonces count, in this order, without repeats."""
    group = DealGroup(**new_group_row(entries, current_time(session), master_key, tournament_id), kind=kind)
    session.add(group)
    return group


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
        "created_at": moment,
    }


def get_group(session: Session, group_id: str, *, populate_existing: bool = False) -> DealGroup:
    group = session.get(DealGroup, group_id, populate_existing=populate_existing)
    if group is None:
        raise NotFound("group", group_id)
    return group


def claim_opening(session: Session, group_id: str) -> Opening | None:
    """Claim the opening of a group. Return None when it is already open or another process is opening it."""
    boot, seconds = lease_now(session)
    lease = LEASES.new_lease_values(boot, seconds)
    claimed = _CLAIM_OPENING.rows(session, {"of": group_id, "boot": boot, "seconds": seconds, **lease})
    return Opening(*claimed[0]) if claimed else None


def record_nonce_hashes(session: Session, group_id: str, epoch: int, hashes: Sequence[str]) -> list[str]:
    """Record the hashes of the nonces, unless hashes are recorded already. Return the recorded ones.

    ``hashes`` has one hash for each entry, which is "" for a bot without a nonce. Raise ``StaleEpoch`` if the claim is
    no longer valid.
    """
    lease = LEASES.new_lease_values(*lease_now(session))
    recorded = _RECORD_HASHES.rows(session, {"of": group_id, "held": epoch, "hashes": list(hashes), **lease})
    if not recorded:
        raise LEASES.stale_epoch_error(group_id, epoch)
    entries, counting = recorded[0]
    _check_one_per_entry(entries, hashes)
    return list(counting)


def open_group(session: Session, group_id: str, epoch: int, nonces: Sequence[str]) -> None:
    """Record the nonces and open the group, so that its matches can start.

    ``nonces`` has one nonce for each entry, which is "" if it is missing or does not match its hash. Raise
    ``StaleEpoch`` if the claim is no longer valid, and ``ValueError`` if the hashes have not been recorded.
    """
    opened = _OPEN.rows(session, {"of": group_id, "held": epoch, "nonces": list(nonces)})
    if not opened:
        if LEASES.lock(session, group_id, epoch).nonce_hashes is None:
            raise ValueError("the hashes of the nonces must be recorded before the nonces")
        raise LEASES.stale_epoch_error(group_id, epoch)
    _check_one_per_entry(opened[0][0], nonces)


def release_opening(session: Session, group_id: str, epoch: int) -> None:
    """Release the claim on an opening. A claim that is no longer valid is ignored."""
    LEASES.release(session, [(group_id, epoch)])


def expire_openings(session: Session, claims: Iterable[Fence]) -> int:
    """Let the leases of a runner that died while it opened these groups expire now. Return their number."""
    return LEASES.expire(session, claims)


def unseal_seed_of_group(group: DealGroup, master_key: bytes) -> bytes:
    """Return the seed of the group. Raise ``WrongMasterKey`` when it does not match the commitment."""
    return unseal_seed(group.id, group.seed_sealed, group.commitment, master_key)


def list_groups_to_close(session: Session, *, limit: int = 100) -> list[str]:
    """Return ids of groups that may be over: their last matches were cancelled after others had been played."""
    return [row[0] for row in _TO_CLOSE.rows(session, {"most": limit})]


def remove_group_to_close(session: Session, group_id: str) -> None:
    """Remove a group from this list. Close it afterwards, so that a match that is cancelled meanwhile counts."""
    _REMOVE_TO_CLOSE.execute(session, {"of": group_id})


def list_unclosed_groups(session: Session) -> list[str]:
    """Return ids of groups that are not revealed although all their matches have ended.

    The search looks at all groups that are not revealed.
    """
    of_group = select(StoredMatch.id).where(StoredMatch.group_id == DealGroup.id)
    has_ended = and_(~of_group.where(StoredMatch.status.in_(OPEN)).exists(), of_group.exists())
    query = select(DealGroup.id).where(DealGroup.state.in_(UNREVEALED), has_ended)
    return list(session.scalars(query))


def load_reveal(session: Session, group_id: str, master_key: bytes) -> dict[str, Any] | None:
    """Return the ``reveal_fields`` of the group with this id. Raise ``NotFound`` if there is none."""
    return reveal_fields(get_group(session, group_id), master_key)


def reveal_fields(group: DealGroup, master_key: bytes) -> dict[str, Any] | None:
    """Return the seed, nonces and hashes, which are public once the group is revealed, or None before that."""
    if group.state != DealGroupState.REVEALED:
        return None
    return {
        "seed": unseal_seed_of_group(group, master_key).hex(),
        "nonces": group.nonces or [""] * len(group.entries),
        "nonce_hashes": group.nonce_hashes or [""] * len(group.entries),
    }


def unseal_seed(group_id: str, sealed: bytes, promised: str, master_key: bytes) -> bytes:
    """Return the seed in ``sealed``. Raise ``WrongMasterKey`` when it does not match the ``promised`` commitment."""
    seed = _unseal(sealed, group_id, master_key)
    if commitment(seed, group_id) != promised:
        raise WrongMasterKey(f"the seed of {group_id} does not match its commitment")
    return seed


def _unseal(sealed: bytes, group_id: str, master_key: bytes) -> bytes:
    if len(sealed) == SEED_BYTES:  # the old format, without the id of the key
        pad = hmac.digest(master_key, f"deal-seed|{group_id}".encode(), "sha256")
        return bytes(a ^ b for a, b in zip(sealed, pad, strict=True))
    try:
        return sealing.unseal(sealed, key_ring=[master_key], context=_context(group_id))
    except sealing.CannotUnseal as error:
        raise WrongMasterKey(f"the seed of {group_id} cannot be unsealed: {error}") from error


def _context(group_id: str) -> tuple[str, str]:
    return "deal-seed", group_id


def _check_one_per_entry(entries: Sequence[str], values: Sequence[str]) -> None:
    if len(values) != len(entries):
        raise ValueError(f"expected {len(entries)} values, got {len(values)}")


_GROUPS: Final = DealGroup.__table__
_LISTED: Final = GroupToClose.__table__
_TO_CLOSE: Final = Prepared(select(_LISTED.c.group_id).distinct().order_by(_LISTED.c.group_id).limit(bindparam("most")))
_REMOVE_TO_CLOSE: Final = Prepared(delete(_LISTED).where(_LISTED.c.group_id == bindparam("of")))
_CLAIMED: Final = update(_GROUPS).where(LEASES.fence(bindparam("of"), bindparam("held")))
_NEW_LEASE: Final[dict[str, Any]] = {name: bindparam(name) for name in ("lease_boot", "lease_until")}
_CLAIM_OPENING: Final = Prepared(
    update(_GROUPS)
    .where(_GROUPS.c.id == bindparam("of"), LEASES.is_claimable(bindparam("boot"), bindparam("seconds")))
    .values(epoch=_GROUPS.c.epoch + 1, **_NEW_LEASE)
    .returning(*(_GROUPS.c[name] for name in ("id", "epoch", "commitment", "entries", "nonce_hashes")))
)
_RECORD_HASHES: Final = Prepared(
    _CLAIMED.values(
        nonce_hashes=func.coalesce(_GROUPS.c.nonce_hashes, bindparam("hashes", type_=_GROUPS.c.nonce_hashes.type)),
        **_NEW_LEASE,
    ).returning(_GROUPS.c.entries, _GROUPS.c.nonce_hashes)
)
_OPEN: Final = Prepared(
    _CLAIMED.where(_GROUPS.c.nonce_hashes.is_not(None))
    .values(nonces=bindparam("nonces"), state=DealGroupState.PLAYING, **NO_LEASE)
    .returning(_GROUPS.c.entries)
)
