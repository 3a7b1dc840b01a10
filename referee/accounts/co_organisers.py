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
    the object in the column ``object_id``.
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
        """Return the account that created the object, then its co-organisers in the order in which they were added."""
        query = select(Account).join(self.table, self.table.account_id == Account.id).where(self._is_of(managed))
        added = session.scalars(query.order_by(self.table.added_at, Account.id)).all()
        return [accounts.get_account(session, managed.created_by), *added]

    def ids(self, session: Session, managed: Any) -> set[str]:
        """Return the ids of the accounts that run the object."""
        return {managed.created_by, *session.scalars(select(self.table.account_id).where(self._is_of(managed)))}

    def add(self, session: Session, managed: Any, name: str) -> Account:
        """Let the account with this name or id run the object, which is locked.

        Raise ``BadOption`` for an unknown account, ``Conflict`` if it runs the object already, ``QuotaExceeded`` if
        there are too many.
        """
        try:
            account = accounts.find_by_id_or_name(session, name)
        except NotFound:
            raise BadOption("account", f"no account has the name or id {name!r}") from None
        running = self.ids(session, managed)
        if account.id in running:
            raise Conflict(f"{account.name} runs this {self.kind} already.")
        if len(running) > MAX_CO_ORGANISERS:
            raise QuotaExceeded(f"A {self.kind} has at most {MAX_CO_ORGANISERS} co-organisers.")
        accounts.lock_present(session, account.id)
        row = {self.object_id: managed.id, "account_id": account.id, "added_at": current_time(session)}
        session.add(self.table(**row))
        managed.revision += 1
        session.flush()
        return account

    def remove(self, session: Session, managed: Any, account_id: str) -> None:
        """Take the object, which is locked, from a co-organiser. Raise ``NotFound`` if the account is none."""
        row = session.get(self.table, (managed.id, account_id))
        if row is None:
            raise NotFound("co-organiser", account_id)
        session.delete(row)
        managed.revision += 1
        session.flush()

    def hand_over(self, session: Session, managed: Any) -> bool:
        """Give the object to its first co-organiser. Return whether there is one."""
        heirs = select(self.table).where(self._is_of(managed))
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

    def _is_of(self, managed: Any) -> Any:
        return getattr(self.table, self.object_id) == managed.id
