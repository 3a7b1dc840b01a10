"""Define what pictures show. Everything in these objects is public; equal contents are drawn alike."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

WIDTH: Final = 1200  # of a picture, in pixels
HEIGHT: Final = 630
DRAWING_VERSION: Final = 1  # raise it when pictures are drawn in another way, so that stored ones are drawn again


@dataclass(frozen=True, slots=True)
class Player:
    """Represent a bot beside its emblem. Both are None for a seat whose bot is not public yet.

    A name without a bot, such as that of a ladder, has no emblem.
    """

    bot_id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """Represent a player with the texts before and after their name, such as a placement and a score.

    ``note`` is shown in smaller letters after ``value``.
    """

    player: Player
    before: str = ""
    value: str = ""
    note: str = ""
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class PictureContent:
    """Describe a picture: its heading, lines below it, and rows of players.

    ``label`` names the kind of page and its state. ``subject`` is drawn instead of ``title`` if the fonts lack a
    character of the title. ``emblem_of`` is the bot whose emblem stands beside the title. ``remark`` is shown when
    there are no rows. ``is_settled`` means that the content rarely changes from now on.
    """

    label: str
    title: str
    subject: str
    lines: Sequence[str] = ()
    rows: Sequence[Row] = ()
    emblem_of: str | None = None
    remark: str = ""
    is_live: bool = False
    is_settled: bool = False

    def digest(self) -> str:
        """Return a digest that differs for contents that are drawn differently."""
        text = json.dumps([DRAWING_VERSION, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()
