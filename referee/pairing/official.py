"""Choose the tables of an official ladder: bots that are due get opponents of other owners, or house players."""

from collections.abc import Collection, Mapping, Sequence
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
MEETING_SHARE: Final = (3, 2)  # a bot meets each other owner at most 3/2 times as often a day as an even share would be
MIN_MEETINGS: Final = 3  # of a bot and an owner that are always allowed in a day
VERSION_MATCHES: Final = 15  # that a new version of a bot plays immediately, beyond the pace of the ladder
VERSIONS_A_DAY: Final = 2  # of a bot that do so in 24 hours; if days counted, four could within hours around midnight

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
    ``matches_since_house`` those since its last one with a house player. ``owners_met_enough`` has the
    owners whose bots it may not meet again today, as ``find_owners_met_enough`` returns them.
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
    owners_met_enough: Collection[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Filler:
    """Describe a house player that may fill a table, with its rating in micro-points: a constant one of an anchor."""

    bot: str
    rating: int
    is_anchor: bool = True


@dataclass(frozen=True, slots=True)
class OfficialTable:
    """Hold the bots of a table in seat order, those of them that are not house players, and their owners."""

    seats: tuple[str, ...]
    candidates: tuple[str, ...]
    owners: tuple[str, ...]

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


def find_owners_met_enough(met: Mapping[str, int], *, daily_matches: int, seats: int, owners: int) -> frozenset[str]:
    """Return the owners whose bots a bot may not meet again today.

    ``met`` counts its meetings of the day, keyed by owner: all bots of an owner count together. Otherwise the bots of
    one owner could meet the same bot all day, and lose to it. The bot plays ``daily_matches`` a day at most, and
    ``owners`` have bots on the ladder. The limit is ``MEETING_SHARE`` times an even share of its meetings.
    """
    more, than = MEETING_SHARE
    limit = max(MIN_MEETINGS, more * daily_matches * (seats - 1) // (than * max(1, owners - 1)))
    return frozenset(owner for owner, meetings in met.items() if meetings >= limit)


def choose_tables(
    pool: Sequence[Candidate], state: OfficialState, *, want: int, draw_key: bytes, serial: str
) -> list[OfficialTable]:
    """Return at most ``want`` tables. The result depends on the arguments alone; ``serial`` varies the random choices.

    1. The first seat of a table goes to the due bot with the fewest matches, then to the one that waited longest.
    2. Each other seat goes to the cheapest bot of an owner who is not at the table, and whom the bots there may still
       meet today. The cost depends on the distance of the ratings, recent meetings and matches; bots that are due come
       before others.
    3. If the first bot met no house player in ``ANCHOR_GAP`` matches, an anchor gets the last seat.
    4. If bots are missing, house players fill the table, once the bot has waited ``PARTNER_WAIT_S`` or nobody is left
       to wait for: those within ``HOUSE_DISTANCE``. While enough owners are active, each bot meets house players in at
       most one of three matches, unless it has met the others often enough today.
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
    may_meet_house = state.may_meet_house(first.matches_since_house) or _has_met_the_others(first, free, state)
    if not state.fillers or not may_meet_house:
        return []
    members = _add_partners([first], willing, state.seats)
    everybody_sits = len(members) == state.owners and first.matches > 0
    return members if everybody_sits or first.waited_s >= PARTNER_WAIT_S else []


def _has_met_the_others(first: Candidate, free: Collection[Candidate], state: OfficialState) -> bool:
    """Return whether the bot has no full table only because it, or another bot, has met an owner often enough today."""
    return len({bot.owner for bot in free} - {first.owner}) >= state.seats - 1


def _add_partners(members: list[Candidate], free: Collection[Candidate], seats: int) -> list[Candidate]:
    members, others = list(members), free
    while len(members) < seats:
        others = [bot for bot in others if _may_meet(members[-1], bot)]
        if not others:
            break
        members.append(min(others, key=lambda bot: _cost(bot, members)))  # the first of equals, in drawn order
    return members


def _may_meet(one: Candidate, other: Candidate) -> bool:
    if one.owner == other.owner:
        return False
    return other.owner not in one.owners_met_enough and one.owner not in other.owners_met_enough


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
    owners = tuple(member.owner for member in members)
    return OfficialTable(tuple(bots[index] for index in order), tuple(member.bot for member in members), owners)
