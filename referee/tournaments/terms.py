"""Declare the terms of a tournament, each once: type, bounds, default, words, and from when it is fixed.

Columns of the table, schemas of the API, options of the command line, fields of forms and texts about a tournament
follow from these declarations. ``requested_terms`` checks that the terms of a tournament fit together.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import IntEnum, StrEnum
from functools import partial
from types import NoneType
from typing import Any, Final, get_args, get_origin, get_type_hints

from sqlalchemy import Text
from sqlalchemy.orm import Mapped, MappedColumn, mapped_column

from referee.db.base import Json, ShortString, StoredEnum, Title
from referee.db.texts import MAX_LINK_LENGTH, validate_line, validate_link
from referee.house.players import LEVELS
from referee.matches.states import DealSharing
from referee.pairing.kinds import SeatOrders, TournamentFormat
from referee.pairing.table_sizes import MAX_SEATS
from referee.tournaments.announcement import MAX_DESCRIPTION_LENGTH, validate_description
from referee.tournaments.round_times import MAX_ROUND_TIMES

MAX_LINE_LENGTH: Final = 160  # of the prizes and the contact
MAX_CYCLES: Final = 100
MAX_ROUND_MINUTES: Final = 31 * 24 * 60
NO_LIMIT: Final = 1000  # as ``bots_per_owner``: an owner may enter any number of bots
MAX_ENTRIES_BY_FORMAT: Final[Mapping[str, int]] = {
    TournamentFormat.SWISS: 10_000,
    TournamentFormat.KNOCKOUT: 1024,
    TournamentFormat.GAUNTLET: 1000,
}
DEFAULT_MAX_ENTRIES: Final = 200  # in the other formats, in which all entrants meet
MOST_ENTRIES: Final = max(MAX_ENTRIES_BY_FORMAT.values())
FORMATS: Final[Mapping[str, tuple[str, str]]] = {  # name, description
    TournamentFormat.ROUND_ROBIN: ("Round robin", "Every bot plays every other bot."),
    TournamentFormat.DOUBLE_ROUND_ROBIN: (
        "Double round robin",
        "Every bot plays every other bot twice, in reversed seats.",
    ),
    TournamentFormat.SWISS: (
        "Swiss",
        "Each round pairs bots with similar scores, avoiding repeated pairings as far as possible.",
    ),
    TournamentFormat.KNOCKOUT: ("Knockout", "Losers are eliminated."),
    TournamentFormat.GAUNTLET: ("Gauntlet", "Every bot plays one champion."),
}
SPOKEN: Final = {"starts_at": "the start time", "round_minutes": "round minutes"}  # names of terms in sentences
GAME, TABLES, PAIRING, CARDS, BOTS, TIME, ABOUT = SECTIONS = (  # parts of the form, in order
    *("What is played", "Tables and options", "Pairing", "Cards and rating", "Bots", "Time", "About the tournament"),
)


class Fixed(IntEnum):
    """Say from when a term can no longer be changed. By default, once a bot is entered or waits for an approval."""

    OPENING, ENTRIES, START, END = range(4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """Declare a term. ``name``, ``type`` and ``is_nullable`` follow from its column."""

    name: str = ""
    type: type = NoneType
    is_nullable: bool = False
    section: str
    text: str  # what it says, for everybody; names of fields and values are in backticks
    empty: str = ""  # what null stands for: "null for the limit of the format"
    api_text: str = ""  # more, for clients of the API
    view_text: str = ""  # in responses of the API
    is_required: bool = False
    default: Any = None  # if None, the default may depend on other terms
    default_text: str | None = ""  # in place of the value of the default; None: nothing is said of it
    within: tuple[int, int] = (0, 0)  # least and greatest number, or length of a text or a list
    choices: Mapping[str, str] | None = None  # the values, with their names
    check: Callable[[str], str] | None = None  # of a text: returns it in canonical form
    off: str = ""  # option of the command line against a default of true
    fixed: Fixed = Fixed.ENTRIES

    @property
    def label(self) -> str:
        """Return its name in words."""
        return self.name.replace("_", " ").capitalize()

    @property
    def takes_null(self) -> bool:
        """Return whether requests may have null in place of a value."""
        return self.is_nullable or (self.type is int and self.default is None and not self.is_required)

    def explain(self, left_out: str) -> str:
        """Return the text for people. ``left_out`` says how they give no value: "Leave this empty"."""
        text = re.sub("`([a-z_]+)`", lambda found: SPOKEN.get(found[1], found[1]), self.text)
        return f"{text} {left_out} {self.empty}." if self.empty else text

    @property
    def default_in_words(self) -> str:
        """Return the default for people, where it is not simply a value; otherwise an empty text."""
        return (self.default_text or "").replace("`", "")


def term(section: str, text: str, *, column: Any = None, **more: Any) -> MappedColumn[Any]:
    """Return the column of a term, which is declared by the fields of ``Term``."""
    declared = Term(section=section, text=text, **more)
    if declared.choices:
        first = next(iter(declared.choices))
        column = StoredEnum(type(first)) if isinstance(first, StrEnum) else ShortString
    return mapped_column(Text if declared.check else column, info={"term": declared}, default=declared.default)


def announcement_text(text: str, check: Callable[[str], str], longest: int) -> MappedColumn[Any]:
    """Return the column of a text that an organiser says about the tournament."""
    return term(ABOUT, text, check=check, within=(1, longest), fixed=Fixed.END)


class TermColumns:
    """Declare the columns of the terms of a tournament."""

    name: Mapped[str] = term(GAME, "", is_required=True, fixed=Fixed.START, column=Title)
    game: Mapped[str] = mapped_column(ShortString)
    seats: Mapped[int] = term(
        TABLES,
        "Number of seats at each table.",
        view_text="Number of seats at a full table.",
        is_required=True,
        within=(1, MAX_SEATS),
    )
    min_seats: Mapped[int] = term(
        TABLES,
        "Smallest number of seats at a table. If the bots do not fill tables of `seats`, they share tables of nearly "
        "equal sizes, of at least this, so that nobody has a bye. If it equals `seats`, all tables are full.",
        view_text="Smallest number of seats at a table; `seats` if all tables are full.",
        default_text="`seats` in round robins, and with duplicate deals except in a knockout or a gauntlet; otherwise "
        "the smallest number that the game and its options allow",
        within=(1, MAX_SEATS),
    )
    options: Mapped[Json] = term(TABLES, "Options of the game; see GET /games.", default={})
    format: Mapped[TournamentFormat] = term(
        PAIRING,
        "Format, which decides the pairings.",
        default=TournamentFormat.ROUND_ROBIN,
        choices={format: name for format, (name, _) in FORMATS.items()},
    )
    cycles: Mapped[int] = term(
        PAIRING, "How often each pairing is played, in round robins and gauntlets.", default=1, within=(1, MAX_CYCLES)
    )
    format_options: Mapped[Json] = term(  # complete, with the defaults of the format
        PAIRING,
        "Options of the format. Those left out have default values.",
        api_text="swiss: {rounds}; knockout: {seeding, advance, best_of, tie_breaks, third_place}; "
        "gauntlet: {champion}.",
        default={},
    )
    rated: Mapped[bool] = term(CARDS, "Whether results count on the ladder.", default=True, off="unrated")
    budget_ms: Mapped[int]
    bank_ms: Mapped[int]
    deal_sharing: Mapped[DealSharing] = term(
        CARDS,
        "Which matches share cards. `own`: none. `common`: all tables of a round, and no bot plays a deal twice. "
        "`duplicate`: the same bots play the same cards in other seats.",
        default_text="`common` if rated, else `own`",
        choices={kind: str(kind) for kind in DealSharing},
    )
    orders: Mapped[SeatOrders] = term(
        CARDS,
        "Orders of seats in duplicate deals. `cyclic`: each bot once in every seat. `all`: all orders.",
        default=SeatOrders.CYCLIC,
        choices={order: str(order) for order in SeatOrders},
    )
    trusted: Mapped[bool] = term(
        CARDS, "Rate duplicate deals, although a bot with a memory could recognise the cards.", default=False
    )
    max_entries: Mapped[int | None] = term(
        BOTS,
        "Largest number of entries.",
        empty="for the limit of the format",
        within=(2, MOST_ENTRIES),
        fixed=Fixed.START,
    )
    min_entries: Mapped[int | None] = term(
        BOTS,
        "Least number of entries. With fewer at `starts_at`, the tournament is cancelled; before, it cannot be "
        "started.",
        within=(2, MOST_ENTRIES),
        fixed=Fixed.START,
    )
    approval: Mapped[bool] = term(
        BOTS,
        "Whether the organiser approves each entry.",
        api_text="Owners then use `POST …/requests`.",
        view_text="Whether the organiser approves each entry.",
        default=False,
        fixed=Fixed.START,
    )
    listed: Mapped[bool] = term(
        BOTS,
        "Whether the tournament is in lists, in the search and in overviews. Otherwise it and its matches are found by "
        "their addresses only; it must be unrated.",
        default=True,
        off="unlisted",
        fixed=Fixed.OPENING,
    )
    bots_per_owner: Mapped[int] = term(
        BOTS,
        "Number of bots that an owner may enter; 1000 is no limit.",
        view_text="Number of bots that an owner may enter; 1000 is no limit.",
        default_text="1 if rated, else 1000",
        within=(1, NO_LIMIT),
        fixed=Fixed.START,
    )
    substitute: Mapped[str | None] = term(
        BOTS,
        "House player that plays, unrated, for absent bots.",
        default_text="absent bots sit out",
        choices={level.address(): f"{level.address()}, {level.title}" for level in LEVELS},
        fixed=Fixed.START,
    )
    late_entry: Mapped[bool] = term(
        BOTS,
        "Accept entries after the start. Late entries play from the next round on.",
        default=False,
        fixed=Fixed.START,
    )
    frozen_version: Mapped[bool] = term(BOTS, "Take the seats from a bot that changes its version.", default=False)
    anonymous: Mapped[bool] = term(
        BOTS,
        "Hide the players of a rated match, also from its opponents, until it is over.",
        default=True,
        off="not-anonymous",
    )
    round_minutes: Mapped[int | None] = term(
        TIME,
        "Least number of minutes from the beginning of a round to that of the next.",
        empty="to begin each round when the one before is over",
        within=(1, MAX_ROUND_MINUTES),
        fixed=Fixed.START,
    )
    round_times: Mapped[list[Any] | None] = term(  # in RFC 3339
        TIME,
        "When the rounds begin, in order, at the earliest. A Swiss with a number of `rounds` needs a time for each. "
        "Rounds after the last begin when the one before is over. Not together with `round_minutes`. In a running "
        "tournament, times of rounds that have not begun can be changed.",
        empty="for no given times",
        within=(1, MAX_ROUND_TIMES),
        fixed=Fixed.END,
    )
    entries_close_at: Mapped[datetime | None] = term(
        TIME,
        "When entries close, at the latest at `starts_at`; afterwards only the organiser enters bots.",
        default_text="at the start",
        fixed=Fixed.START,
    )
    starts_at: Mapped[datetime | None] = term(
        TIME,
        "When the tournament starts automatically.",
        empty="to start it manually",
        api_text="If there are too few bots at that time, it does not start: this becomes null, and `status_reason` "
        "says why.",
        default_text=None,
        fixed=Fixed.START,
    )
    description: Mapped[str | None] = announcement_text(
        "Text in Markdown, shown on the page of the tournament. HTML and images are not rendered.",
        validate_description,
        MAX_DESCRIPTION_LENGTH,
    )
    prizes: Mapped[str | None] = announcement_text(
        "What can be won, on one line.", partial(validate_line, "prizes", longest=MAX_LINE_LENGTH), MAX_LINE_LENGTH
    )
    contact: Mapped[str | None] = announcement_text(
        "How to reach the organiser, on one line.",
        partial(validate_line, "contact", longest=MAX_LINE_LENGTH),
        MAX_LINE_LENGTH,
    )
    link: Mapped[str | None] = announcement_text(
        "An https or http URL, such as that of the organiser's own page; shown as a link and never fetched.",
        validate_link,
        MAX_LINK_LENGTH,
    )


def _collect_terms() -> dict[str, Term]:
    found = {}
    for name, annotation in get_type_hints(TermColumns).items():
        (annotated,) = get_args(annotation)
        value_type, *rest = (
            (annotated,) if get_origin(annotated) in (dict, list) else get_args(annotated) or (annotated,)
        )
        column = vars(TermColumns).get(name)
        if column is not None and "term" in column.column.info:
            kind = get_origin(value_type) or value_type
            found[name] = replace(column.column.info["term"], name=name, type=kind, is_nullable=NoneType in rest)
    return found


TERMS: Final[Mapping[str, Term]] = _collect_terms()
ANNOUNCEMENT: Final = {name: declared.check for name, declared in TERMS.items() if declared.check}


def list_changeable(until: Fixed) -> list[str]:
    """Return the names of the terms that can be changed until then or longer."""
    return [name for name, declared in TERMS.items() if declared.fixed >= until]


def max_entries(format: str) -> int:
    """Return the largest number of entries allowed in this format."""
    return MAX_ENTRIES_BY_FORMAT.get(format, DEFAULT_MAX_ENTRIES)
