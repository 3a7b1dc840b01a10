"""Choose the tables of an official ladder: bots that are due get opponents of other owners, or house players.

``ladder`` does the same for continuous ladders of tournaments, which have a fixed number of matches in flight and no
house players.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from referee.pairing.seating import assign_seats, seat_cost
from referee.pairing.seeded_random import shuffle
from referee.ratings.elo import MICRO, PROVISIONAL_GAMES

PARTNER_WAIT_S: Final = 30.0  # how long a bot waits for bots of other owners before house players fill its table
HOUSE_GAP: Final = 2  # matches without house players after one with them, while enough other owners are active
ANCHOR_GAP: Final = 7  # matches without house players after which one gets a seat, so that ratings keep their scale
HOUSE_DISTANCE: Final = 400 * MICRO  # most by which the rating of a house player may differ from those of the bots
MIN_ACTIVE_OTHERS: Final = 2  # other owners from which on HOUSE_GAP applies, if they suffice to fill a table

# These are the costs of seating a bot. UNIT is the cost of a rating distance of SPREAD.
UNIT: Final = 1_000_000
SPREAD: Final = 200 * MICRO
MEETING_COST: Final = UNIT // 2  # of each recent meeting with a bot at the table
SETTLED_COST: Final = UNIT // 2  # of a bot that has played all provisional games; proportionally less before
EARLY_COST: Final = UNIT  # of a bot that is not due yet


@dataclass(frozen=True, slots=True)
class Candidate:
    """Describe a bot that may get a seat now. ``rating`` is in micro-points, ``waited_s`` the time without a match.

    A bot that is not ``due`` gets a seat only at the table of another. ``matches`` are those on this ladder, and
    ``matches_since_house`` those since its last one with a house player.
    """

    bot: str
    owner: str
    rating: int
    matches: int
    due: bool
    waited_s: float
    matches_since_house: int
    seat_counts: Sequence[int]
    recent_opponents: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Filler:
    """Describe a house player that may fill a table, with its rating in micro-points: a constant one of an anchor."""

    bot: str
    rating: int
    is_anchor: bool = True


@dataclass(frozen=True, slots=True)
class OfficialTable:
    """Hold the bots of a table in seat order, and which of them are not house players."""

    seats: tuple[str, ...]
    candidates: tuple[str, ...]

    @property
    def has_house(self) -> bool:
        return len(self.candidates) < len(self.seats)


@dataclass(frozen=True, slots=True)
class OfficialState:
    """Hold the terms on which the tables of a ladder depend. ``owners`` counts the owners of bots that play on it."""

    seats: int
    owners: int
    fillers: Sequence[Filler]

    @property
    def limits_house(self) -> bool:
        """Return whether enough owners are active that tables with house players are limited.

        With fewer owners than seats, every table needs a house player, and a limit would only stop the play.
        """
        return self.owners - 1 >= max(MIN_ACTIVE_OTHERS, self.seats - 1)

    @property
    def has_anchors(self) -> bool:
        return any(filler.is_anchor for filler in self.fillers)

    def may_meet_house(self, matches_since_house: int) -> bool:
        return not self.limits_house or matches_since_house >= HOUSE_GAP


def choose_tables(
    pool: Sequence[Candidate], state: OfficialState, *, want: int, draw_key: bytes, serial: str
) -> list[OfficialTable]:
    """Return at most ``want`` tables. The result depends on the arguments alone; ``serial`` varies the random choices.

    1. The first seat of a table goes to the due bot with the fewest matches, then to the one that waited longest.
    2. Each other seat goes to the cheapest bot of an owner who is not at the table. The cost depends on the distance of
       the ratings, recent meetings and matches; bots that are due come before others.
    3. If the first bot met no house player in ``ANCHOR_GAP`` matches, an anchor gets the last seat.
    4. If bots are missing, house players fill the table, once the bot has waited ``PARTNER_WAIT_S`` or nobody is left
       to wait for: those within ``HOUSE_DISTANCE``. While enough owners are active, each bot meets house players in at
       most one of three matches.
    5. Each bot gets the seat that it has had least often, as far as possible.
    """
    drawn = [pool[index] for index in shuffle(range(len(pool)), draw_key, f"official|{serial}")]
    free = {bot.bot: bot for bot in drawn}
    tables: list[OfficialTable] = []
    for first in sorted(drawn, key=lambda bot: (bot.matches, -bot.waited_s)):
        if len(tables) == want:
            break
        if first.due and first.bot in free and (members := _choose_members(first, free.values(), state)):
            for member in members:
                del free[member.bot]
            tables.append(_seat(members, state))
    return tables


def choose_fillers(bots: Sequence[Candidate], fillers: Sequence[Filler], count: int) -> list[Filler]:
    """Return ``count`` house players near the rating of the first of ``bots``, least recently met ones first.

    Their ratings differ by at most ``HOUSE_DISTANCE`` from that of each bot. If there is no such house player, it is
    the one whose greatest distance is least. A house player is repeated only if there are fewer than ``count``.
    """

    def distance(filler: Filler) -> int:
        return max(abs(filler.rating - bot.rating) for bot in bots)

    def cost(filler: Filler) -> tuple[int, str]:
        meetings = sum(bot.recent_opponents.count(filler.bot) for bot in bots)
        return abs(filler.rating - bots[0].rating) * UNIT // SPREAD + meetings * MEETING_COST, filler.bot

    near = [filler for filler in fillers if distance(filler) <= HOUSE_DISTANCE]
    nearest = sorted(near or sorted(fillers, key=distance)[:1], key=cost)
    return [nearest[index % len(nearest)] for index in range(count)] if nearest else []


def _choose_members(first: Candidate, free: Collection[Candidate], state: OfficialState) -> list[Candidate]:
    """Return the bots of a table with ``first``, or [] if it has to wait."""
    willing = [bot for bot in free if state.may_meet_house(bot.matches_since_house)]
    if state.has_anchors and first.matches_since_house >= ANCHOR_GAP:
        members = _add_partners([first], willing, state.seats - 1)
        if len(members) == state.seats - 1:
            return members
    members = _add_partners([first], free, state.seats)
    if len(members) == state.seats:
        return members
    if not state.fillers or not state.may_meet_house(first.matches_since_house):
        return []
    members = _add_partners([first], willing, state.seats)
    everybody_sits = len(members) == state.owners and first.matches > 0
    return members if everybody_sits or first.waited_s >= PARTNER_WAIT_S else []


def _add_partners(members: list[Candidate], free: Collection[Candidate], seats: int) -> list[Candidate]:
    members = list(members)
    while len(members) < seats:
        owners = {member.owner for member in members}
        others = [bot for bot in free if bot.owner not in owners]
        if not others:
            break
        members.append(min(others, key=lambda bot: _cost(bot, members)))  # the first of equals, in drawn order
    return members


def _cost(bot: Candidate, members: Sequence[Candidate]) -> int:
    """Return the cost of seating ``bot`` with ``members``, the first of whom the table is made for."""
    distance = abs(bot.rating - members[0].rating) * UNIT // SPREAD
    meetings = sum(member.recent_opponents.count(bot.bot) for member in members) * MEETING_COST
    settled = min(bot.matches, PROVISIONAL_GAMES) * SETTLED_COST // PROVISIONAL_GAMES
    return distance + meetings + settled + (0 if bot.due else EARLY_COST)


def _seat(members: Sequence[Candidate], state: OfficialState) -> OfficialTable:
    fillers = choose_fillers(members, state.fillers, state.seats - len(members))
    bots = [*(member.bot for member in members), *(filler.bot for filler in fillers)]
    costs = [[seat_cost(times) for times in member.seat_counts] for member in members]
    order = assign_seats(costs + [[0] * state.seats] * len(fillers))
    return OfficialTable(tuple(bots[index] for index in order), tuple(member.bot for member in members))
