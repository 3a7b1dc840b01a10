"""Decide which names no account and no bot may take.

They are the names of the house bots, of their owner and of the referee, and those that deleted objects get.
"""

from typing import Final

from referee.db.names import name_key
from referee.house.players import PLAYERS

HOUSE_OWNER_NAME: Final = "House"
SERVICE_NAME: Final = "Referee"
DELETED_ACCOUNT: Final = "deleted account"
DELETED_BOT: Final = "deleted bot"
_SHOWN_ID: Final = 8  # last characters of the id in the name of a deleted object


def is_reserved(key: str) -> bool:
    """Return whether nobody may take a name with this key."""
    return key in reserved_names() or key.startswith((name_key(DELETED_ACCOUNT), name_key(DELETED_BOT)))


def neutral_name(title: str, id: str) -> str:
    """Return the name of a deleted account or bot, which consists of ``title`` and the end of the id."""
    return f"{title} {id[-_SHOWN_ID:]}"


def reserved_names() -> set[str]:
    """Return the keys of all reserved names. House bots and their owner are also reserved after "Referee"."""
    titles = (f"{HOUSE_OWNER_NAME} {part}" for player in PLAYERS for part in (player.key, player.title))
    names = (HOUSE_OWNER_NAME, *(player.full_name() for player in PLAYERS), *titles)
    return {name_key(name) for name in (SERVICE_NAME, *names, *(f"{SERVICE_NAME} {name}" for name in names))}
