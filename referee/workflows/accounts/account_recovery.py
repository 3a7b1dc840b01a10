"""Give a new token to owners who have lost theirs, if they have the recovery code or the secret of one of their bots.

The secret of a bot counts if the bot was verified, and if the token to which the secret was shown has the scope
``all``, never expires and was not revoked: otherwise a token for playing could become one for everything, and a stolen
one a hold on the account that its owner cannot end. The same holds for a recovery code. A secret ends when it is
rotated, since it may have leaked; the previous one still signs calls for a day, but recovers nothing. Secrets of an
operator's bots recover nothing either, because the host of such a bot would hold the service; `referee admin token` is
for operators.
"""

import hmac
import secrets
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from referee.accounts import accounts, recovery_codes
from referee.accounts.roles import Role
from referee.accounts.tables import Account, Token
from referee.bots.states import PROVEN
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.db.names import name_key
from referee.db.reporting import notify
from referee.errors import NotFound, RecoveryRefused
from referee.events import AccountRecovered, RecoveryCodeMade
from referee.master_keys import key_ring
from referee.protocol.signing import bot_secrets, recovery_proof

CHALLENGE_LIFETIME: Final = timedelta(minutes=5)
BY_CODE: Final = "recovery_code"  # how an account was recovered; otherwise the id of the bot
TOKEN_NAME: Final = "recovered"  # noqa: S105  # a name, not a token
REFUSED_CODE: Final = "The account was not recovered: its name or id or the recovery code is wrong, or has ended."
REFUSED_PROOF: Final = (
    "The account was not recovered: its name or id, the bot or the proof is wrong, the challenge was used or has "
    "expired, or this bot cannot recover it."
)


def make_challenge(session: Session, master_key: bytes) -> tuple[str, datetime]:
    """Return a new challenge and when it expires. It is for any account and not stored: its end proves that we made it.

    Nothing is looked up, so a challenge tells nothing about an account, and strangers fill no table.
    """
    moment = current_time(session)
    content = f"{_milliseconds(moment)}.{secrets.token_hex(16)}"
    return f"{content}.{_seal(master_key, content)}", moment + CHALLENGE_LIFETIME


def make_code(session: Session, account_id: str, token_id: str) -> str:
    """Return a new recovery code, which ends when this token is revoked. Notify the owner: a thief may have made it."""
    code = recovery_codes.renew_code(session, account_id, token_id)
    made = {"account": account_id, "token": token_id, "at": current_time(session)}
    notify(session, RecoveryCodeMade(accounts=[account_id], **made))
    return code


def find_by_code(session: Session, name: str, code: str) -> Account:
    """Lock and return the account with this id or name. Raise ``RecoveryRefused`` unless this is its recovery code."""
    account = _lock(session, name)
    if not recovery_codes.is_code_of(account, code) or account is None:
        raise RecoveryRefused(REFUSED_CODE)
    return account


def find_by_bot(
    session: Session, name: str, bot: str, *, challenge: str, proof: str, master_key: bytes
) -> tuple[Account, Bot]:
    """Lock and return the account with this id or name, and its bot with this id or name.

    Raise ``RecoveryRefused`` unless the bot was verified and its secret may recover the account, ``proof`` answers the
    challenge with this secret, and the account was not recovered since the challenge was made, which is then used up.
    """
    account = _lock(session, name)
    owned = Bot.owner_id == ("" if account is None else account.id)
    found = session.scalar(select(Bot).where(owned, or_(Bot.id == bot, Bot.normalized_name == name_key(bot))).limit(1))
    is_proven = _is_proof(found, challenge, proof, master_key)
    made_at = _made_at(challenge, current_time(session), master_key)
    if (
        account is None
        or found is None
        or made_at is None
        or not is_proven
        or not _may_recover(session, account, found)
    ):
        raise RecoveryRefused(REFUSED_PROOF)
    if account.recovered_at is not None and made_at <= account.recovered_at:
        raise RecoveryRefused(REFUSED_PROOF)
    return account, found


def replace_tokens(session: Session, account: Account, proof: str) -> tuple[Token, str, str]:
    """End all tokens of the account, its code and its challenges. Return a new token, its text, and a new code.

    ``proof`` is ``BY_CODE`` or the id of the bot whose secret recovered the account; its owner is notified. Secrets of
    other bots may recover it again once they were rotated: somebody who had a token may have made them.
    """
    moment = current_time(session)
    accounts.revoke_all_tokens(session, account.id)
    account.recovered_at = moment
    code = recovery_codes.renew_code(session, account.id)
    token, text = accounts.create_token(session, account.id, TOKEN_NAME)
    proven = update(Bot).where(Bot.owner_id == account.id, Bot.id == proof)
    session.execute(proven.values(recovery_token_id=token.id))
    notify(session, AccountRecovered(accounts=[account.id], account=account.id, proof=proof, at=moment))
    return token, text, code


def _lock(session: Session, name: str) -> Account | None:
    try:
        return accounts.find_by_id_or_name(session, name, lock=True)
    except NotFound:
        return None


def _may_recover(session: Session, account: Account, bot: Bot) -> bool:
    was_verified = bot.status in PROVEN and bot.verified_url is not None
    token_id = bot.recovery_token_id
    revoked_at = session.scalar(select(Token.revoked_at).where(Token.id == token_id))
    has_token = token_id is not None and revoked_at is None
    return was_verified and has_token and account.role != Role.ADMIN


def _is_proof(bot: Bot | None, challenge: str, proof: str, master_key: bytes) -> bool:
    """Compare the proof with those of the bot's secret, or without a bot with others, which takes as long."""
    bot_id, generation = ("", 0) if bot is None else (bot.id, bot.secret_generation)
    expected = [recovery_proof(secret, challenge) for secret in bot_secrets(master_key, bot_id, [generation])]
    return any(hmac.compare_digest(each, proof) for each in expected)


def _made_at(challenge: str, now: datetime, master_key: bytes) -> datetime | None:
    """Return when we made this challenge, or None if we did not or it has expired."""
    content, _, seal = challenge.rpartition(".")
    if not any(hmac.compare_digest(_seal(key, content), seal) for key in key_ring(master_key)):
        return None
    made_at = datetime.fromtimestamp(int(content.partition(".")[0]) / 1000, UTC)
    return made_at if now - made_at < CHALLENGE_LIFETIME else None


def _seal(master_key: bytes, content: str) -> str:
    return hmac.digest(master_key, f"referee/account-recovery|{content}".encode(), "sha256").hex()


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
