"""Represent the strategies of ``referee.house`` as rows of ``bots``, created when first needed.

House bots play in the runner's process, belong to a reserved account and are never rated.
"""

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee import __version__
from referee.accounts.reserved_names import HOUSE_OWNER_NAME, house_bot_name
from referee.accounts.roles import Role
from referee.accounts.tables import Account
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.db.engine import current_time, take_advisory_lock
from referee.db.ids import new_id
from referee.errors import NotFound
from referee.games import catalogue
from referee.house.strategies import players

SCHEME: Final = "house:"  # scheme of their addresses; the address guard refuses it in registrations
MAX_CONCURRENT_REQUESTS: Final = 1_000_000  # calls stay within the process, so they need no limit

# No valid name has this key, so no other account or bot can take it.
_OWNER_KEY: Final = SCHEME


def is_house(url: str) -> bool:
    """Return whether the bot at this address plays in this process."""
    return url.startswith(SCHEME)


def player_name(url: str) -> str:
    """Return the name of the house player at this address: ``sound`` for ``house:sound``."""
    return url.removeprefix(SCHEME)


def get_or_create_house_bot(session: Session, name: str) -> Bot:
    """Return the house bot that plays as ``random``, ``first`` or ``sound``. Create it if there is none.

    Raise ``NotFound`` when there is no such player.
    """
    if name not in players():
        raise NotFound("house player", name)
    bot = _find_house_bot(session, name)
    if bot is None:
        take_advisory_lock(session, "house bots")
        bot = _find_house_bot(session, name) or _create_house_bot(session, name)
    _update_house_bot(bot)
    session.flush()
    return bot


def get_or_create_house_bots(session: Session) -> list[Bot]:
    """Return all house bots in order of their names. Create those that are missing."""
    return [get_or_create_house_bot(session, name) for name in sorted(players())]


def list_house_bots(session: Session) -> list[Bot]:
    """Return the existing house bots in order of their names."""
    return list(session.scalars(select(Bot).where(Bot.status == BotState.HOUSE).order_by(Bot.name)))


def resolve_bot_ids(session: Session, bot_ids: list[str]) -> list[str]:
    """Return these ids of bots, with addresses of house bots (``house:sound``) replaced by their ids."""
    return [
        get_or_create_house_bot(session, player_name(bot_id)).id if is_house(bot_id) else bot_id for bot_id in bot_ids
    ]


def _find_house_bot(session: Session, name: str) -> Bot | None:
    return session.scalar(select(Bot).where(Bot.normalized_name == SCHEME + name))


def _create_house_bot(session: Session, name: str) -> Bot:
    bot = Bot(
        id=new_id("bot"),
        owner_id=_owner(session).id,
        name=house_bot_name(name),
        normalized_name=SCHEME + name,
        url=SCHEME + name,
        verified_url=SCHEME + name,
        host="",
        status=BotState.HOUSE,
        version=__version__,
        games=sorted(catalogue()),
        max_concurrent_requests=MAX_CONCURRENT_REQUESTS,
        secret_generation=1,
        revision=1,
        created_at=current_time(session),
        handshake_state="idle",
        epoch=0,
        handshake_lost_claims=0,
    )
    session.add(bot)
    return bot


def _owner(session: Session) -> Account:
    account = session.scalar(select(Account).where(Account.normalized_name == _OWNER_KEY))
    if account is None:
        account = Account(
            id=new_id("account"),
            name=HOUSE_OWNER_NAME,
            normalized_name=_OWNER_KEY,
            role=Role.OWNER,
            created_at=current_time(session),
        )
        session.add(account)
        session.flush()
    return account


def _update_house_bot(bot: Bot) -> None:
    """Update the version and the games of a house bot, which change with releases."""
    if bot.version != __version__ or bot.games != sorted(catalogue()):
        bot.version, bot.games = __version__, sorted(catalogue())
