"""List the names that no account and no bot may take: those of the house bots, of their owner and of the referee."""

from typing import Final

from referee.db.names import name_key
from referee.house.players import PLAYERS

HOUSE_OWNER_NAME: Final = "House"
SERVICE_NAME: Final = "Referee"


def reserved_names() -> set[str]:
    """Return the keys of all reserved names. House bots and their owner are also reserved after "Referee"."""
    titles = (f"{HOUSE_OWNER_NAME} {part}" for player in PLAYERS for part in (player.key, player.title))
    names = (HOUSE_OWNER_NAME, *(player.full_name() for player in PLAYERS), *titles)
    return {name_key(name) for name in (SERVICE_NAME, *names, *(f"{SERVICE_NAME} {name}" for name in names))}
