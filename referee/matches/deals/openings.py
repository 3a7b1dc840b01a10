"""Open deal groups: claim an opening, record its nonces, and end it or open the group.

``workers`` asks the bots. A deal is drawn only from an opening that has all the nonces that were promised.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import bindparam, func, update
from sqlalchemy.orm import Session

from referee.db.engine import lease_now
from referee.db.leases import NO_LEASE
from referee.db.prepared import Prepared
from referee.match.log import digest
from referee.match.reveal import OpeningFailure
from referee.matches.deals.deal_groups import LEASES
from referee.matches.states import DealGroupState
from referee.matches.tables import DealGroup


@dataclass(frozen=True, slots=True)
class Opening:
    """Describe the claimed opening of a group: the bots to ask for nonces, and hashes that were recorded earlier.

    The bots in ``left_out`` ended earlier openings of the same matches and are not asked again.
    """

    group_id: str
    epoch: int
    commitment: str
    entries: list[str]
    left_out: list[str]
    nonce_hashes: list[str] | None


@dataclass(frozen=True, slots=True)
class FailedStep:
    """Hold why a bot ended an opening, with the request and the reply for its owner."""

    code: OpeningFailure
    detail: str
    request: bytes
    reply: bytes


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


def open_group(
    session: Session, group_id: str, epoch: int, nonces: Sequence[str], accepted: Sequence[bool | None]
) -> None:
    """Record the nonces and the answers to step 3 and open the group, so that its matches can start.

    ``nonces`` has one nonce for each entry, "" where no hash was recorded, and ``accepted`` has one answer for each,
    None where there was none. Raise ``StaleEpoch`` if the claim is no longer valid, and ``ValueError`` if the hashes
    have not been recorded, a nonce does not match its hash, or an answer is False.
    """
    values = {"nonces": list(nonces), "accepted": list(accepted)}
    opened = _OPEN.rows(session, {"of": group_id, "held": epoch, **values})
    if not opened:
        if LEASES.lock(session, group_id, epoch).nonce_hashes is None:
            raise ValueError("the hashes of the nonces must be recorded before the nonces")
        raise LEASES.stale_epoch_error(group_id, epoch)
    entries, hashes = opened[0]
    _check_one_per_entry(entries, nonces)
    _check_one_per_entry(entries, accepted)
    if [nonce and digest(nonce.encode()) for nonce in nonces] != hashes:
        raise ValueError("the nonces are not the promised ones")
    if False in accepted:
        raise ValueError("a bot did not accept the nonces, so the opening must end")


def _check_one_per_entry(entries: Sequence[str], values: Sequence[Any]) -> None:
    if len(values) != len(entries):
        raise ValueError(f"expected {len(entries)} values, got {len(values)}")


_GROUPS: Final = DealGroup.__table__
_CLAIMED: Final = update(_GROUPS).where(LEASES.fence(bindparam("of"), bindparam("held")))
_NEW_LEASE: Final[dict[str, Any]] = {name: bindparam(name) for name in ("lease_boot", "lease_until")}
_CLAIM_OPENING: Final = Prepared(
    update(_GROUPS)
    .where(_GROUPS.c.id == bindparam("of"), LEASES.is_claimable(bindparam("boot"), bindparam("seconds")))
    .values(epoch=_GROUPS.c.epoch + 1, **_NEW_LEASE)
    .returning(*(_GROUPS.c[name] for name in ("id", "epoch", "commitment", "entries", "left_out", "nonce_hashes")))
)
_RECORD_HASHES: Final = Prepared(
    _CLAIMED.values(
        nonce_hashes=func.coalesce(_GROUPS.c.nonce_hashes, bindparam("hashes", type_=_GROUPS.c.nonce_hashes.type)),
        **_NEW_LEASE,
    ).returning(_GROUPS.c.entries, _GROUPS.c.nonce_hashes)
)
_OPEN: Final = Prepared(
    _CLAIMED.where(_GROUPS.c.nonce_hashes.is_not(None))
    .values(nonces=bindparam("nonces"), accepted=bindparam("accepted"), state=DealGroupState.PLAYING, **NO_LEASE)
    .returning(_GROUPS.c.entries, _GROUPS.c.nonce_hashes)
)
