"""Let owners who have lost all tokens recover their account, with its recovery code or the secret of a bot."""

from typing import Any

from sqlalchemy.orm import Session

from api import limits
from api.accounts.schemas import (
    FreshAccount,
    RecoveryByBot,
    RecoveryByCode,
    RecoveryChallengeView,
    RecoveryCodeView,
)
from api.auth import account, anyone, current_account, recovery_token_id, refuse_suspended
from api.extended import Extended
from api.views import Resource, current_session, database, master_key
from referee.accounts import accounts
from referee.accounts.scopes import Scope
from referee.accounts.tables import Account
from referee.errors import Forbidden
from referee.workflows.accounts import account_recovery

resource = Resource("recovery", "/api/v1/accounts", "Recovery of accounts whose tokens are lost.")


@resource.post("/me/recovery-code", account, RecoveryCodeView, secret=True, scope=Scope.ALL)
def renew_code() -> Any:
    """Make a new recovery code for your account

    The code is returned only in this response. An earlier one ends. The code ends when the token of this request is
    revoked; a token that expires makes none. The account is notified.
    """
    token_id = recovery_token_id()
    if token_id is None:
        raise Forbidden("A token that expires makes no recovery code, which would outlast it. Use one without expiry.")
    code = account_recovery.make_code(current_session(), current_account().id, token_id)
    return Extended(accounts.get_account(current_session(), current_account().id), recovery_code=code)


@resource.post("/recover", anyone, FreshAccount, body=RecoveryByCode, secret=True, transaction=None, scope=Scope.READ)
def recover(wish: dict[str, Any]) -> Any:
    """Recover an account with its recovery code

    All of its tokens end, and so does the code. The response has a new token with the scope `all`, and a new code. A
    wrong code and an unknown account get the same 403, `recovery_refused`. This POST accepts no Idempotency-Key, since
    keys belong to accounts.
    """
    limits.count_recovery(wish["account"])
    with database().write() as session:
        found = account_recovery.find_by_code(session, wish["account"], wish["recovery_code"])
        return _replace_tokens(session, found, account_recovery.BY_CODE)


@resource.post("/recovery-challenge", anyone, RecoveryChallengeView, secret=True, transaction="read", scope=Scope.READ)
def make_challenge() -> Any:
    """Get a challenge with which to prove that you have the secret of a bot

    It expires after five minutes and recovers an account at most once.
    """
    challenge, expires_at = account_recovery.make_challenge(current_session(), master_key())
    return {"challenge": challenge, "expires_at": expires_at}


@resource.post(
    "/recover-with-bot", anyone, FreshAccount, body=RecoveryByBot, secret=True, transaction=None, scope=Scope.READ
)
def recover_with_bot(wish: dict[str, Any]) -> Any:
    """Recover an account with the secret of one of its bots

    The secret itself is not sent: `proof` answers a challenge of `POST /accounts/recovery-challenge`. The bot must be
    verified, or have been verified before it was paused. Its secret must be the current one, made with a token of the
    scope `all` that never expires and was not revoked, and not older than the last recovery by other means. The account
    must not be an operator's. The effect
    is that of `POST /accounts/recover`; whatever is wrong, the response is the same 403, `recovery_refused`.
    """
    name = wish.pop("account")
    limits.count_recovery(name)
    with database().write() as session:
        found, bot = account_recovery.find_by_bot(session, name, **wish, master_key=master_key())
        return _replace_tokens(session, found, bot.id)


def _replace_tokens(session: Session, found: Account, proof: str) -> Extended:
    refuse_suspended(found)
    token, text, code = account_recovery.replace_tokens(session, found, proof)
    return Extended(found, token=Extended(token, token=text), recovery_code=code)
