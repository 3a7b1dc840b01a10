"""Claim names of accounts and bots, and decide which names none may take.

Those are the names of the house bots, of their owner and of the referee, and those that deleted objects get.
"""

from functools import cache
from typing import Final

from sqlalchemy import ColumnElement, or_, select, true
from sqlalchemy.orm import InstrumentedAttribute, Session

from referee.db import former_names
from referee.db.kinds import NamedKind
from referee.db.names import name_key, spare_key
from referee.errors import NameTaken
from referee.house.players import PLAYERS

HOUSE_OWNER_NAME: Final = "House"
SERVICE_NAME: Final = "Referee"
DELETED_ACCOUNT: Final = "deleted account"
DELETED_BOT: Final = "deleted bot"
_SHOWN_ID: Final = 8  # last characters of the id in the name of a deleted object


def claim_key(
    session: Session,
    kind: NamedKind,
    normalized_name: InstrumentedAttribute[str],
    name: str,
    *,
    owner_id: str | None,
    others: ColumnElement[bool] | None = None,
    holds_spare: ColumnElement[bool] | None = None,
) -> str:
    """Return the key of a name, which none of the ``others``, by default all, has in the column ``normalized_name``.

    Those that match ``holds_spare``, by default all, also keep the name for which they have a spare key. Raise
    ``NameTaken`` for a name that is reserved, taken, or was given up lately by others than the account ``owner_id``.
    """
    key = name_key(name)
    spare = normalized_name.startswith(spare_key(key), autoescape=True)
    taken = or_(normalized_name == key, spare if holds_spare is None else spare & holds_spare)
    same_name = select(normalized_name).where(taken, true() if others is None else others).limit(1)
    if key in reserved_names() or key.startswith(_reserved_beginnings()) or session.scalar(same_name) is not None:
        article = "An" if kind == NamedKind.ACCOUNT else "A"
        raise NameTaken(f"{article} {kind} has the name {name!r} or one that looks the same. Choose another name.")
    former_names.check_not_held(session, kind, name, owner_id)
    return key


def neutral_name(title: str, id: str) -> str:
    """Return the name of a deleted account or bot, which consists of ``title`` and the end of the id."""
    return f"{title} {id[-_SHOWN_ID:]}"


@cache
def reserved_names() -> frozenset[str]:
    """Return the keys of all reserved names. House bots and their owner are also reserved after "Referee"."""
    titles = (f"{HOUSE_OWNER_NAME} {part}" for player in PLAYERS for part in (player.key, player.title))
    names = (HOUSE_OWNER_NAME, *(player.full_name() for player in PLAYERS), *titles)
    return frozenset(map(name_key, (SERVICE_NAME, *names, *(f"{SERVICE_NAME} {name}" for name in names))))


@cache
def _reserved_beginnings() -> tuple[str, ...]:
    return name_key(DELETED_ACCOUNT), name_key(DELETED_BOT)
