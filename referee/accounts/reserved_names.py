"""List the names that no account and no bot may take: those of the house bots, of their owner and of the referee."""

from typing import Final

from referee.db.names import name_key
from referee.house.strategies import players

HOUSE_OWNER_NAME: Final = "House"
SERVICE_NAME: Final = "Referee"


def reserved_names() -> set[str]:
    """Return the keys of all reserved names. House bots and their owner are also reserved after "Referee"."""
    names = (HOUSE_OWNER_NAME, *map(house_bot_name, players()))
    return {name_key(name) for name in (SERVICE_NAME, *names, *(f"{SERVICE_NAME} {name}" for name in names))}


def house_bot_name(name: str) -> str:
    """Return the name of the house bot that plays with the strategy ``name``."""
    return f"{HOUSE_OWNER_NAME} {name}"
