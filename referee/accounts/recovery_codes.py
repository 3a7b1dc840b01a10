"""Make and compare recovery codes. An account has at most one; with it, its owner gets a new token."""

import hmac
from typing import Final

from sqlalchemy.orm import Session

from referee.accounts.accounts import digest_secret, get_account, lock_present, new_secret_text
from referee.accounts.tables import Account
from referee.db.engine import current_time

CODE_PREFIX: Final = "rcv_"
_DIGEST_OF_NONE: Final = "0" * 64  # compared if there is no code, so that this takes as long


def renew_code(session: Session, account_id: str, token_id: str | None = None) -> str:
    """Give the account a new recovery code, which replaces an earlier one and ends when this token is revoked.

    Return its text, which is not stored, so the caller must show it now. Raise ``NotFound`` if there is no such
    account, and ``Conflict`` if it is deleted.
    """
    lock_present(session, account_id)
    account = get_account(session, account_id)
    text = new_secret_text(CODE_PREFIX)
    account.recovery_sha256, account.recovery_code_created_at = digest_secret(text), current_time(session)
    account.recovery_token_id = token_id
    return text


def is_code_of(account: Account | None, text: str) -> bool:
    """Return whether ``text`` is the recovery code of the account."""
    stored = None if account is None else account.recovery_sha256
    return hmac.compare_digest(digest_secret(text), stored or _DIGEST_OF_NONE) and stored is not None
