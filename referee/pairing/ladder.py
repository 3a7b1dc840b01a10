"""Choose the tables of a continuous ladder while it runs.

The scheduler keeps matches in flight, and ``ladders`` changes the ratings.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any, Final

from referee.errors import BadOption
from referee.pairing.kinds import TournamentFormat
from referee.pairing.model import Entrant, Json, Leg, MatchesPerLeg, PairingInput, PairingRound, Table, one_match
from referee.pairing.options import read_int, refuse_unknown
from referee.pairing.seating import assign_seats, seat_cost
from referee.pairing.seeded_random import shuffle
from referee.ratings.elo import MICRO, PROVISIONAL_GAMES

MAX_IN_FLIGHT, MAX_PER_BOT, MAX_SPREAD = 1_000, 100, 1_000
MAX_CANDIDATES: Final = 24  # per seat, nearest in rating
MAX_CANDIDATES_OF_OWNER: Final = 3
MAX_SCANNED: Final = 400  # players scanned for these candidates; after that, only until one is found

# These are the costs of seating a player. UNIT is the cost of a rating distance equal to the option ``spread``.
UNIT: Final = 1_000_000
MEETING_COST: Final = UNIT  # of each recent meeting with a player at the table, divided by the player's mean
SETTLED_COST: Final = UNIT // 2  # of a player who has played all provisional games; proportionally less before
BOT_SURPLUS_COST: Final = UNIT // 4  # of each match above the mean of the owner's bots (below: a discount) …
MAX_BOT_SURPLUS_COST: Final = 6 * UNIT  # … up to this in both directions
OWNER_SURPLUS_COST: Final = UNIT // 4  # of each match of the owner above the mean of all owners …
MAX_OWNER_SURPLUS_COST: Final = 8 * UNIT  # … up to this in both directions
EVEN_MATCHES: Final = 16  # owners within this many matches of the mean take turns at random


class LadderFormat:
    """Define a format without rounds: ``next_tables`` chooses tables until the organiser ends the tournament.

    Options (``format_options``): ``at_once``, the number of matches kept in flight (default 20); ``per_bot``, how many
    of them one bot may play (default 1); ``spread``, the rating difference that counts as much as one recent meeting
    (default 200 points). A match is the only leg of its table.
    """

    name = TournamentFormat.LADDER
    takes_late_entries = True
    static = False

    def options(self, given: Mapping[str, Any], seats: int) -> Json:
        refuse_unknown(given, "at_once", "per_bot", "spread")
        return {
            "at_once": read_int(given, "at_once", 1, MAX_IN_FLIGHT) or 20,
            "per_bot": read_int(given, "per_bot", 1, MAX_PER_BOT) or 1,
            "spread": read_int(given, "spread", 1, MAX_SPREAD) or 200,
        }

    def check(self, entrants: int, seats: int, options: Mapping[str, Any], cycles: int, min_seats: int = 0) -> None:
        """Accept any number of entrants: a ladder waits until bots of enough owners have entered to fill a table."""
        if cycles != 1:
            raise BadOption("cycles", "must be 1: a ladder continues until its organiser ends it")

    def expected_matches(self, tournament: PairingInput, matches_per_leg: MatchesPerLeg = one_match) -> int:
        return 0

    def next_round(self, tournament: PairingInput) -> PairingRound | None:
        return None

    def more_legs(self, tournament: PairingInput, table: Table, legs: Sequence[Leg]) -> int:
        return 0


@dataclass(frozen=True, slots=True)
class LadderState:
    """Hold the data, other than the entrants, on which the next tables depend. Mappings are keyed by entrant id."""

    seats: int
    options: Mapping[str, Any]
    busy: Mapping[str, int] = field(default_factory=dict)  # matches in flight
    met: Mapping[frozenset[str], int] = field(default_factory=dict)  # recent meetings of a pair
    seat_counts: Mapping[str, Sequence[int]] = field(default_factory=dict)  # matches by seat


def next_tables(
    entrants: Sequence[Entrant], ladder: LadderState, *, want: int, draw_key: bytes, serial: int
) -> list[tuple[str, ...]]:
    """Return at most ``want`` tables, each with its entrant ids in seat order.

    Return fewer if the limit ``at_once`` is reached or too few players are free. The member ``games`` of an entrant is
    the number of all its matches so far. ``serial``, for example the number of the next match, makes the random choices
    of one call differ from those of another; the result depends on the arguments alone.

    1. No bot plays more than ``per_bot`` matches, and no two bots of one owner share a table.
    2. Owners share the seats in flight as ``max_seats_per_owner`` describes.
    3. The first seat of a table goes to the owner with the fewest seats in flight, then with the fewest matches (at
       random within ``EVEN_MATCHES`` of the mean), and to this owner's bot with the fewest games. So a new bot plays
       as soon as its owner's turn comes.
    4. Each other seat goes to the cheapest of the nearest players in rating, where the cost depends on the distance,
       recent meetings, games, and the surplus of matches of the bot and of its owner. Ties are broken at random.
    5. Each player gets the seat that it has had least often, as far as possible.
    """
    drawn = shuffle(range(len(entrants)), draw_key, f"ladder|{serial}")
    matchmaker = _Matchmaker(entrants, ladder, drawn)
    want = min(want, ladder.options["at_once"] - sum(ladder.busy.values()) // ladder.seats)
    never = [0] * ladder.seats
    tables: list[tuple[str, ...]] = []
    while len(tables) < want and (members := matchmaker.next_table()):
        ids = [player.entrant.id for player in members]
        order = assign_seats([[seat_cost(times) for times in ladder.seat_counts.get(id, never)] for id in ids])
        tables.append(tuple(ids[index] for index in order))
    return tables


def max_seats_per_owner(bots: Sequence[int], at_once: int, per_bot: int, seats: int) -> int:
    """Return how many seats in flight one owner may have.

    ``bots`` has the number of bots of each owner, and ``at_once``, ``per_bot`` and ``seats`` are those of the ladder.
    This is max-min fairness: all owners may have equally many seats, and seats that owners of few bots cannot use go to
    the others. The limit is rounded up to whole seats. An owner never has more than one seat at a table.
    """
    capacity = [min(count * per_bot, at_once) for count in bots]
    low, high = 1, at_once
    while low < high:
        limit = (low + high) // 2
        enough = sum(min(most, limit) for most in capacity) >= at_once * seats
        low, high = (low, limit) if enough else (limit + 1, high)
    return low


@dataclass(slots=True, eq=False)
class _Owner:
    """Represent an owner, or a bot without an owner, with its active bots."""

    bots: list["_Player"] = field(default_factory=list)
    in_flight: int = 0  # seats in open matches
    matches: int = 0  # of all bots, including those in flight
    queue: list[tuple[int, int, int]] = field(default_factory=list)  # heap of (games, tie_break, number) of bots


@dataclass(slots=True, eq=False)
class _Player:
    """Represent an entrant. ``number`` is its position, from 0, in ascending order of rating."""

    number: int
    entrant: Entrant
    owner: _Owner
    tie_break: int
    in_flight: int
    games: int  # including those in flight


class _FreePlayers:
    """Hold the players who may join a table, as a doubly linked list of player numbers in order of rating."""

    def __init__(self, is_free: list[bool]) -> None:
        self.is_free = is_free
        self._before, self._after = list(range(-1, len(is_free) - 1)), list(range(1, len(is_free) + 1))
        for number, free in enumerate(is_free):
            if not free:
                self._unlink(number)

    def remove(self, number: int) -> None:
        self.is_free[number] = False
        self._unlink(number)

    def iterate_nearest(self, first: int, ratings: Sequence[int]) -> Iterator[int]:
        """Yield the numbers of the other free players, starting with the nearest in rating to ``first``."""
        down, up = self._before[first], self._after[first]
        while down >= 0 or up < len(ratings):
            if up == len(ratings) or (down >= 0 and ratings[first] - ratings[down] <= ratings[up] - ratings[first]):
                yield down
                down = self._before[down]
            else:
                yield up
                up = self._after[up]

    def _unlink(self, number: int) -> None:
        """Remove a player from the list.

        Keep the player's own links, so that ``iterate_nearest`` can still start there.
        """
        before, after = self._before[number], self._after[number]
        if before >= 0:
            self._after[before] = after
        if after < len(self.is_free):
            self._before[after] = before


class _Matchmaker:
    """Choose the members of tables, one table after the other."""

    def __init__(self, entrants: Sequence[Entrant], ladder: LadderState, drawn: Sequence[int]) -> None:
        self.seats, self.met = ladder.seats, ladder.met
        self.per_bot: int = ladder.options["per_bot"]
        self.spread_micro: int = ladder.options["spread"] * MICRO
        self.players = _rank_players(entrants, ladder.busy, drawn)
        self.ratings = [player.entrant.rating for player in self.players]
        self.owners = list(dict.fromkeys(player.owner for player in self.players if player.entrant.active))
        self.mean_matches = sum(owner.matches for owner in self.owners) // max(1, len(self.owners))
        bots = [len(owner.bots) for owner in self.owners]
        self.seat_limit = max_seats_per_owner(bots, ladder.options["at_once"], self.per_bot, self.seats)
        self.meetings: Counter[str] = Counter()
        for pair, times in self.met.items():
            self.meetings.update(dict.fromkeys(pair, times))
        self.free = _FreePlayers([player.entrant.active and self._may_play(player) for player in self.players])
        for owner in self.owners:
            owner.queue = [(bot.games, bot.tie_break, bot.number) for bot in owner.bots]
            heapify(owner.queue)
        self.turns = [(*self._turn(owner), owner.queue[0][1], owner) for owner in self.owners]
        heapify(self.turns)

    def next_table(self) -> list[_Player]:
        """Return the members of the next table and count them as busy, or return [] if there is none."""
        while self.turns:
            *turn, tie_break, owner = heappop(self.turns)
            if (*turn,) != self._turn(owner):
                heappush(self.turns, (*self._turn(owner), tie_break, owner))
                continue
            first = self._next_bot(owner)
            # An owner for whom no table is found now gets none later, because free players only become fewer.
            if first is not None and (members := self._fill_table(first)):
                for member in members:
                    self._mark_busy(member)
                heappush(self.turns, (*self._turn(owner), tie_break, owner))
                return members
        return []

    def _turn(self, owner: _Owner) -> tuple[int, int]:
        """Return the owner's priority for the first seat of a table. The owner with the lowest value comes first."""
        return owner.in_flight, (owner.matches - self.mean_matches + EVEN_MATCHES) // (2 * EVEN_MATCHES + 1)

    def _may_play(self, player: _Player) -> bool:
        return player.in_flight < self.per_bot and player.owner.in_flight < self.seat_limit

    def _next_bot(self, owner: _Owner) -> _Player | None:
        """Return the owner's free bot with the fewest games, or None if no bot is free."""
        while owner.queue:
            games, tie_break, number = heappop(owner.queue)
            if self.free.is_free[number]:
                bot = self.players[number]
                heappush(owner.queue, (bot.games, tie_break, number))
                if games == bot.games:
                    return bot
        return None

    def _fill_table(self, first: _Player) -> list[_Player]:
        """Return the members of a table with ``first``, or [] if there are too few candidates."""
        members = [first]
        while len(members) < self.seats:
            candidates = self._candidates(first, {member.owner for member in members})
            if not candidates:
                return []
            members.append(min(candidates, key=lambda player: (self._cost(player, members), player.tie_break)))
        return members

    def _candidates(self, first: _Player, seated_owners: set[_Owner]) -> list[_Player]:
        """Return the free players nearest in rating to ``first`` whose owners are not seated at the table.

        For each owner, include at most ``MAX_CANDIDATES_OF_OWNER`` and, in addition, the bot with the fewest games.
        """
        candidates: list[_Player] = []
        per_owner: Counter[_Owner] = Counter()
        for scanned, number in enumerate(self.free.iterate_nearest(first.number, self.ratings)):
            if len(candidates) >= MAX_CANDIDATES or (scanned >= MAX_SCANNED and candidates):
                break
            player = self.players[number]
            owner = player.owner
            if owner not in seated_owners and per_owner[owner] < MAX_CANDIDATES_OF_OWNER:
                if not per_owner[owner] and (bot := self._next_bot(owner)) is not None:
                    candidates.append(bot)
                per_owner[owner] += 1
                candidates.append(player)
        return candidates

    def _cost(self, player: _Player, members: Sequence[_Player]) -> int:
        """Return the cost of seating ``player`` with ``members``.

        A rating distance of one ``spread`` costs ``UNIT``.
        """
        distance = abs(player.entrant.rating - members[0].entrant.rating) * UNIT // self.spread_micro
        meetings = sum(
            self.met.get(frozenset((player.entrant.id, member.entrant.id)), 0)
            * MEETING_COST
            // self._usual_meetings(member)
            for member in members
        )
        settled = min(player.games, PROVISIONAL_GAMES) * SETTLED_COST // PROVISIONAL_GAMES
        owner = player.owner
        bot_surplus = (player.games - owner.matches // len(owner.bots)) * BOT_SURPLUS_COST
        owner_surplus = (owner.matches - self.mean_matches) * OWNER_SURPLUS_COST
        return (
            distance
            + meetings
            + settled
            + max(-MAX_BOT_SURPLUS_COST, min(bot_surplus, MAX_BOT_SURPLUS_COST))
            + max(-MAX_OWNER_SURPLUS_COST, min(owner_surplus, MAX_OWNER_SURPLUS_COST))
        )

    def _usual_meetings(self, player: _Player) -> int:
        """Return the player's mean number of recent meetings with another player, at least 1.

        Dividing by this number keeps ratings decisive in small ladders, where everyone has met often.
        """
        return max(1, self.meetings[player.entrant.id] // max(1, len(self.players) - 1))

    def _mark_busy(self, player: _Player) -> None:
        owner = player.owner
        player.in_flight += 1
        player.games += 1
        owner.in_flight += 1
        owner.matches += 1
        affected = [player] if owner.in_flight < self.seat_limit else owner.bots
        for bot in affected:
            if self.free.is_free[bot.number] and not self._may_play(bot):
                self.free.remove(bot.number)


def _rank_players(entrants: Sequence[Entrant], busy: Mapping[str, int], drawn: Sequence[int]) -> list[_Player]:
    """Return the players in ascending order of rating, and register the active ones with their owners.

    Equal ratings are in the order of ``drawn``.
    """
    tie_break = {index: position for position, index in enumerate(drawn)}
    owners: dict[tuple[str, str], _Owner] = {}
    players: list[_Player] = []
    for number, index in enumerate(sorted(drawn, key=lambda index: entrants[index].rating)):
        entrant = entrants[index]
        owner = owners.setdefault((entrant.owner, "") if entrant.owner else ("", entrant.id), _Owner())
        in_flight = busy.get(entrant.id, 0)
        player = _Player(number, entrant, owner, tie_break[index], in_flight, entrant.games + in_flight)
        owner.in_flight += in_flight
        owner.matches += player.games
        if entrant.active:
            owner.bots.append(player)
        players.append(player)
    return players
