"""Let several accounts run an object together: the one that created it, and its co-organisers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session, object_session

from referee.accounts import accounts
from referee.accounts.roles import Role
from referee.accounts.tables import Account
from referee.db.engine import current_time
from referee.errors import BadOption, Conflict, NotFound, QuotaExceeded

MAX_CO_ORGANISERS: Final = 10


@dataclass(frozen=True, slots=True)
class CoOrganisers:
    """Read and change the co-organisers of objects of one ``kind``, such as "tournament".

    The objects have ``id``, ``created_by`` and ``revision``. ``table`` has a row for each co-organiser, with the id of
    the object in the column ``object_id``. Accounts become co-organisers when they accept an invitation, and with it
    agree to take the object over when the account that created it leaves.
    """

    table: type[Any]
    object_id: str
    kind: str

    def is_manager(self, account: Account, managed: Any) -> bool:
        """Return whether this account created the object, is a co-organiser, or is the operator."""
        if account.role == Role.ADMIN or managed.created_by == account.id:
            return True
        session = object_session(managed)
        assert session is not None, "the object was loaded in a session"
        return session.get(self.table, (managed.id, account.id)) is not None

    def list(self, session: Session, managed: Any) -> Sequence[Account]:
        """Return the account that created the object or took it over, then its co-organisers, the earliest first."""
        query = select(Account).join(self.table, self.table.account_id == Account.id).where(self._is_of(managed))
        added = session.scalars(query.order_by(self.table.added_at, Account.id)).all()
        return [*([accounts.get_account(session, managed.created_by)] if managed.created_by else []), *added]

    def ids(self, session: Session, managed: Any) -> set[str]:
        """Return the ids of the accounts that run the object."""
        added = session.scalars(select(self.table.account_id).where(self._is_of(managed)))
        return {*([managed.created_by] if managed.created_by else []), *added}

    def find_candidate(self, session: Session, managed: Any, name: str, *, pending: int) -> Account:
        """Return the account with this name or id, which may be invited to run the object.

        ``pending`` is the number of invitations that are not decided. Raise ``BadOption`` for an unknown account,
        ``Conflict`` if it runs the object already, ``QuotaExceeded`` if there would be too many.
        """
        try:
            account = accounts.find_by_id_or_name(session, name)
        except NotFound:
            raise BadOption("account", f"no account has the name or id {name!r}") from None
        self._check_may_join(session, managed, account, pending)
        return account

    def add(self, session: Session, managed: Any, account: Account) -> None:
        """Let the account run the object, which is locked. Raise ``Conflict`` and ``QuotaExceeded`` as above."""
        accounts.lock_present(session, account.id)
        self._check_may_join(session, managed, account, 0)
        row = {self.object_id: managed.id, "account_id": account.id, "added_at": current_time(session)}
        session.add(self.table(**row))
        managed.revision += 1
        session.flush()

    def remove(self, session: Session, managed: Any, account_id: str, *, may_be_orphaned: bool) -> None:
        """Take the object, which is locked, from an account that runs it; its first co-organiser takes it over.

        Raise ``NotFound`` if the account does not run it, and ``Conflict`` if nobody would unless the object
        ``may_be_orphaned``.
        """
        if account_id == managed.created_by:
            if not self.hand_over(session, managed):
                if not may_be_orphaned:
                    raise Conflict(f"Nobody else runs this {self.kind}. Delete it or, if that is too late, cancel it.")
                managed.created_by = None
                managed.revision += 1
            session.flush()
            return
        row = session.get(self.table, (managed.id, account_id))
        if row is None:
            raise NotFound("co-organiser", account_id)
        session.delete(row)
        managed.revision += 1
        session.flush()

    def hand_over(self, session: Session, managed: Any) -> bool:
        """Give the object to its first co-organiser who is not suspended. Return whether there is one."""
        heirs = select(self.table).join(Account, Account.id == self.table.account_id)
        heirs = heirs.where(self._is_of(managed), Account.suspended_at.is_(None))
        heir = session.scalar(heirs.order_by(self.table.added_at, self.table.account_id).limit(1))
        if heir is None:
            return False
        managed.created_by = heir.account_id
        managed.revision += 1
        session.delete(heir)
        return True

    def leave_all(self, session: Session, account_id: str) -> None:
        """Remove the account from the co-organisers of all objects."""
        session.execute(delete(self.table).where(self.table.account_id == account_id))

    def _check_may_join(self, session: Session, managed: Any, account: Account, pending: int) -> None:
        running = self.ids(session, managed)
        if account.id in running:
            raise Conflict(f"{account.name} runs this {self.kind} already.")
        if len(running) + pending > MAX_CO_ORGANISERS:
            raise QuotaExceeded(f"A {self.kind} has at most {MAX_CO_ORGANISERS} co-organisers, with those invited.")

    def _is_of(self, managed: Any) -> Any:
        return getattr(self.table, self.object_id) == managed.id
