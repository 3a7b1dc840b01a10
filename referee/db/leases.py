"""Lease rows, so that at most one process works on a row and a superseded process writes nothing.

A claim raises the epoch of its row and sets a lease. Every later write names the epoch. A row whose lease has expired,
or was set before the machine restarted, can be claimed again. The modules that own the tables decide which rows are
due, in what order they are claimed and what follows from lost claims.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Generic, TypeVar

from sqlalchemy import (
    ColumnElement,
    Float,
    Select,
    String,
    Update,
    and_,
    bindparam,
    case,
    inspect,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.orm import Mapped, Session, mapped_column

from referee.db.engine import lease_now
from referee.db.prepared import Prepared
from referee.errors import StaleEpoch

LEASE_S: Final = 15.0  # longer than the longest decision plus the longest wait for the write lock
NO_LEASE: Final = {"lease_boot": None, "lease_until": None}

Fence = tuple[str, int]  # the key of a claimed row and the epoch of the claim


class Leased:
    """Declare the columns of a table whose rows are claimed."""

    epoch: Mapped[int] = mapped_column(default=0)  # rises with each claim, and whenever a claim is revoked
    lease_boot: Mapped[str | None] = mapped_column(String(64))
    lease_until: Mapped[float | None]

    def end_lease(self) -> None:
        self.lease_boot = self.lease_until = None

    def revoke_claim(self) -> None:
        """Make later writes of the current claimer of this row fail."""
        self.epoch += 1
        self.end_lease()


Row = TypeVar("Row", bound=Leased)


def revocation_values(table: type[Leased]) -> dict[str, Any]:
    """Return the values of an update that revokes the claims on the rows it changes."""
    return {"epoch": table.epoch + 1, **NO_LEASE}


def is_lease_expired(columns: Any, boot: Any, seconds: Any) -> ColumnElement[bool]:
    """Return the condition for rows without a valid lease.

    ``columns`` belongs to a leased table; ``boot`` and ``seconds`` come from ``lease_now``, or are parameters.
    """
    return or_(columns.lease_until.is_(None), columns.lease_until <= seconds, columns.lease_boot != boot)


class Leases(Generic[Row]):
    """Claim, renew and release the rows of one table.

    The column ``state`` is ``due`` in a row that waits to be claimed, and ``claimed`` in a claimed one. The
    column ``lost`` counts claims whose lease expired; a restart of the machine is not counted.
    """

    def __init__(
        self,
        model: type[Row],
        *,
        state: str = "status",
        due: str = "due",
        claimed: str = "running",
        lost: str | None = None,
        lease_s: float = LEASE_S,
    ) -> None:
        mapper = inspect(model)
        (self._key,) = mapper.primary_key
        self._model = model
        self._table = mapper.local_table
        self._columns = mapper.columns
        self._epoch, self._state = mapper.columns.epoch, mapper.columns[state]
        self._lost = None if lost is None else mapper.columns[lost]
        self._due, self._claimed = due, claimed
        self._lease_s = lease_s

    # -- conditions --

    def is_claimable(self, boot: Any, seconds: Any) -> ColumnElement[bool]:
        """Return the condition for rows that may be claimed: due, or claimed with an expired lease.

        ``boot`` and ``seconds`` come from ``db.lease_now``, or are parameters.
        """
        lost = and_(self._state == self._claimed, is_lease_expired(self._columns, boot, seconds))
        return lost if self._due == self._claimed else or_(self._state == self._due, lost)

    def is_leased(self, boot: str, seconds: float) -> ColumnElement[bool]:
        """Return the condition for rows with a valid lease."""
        return and_(self._state == self._claimed, ~is_lease_expired(self._columns, boot, seconds))

    def fence(self, key: Any, epoch: Any) -> ColumnElement[bool]:
        """Return the condition for a row whose claim has this epoch and is valid.

        Key and epoch may be SQL parameters.
        """
        return and_(self._key == key, self._epoch == epoch, self._state == self._claimed)

    # -- claiming --

    def claim(self, session: Session, candidates: Select[str]) -> list[Row]:
        """Claim those rows of ``candidates``, a query for keys, that are claimable and not locked elsewhere.

        Return the claimed rows, reread, in the order of the query.
        """
        boot, seconds = lease_now(session)
        query = candidates.where(self.is_claimable(boot, seconds)).with_for_update(of=self._table, skip_locked=True)
        keys = session.scalars(query).all()
        if not keys:
            return []
        claim = self._claim_statement(self._key.in_(keys), boot, seconds)
        claimed = select(self._model).from_statement(claim.returning(self._table))
        rows = session.scalars(claimed.execution_options(populate_existing=True))
        by_key = {getattr(row, self._key.name): row for row in rows}
        return [by_key[key] for key in keys if key in by_key]

    def prepare_claim(self, **values: Any) -> Prepared:
        """Return the statement for ``claim_keys`` that also sets ``values``, which may be expressions or parameters."""
        claim = self._claim_statement(
            self._key == bindparam("key"), bindparam("boot"), bindparam("seconds", type_=Float)
        )
        return Prepared(claim.values(values).returning(self._key, self._epoch))

    def claim_keys(
        self, session: Session, claim: Prepared, keys: Sequence[str], boot: str, seconds: float, **parameters: Any
    ) -> dict[str, int]:
        """Claim those of these rows that are claimable, with a statement from ``prepare_claim`` and its parameters.

        Return the epochs of the claims, keyed by the keys of the rows. This waits for locked rows. Lock the rows first
        if others may claim them at the same moment.
        """
        shared = {**parameters, "boot": boot, "seconds": seconds}
        found = claim.rows_of_each(session, [{**shared, "key": key} for key in keys])
        return {key: epoch for rows in found for key, epoch in rows}

    def _claim_statement(self, wanted: ColumnElement[bool], boot: Any, seconds: Any) -> Update:
        changes: dict[Any, Any] = {self._epoch: self._epoch + 1, self._state: self._claimed}
        if self._lost is not None:
            was_lost = and_(self._state == self._claimed, self._columns.lease_boot == boot)
            changes[self._lost] = self._lost + case((was_lost, 1), else_=0)
        claimable = and_(wanted, self.is_claimable(boot, seconds))
        return update(self._table).where(claimable).values(changes).values(self.new_lease_values(boot, seconds))

    def new_lease_values(self, boot: Any, seconds: Any) -> dict[str, Any]:
        """Return the values of a lease that begins now. ``boot`` and ``seconds`` may be parameters."""
        return {"lease_boot": boot, "lease_until": seconds + self._lease_s}

    # -- while claimed --

    def renew(self, session: Session, claims: Iterable[Fence]) -> set[str]:
        """Renew the leases of the claims that are still valid. Return the keys of their rows."""
        boot, seconds = lease_now(session)
        ours = self.lock_valid_claims(session, claims)
        if ours:
            renewed = update(self._table).where(self._key.in_(ours)).values(self.new_lease_values(boot, seconds))
            session.connection().execute(renewed)
        return ours

    def lock_valid_claims(self, session: Session, claims: Iterable[Fence]) -> set[str]:
        """Lock, until the transaction ends, the rows of the claims that are still valid.

        Return the keys of these rows.
        """
        wanted = list(claims)
        if not wanted:
            return set()
        # Lock in order of keys, so that two transactions cannot wait for each other.
        query = select(self._key).where(self._matches_any(wanted)).order_by(self._key)
        return set(session.scalars(query.with_for_update()))

    def release(self, session: Session, claims: Iterable[Fence], **values: Any) -> int:
        """Make the rows of these claims due immediately, and set ``values`` in them. Return the number of rows.

        Released claims do not count as lost. Claims that are no longer valid are ignored.
        """
        freed = update(self._table).where(self._matches_any(claims))
        return self._count_changed(session, freed.values({self._state: self._due, **NO_LEASE, **values}))

    def expire(self, session: Session, claims: Iterable[Fence], *conditions: ColumnElement[bool]) -> int:
        """Let the leases of these claims expire now, because their claimer died. Return their number.

        Unlike released claims, they count as lost when the row is claimed again. Claims that are no longer valid, or do
        not meet the ``conditions``, are ignored.
        """
        ours = self.lock_valid_claims(session, claims)
        if not ours:
            return 0
        expired = update(self._table).where(self._key.in_(ours), *conditions).values(lease_until=0.0)
        return self._count_changed(session, expired)

    def update(self, session: Session, key: str, epoch: int, **values: Any) -> None:
        """Change the claimed row and renew its lease. Raise ``StaleEpoch`` when the claim is no longer valid."""
        lease = self.new_lease_values(*lease_now(session))
        change = update(self._table).where(self.fence(key, epoch)).values({**values, **lease})
        if not self._count_changed(session, change):
            raise self.stale_epoch_error(key, epoch)

    def lock(self, session: Session, key: str, epoch: int, *, key_share: bool = False) -> Row:
        """Return the claimed row, locked and reread. Raise ``StaleEpoch`` when the claim is no longer valid.

        With ``key_share``, other transactions may insert references to the row meanwhile.
        """
        query = select(self._model).where(self.fence(key, epoch)).with_for_update(key_share=key_share)
        row = session.scalar(query.execution_options(populate_existing=True))
        if row is None:
            raise self.stale_epoch_error(key, epoch)
        return row

    def stale_epoch_error(self, key: str, epoch: int) -> StaleEpoch:
        """Return the error of a claim that is no longer valid."""
        return StaleEpoch(f"claim {epoch} of {key} in {self._table.name} was superseded or has ended")

    def _matches_any(self, claims: Iterable[Fence]) -> ColumnElement[bool]:
        return and_(tuple_(self._key, self._epoch).in_(list(claims)), self._state == self._claimed)

    def _count_changed(self, session: Session, statement: Update) -> int:
        return session.connection().execute(statement).rowcount
