"""Forget stored responses to requests with an idempotency key that name a deleted object.

They contain what the object's owner sent and read, such as a URL or a secret. ``api.idempotency`` writes them.
"""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from referee.db import sealing
from referee.db.idempotency import Idempotency
from referee.master_keys import key_ring


def forget_object(session: Session, account_id: str, object_id: str, *, master_key: bytes) -> None:
    """Delete the responses to this account that name the object, and those that cannot be read."""
    mine = Idempotency.account_id == account_id
    rows = session.execute(select(Idempotency.key, Idempotency.body).where(mine, Idempotency.body.is_not(None))).all()
    for key in [key for key, body in rows if _names_object(body, account_id, key, object_id, master_key)]:
        session.execute(delete(Idempotency).where(mine, Idempotency.key == key))


def forget_account(session: Session, account_id: str) -> None:
    """Delete all responses to this account."""
    session.execute(delete(Idempotency).where(Idempotency.account_id == account_id))


def _names_object(body: bytes | None, account_id: str, key: str, object_id: str, master_key: bytes) -> bool:
    try:
        packed = sealing.unseal(body or b"", key_ring=key_ring(master_key), context=("idempotency", account_id, key))
    except sealing.CannotUnseal:
        return True
    return object_id.encode() in packed
