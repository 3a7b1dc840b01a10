"""Represent the players of ``referee.house`` as rows of ``bots``, created when first needed.

House bots play in the runner's process and belong to a reserved account. They are never rated, but those with a
calibrated rating are anchors, against which other bots are rated.
"""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.accounts.reserved_names import HOUSE_OWNER_NAME
from referee.accounts.roles import Role
from referee.accounts.tables import Account
from referee.bots.bots import put_bot_document
from referee.bots.states import BotState, CheckState
from referee.bots.tables import Bot
from referee.db.engine import current_time, take_advisory_lock
from referee.db.ids import new_id
from referee.db.kinds import SearchKind
from referee.db.search_documents import put_document
from referee.errors import NotFound
from referee.games import catalogue
from referee.house.anchors import anchor_rating
from referee.house.players import LEVELS, SCHEME, HousePlayer, NoSuchHousePlayer, find_player, is_house
from referee.version import RELEASE

MAX_CONCURRENT_REQUESTS: Final = 1_000_000  # calls stay within the process, so they need no limit

# No valid name has this key, so no other account or bot can take it.
_OWNER_KEY: Final = SCHEME


def find_anchor(url: str, game: str, options: Mapping[str, Any], seats: int) -> int | None:
    """Return the constant rating of the bot at this address in micro-points, or None if it is no anchor there.

    ``options`` are complete. Only house players with a calibrated rating for these terms are anchors.
    """
    return anchor_rating(game, options, seats, url) if is_house(url) else None


def get_or_create_house_bot(session: Session, address: str) -> Bot:
    """Return the house bot at an address such as ``house:3``. Create it if there is none.

    Raise ``NotFound`` when there is no such player.
    """
    try:
        player = find_player(address)
    except NoSuchHousePlayer:
        raise NotFound("house player", address) from None
    bot = _find_house_bot(session, player)
    if bot is None:
        take_advisory_lock(session, "house bots")
        bot = _find_house_bot(session, player) or _create_house_bot(session, player)
    _update_house_bot(bot)
    session.flush()
    return bot


def get_or_create_house_bots(session: Session) -> list[Bot]:
    """Return the house bots of all levels, the weakest first. Create those that are missing."""
    return [get_or_create_house_bot(session, player.address()) for player in LEVELS]


def list_house_bots(session: Session) -> list[Bot]:
    """Return the existing house bots in order of their names."""
    return list(session.scalars(select(Bot).where(Bot.status == BotState.HOUSE).order_by(Bot.name)))


def _find_house_bot(session: Session, player: type[HousePlayer]) -> Bot | None:
    return session.scalar(select(Bot).where(Bot.normalized_name == player.address()))


def _create_house_bot(session: Session, player: type[HousePlayer]) -> Bot:
    bot = Bot(
        id=new_id("bot"),
        owner_id=_owner(session).id,
        name=player.full_name(),
        normalized_name=player.address(),  # no valid name has this key
        url=player.address(),
        verified_url=player.address(),
        host="",
        status=BotState.HOUSE,
        version=RELEASE,
        games=sorted(catalogue()),
        max_concurrent_requests=MAX_CONCURRENT_REQUESTS,
        created_at=current_time(session),
        handshake_state=CheckState.IDLE,
    )
    session.add(bot)
    session.flush()
    put_bot_document(session, bot)
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
        put_document(session, SearchKind.OWNER, account.id, account.name)
    return account


def _update_house_bot(bot: Bot) -> None:
    """Update the version and the games of a house bot, which change with releases."""
    if bot.version != RELEASE or bot.games != sorted(catalogue()):
        bot.version, bot.games = RELEASE, sorted(catalogue())
