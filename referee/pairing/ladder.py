"""The continuous ladder: who plays whom next, for as long as it stays open. Keeping matches in flight is the
scheduler's; how results move ratings is theirs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, Final

from referee.errors import BadOption
from referee.pairing.model import Entrant, Json, Leg, PairingRound, Table, TournamentState
from referee.pairing.options import read_int, refuse_unknown
from referee.pairing.seating import assign_seats, seat_cost
from referee.pairing.seeded_random import shuffle
from referee.ratings.elo import MICRO, PROVISIONAL_GAMES

MAX_AT_ONCE, MAX_PER_BOT, MAX_SPREAD = 1_000, 100, 1_000
NEAR: Final = 24  # candidates looked at for a seat: the nearest in rating that may take it
OF_ONE_OWNER: Final = 3  # … of one owner
REACH: Final = 400  # … among so many, or as far as it takes to find one

# What it costs to seat somebody, in units of one `spread` of distance in rating.
UNIT: Final = 1_000_000
MET: Final = UNIT  # a recent meeting with somebody at the table; where all have met often, as many as is usual
SETTLED: Final = UNIT // 2  # a bot that has all its provisional games behind it; in proportion before
AHEAD: Final = UNIT // 4  # each match that a bot has had more than the bots of its owner in the mean …
MOST_AHEAD: Final = 6 * UNIT  # … but never more than this, nor less than the same below zero
SURPLUS: Final = UNIT // 4  # each match that its owner has had more than owners have in the mean …
MOST_SURPLUS: Final = 8 * UNIT  # … but never more than this, nor less than the same below zero
EVEN: Final = 16  # owners that differ from the mean by no more matches than this begin tables by lot


class LadderFormat:
    """No stages: ``next_tables`` decides a few tables at a time while the event runs, until the organiser ends it.

    Options (``format_options``): ``at_once``, how many matches are kept in flight (20); ``per_bot``, how many of
    them one bot may sit in (1); ``spread``, the distance in rating points that counts as much as one recent meeting
    (200). ``next_stage`` never has any, nothing is planned, and a match is a table's only leg.
    """

    name = "ladder"
    takes_late_entries = True
    static = False

    def options(self, given: Mapping[str, Any], seats: int) -> Json:
        refuse_unknown(given, "at_once", "per_bot", "spread")
        return {
            "at_once": read_int(given, "at_once", 1, MAX_AT_ONCE) or 20,
            "per_bot": read_int(given, "per_bot", 1, MAX_PER_BOT) or 1,
            "spread": read_int(given, "spread", 1, MAX_SPREAD) or 200,
        }

    def check(self, entrants: int, seats: int, options: Mapping[str, Any], cycles: int) -> None:
        """A ladder may open with anybody: it waits until there are bots of as many owners as a table seats."""
        if cycles != 1:
            raise BadOption("cycles", "must be 1: a ladder goes on until it is ended")

    def expected_matches(self, event: TournamentState) -> int:
        return 0

    def next_stage(self, event: TournamentState) -> PairingRound | None:
        return None

    def more_legs(self, event: TournamentState, table: Table, legs: Sequence[Leg]) -> int:
        return 0


def next_tables(
    entrants: Sequence[Entrant],
    *,
    seats: int,
    options: Mapping[str, Any],
    want: int,
    draw: bytes,
    serial: int,
    busy: Mapping[str, int] | None = None,
    met: Mapping[frozenset[str], int] | None = None,
    sat: Mapping[str, Sequence[int]] | None = None,
) -> list[tuple[str, ...]]:
    """At most ``want`` tables, entrants by seat; fewer where ``at_once`` are in flight or nobody is left who may play.

    ``busy`` are the matches each entrant is in now, ``met`` the recent meetings of two (as far back as one likes),
    ``sat`` how often each has had each seat; ``games`` of an entrant are all its matches so far. Nothing but these
    decides: ``serial`` (the number of the next match, say) makes the lots of one call differ from those of another.

    1. Nobody sits in more than ``per_bot`` matches, and nobody beside a bot of the same owner.
    2. Owners share the seats in flight: ``share`` says how many of them one may hold.
    3. Each table begins with the owner who holds the fewest seats, then has had the fewest matches (within ``EVEN`` of
       the mean by lot), and with this owner's bot of the fewest games; so a new bot plays as soon as its owner's turn
       comes.
    4. The other seats go to the cheapest of the nearest in rating: by distance, recent meetings, games (its own, and
       beside its owner's other bots), and how many matches more than others its owner has had. Equals by lot.
    5. Everybody sits where it has sat least.
    """
    busy = busy or {}
    lots = shuffle(range(len(entrants)), draw, f"ladder|{serial}")
    hall = _RatingQueue(entrants, seats, options, busy, met or {}, lots)
    want = min(want, options["at_once"] - sum(busy.values()) // seats)
    tables: list[tuple[str, ...]] = []
    while len(tables) < want and (members := hall.table()):
        names = [entrants[at].id for at in members]
        never = [0] * seats
        order = assign_seats([[seat_cost(times) for times in (sat or {}).get(name, never)] for name in names])
        tables.append(tuple(names[who] for who in order))
    return tables


def share(bots: Sequence[int], at_once: int, per_bot: int, seats: int) -> int:
    """How many of the seats in flight one owner may hold, for owners of so many ``bots`` each.

    The seats are divided as water finds its level (max-min fairness): everybody may hold as many as anybody else, and
    what an owner of few bots cannot use is left to the others. The level is rounded up to whole seats; an owner
    never holds more than one at each table.
    """
    room = [min(many * per_bot, at_once) for many in bots]
    low, high = 1, at_once
    while low < high:
        level = (low + high) // 2
        low, high = (low, level) if sum(min(most, level) for most in room) >= at_once * seats else (level + 1, high)
    return low


Owner = tuple[str, str]  # (owner, "") or, of a bot without one, ("", its own id)


class _RatingQueue:
    """Who is free, in a line by rating; people and their places in the line are numbered from 0."""

    def __init__(
        self,
        entrants: Sequence[Entrant],
        seats: int,
        options: Mapping[str, Any],
        busy: Mapping[str, int],
        met: Mapping[frozenset[str], int],
        lots: Sequence[int],
    ) -> None:
        self.seats, self.met = seats, met
        self.per_bot: int = options["per_bot"]
        self.spread_micro: int = options["spread"] * MICRO
        self.line = sorted(lots, key=lambda at: entrants[at].rating)  # equals as drawn
        people = [entrants[at] for at in self.line]
        self.ids = [one.id for one in people]
        self.ratings = [one.rating for one in people]
        self.owners: list[Owner] = [(one.owner, "") if one.owner else ("", one.id) for one in people]
        self.busy = [busy.get(one.id, 0) for one in people]
        self.games = [one.games + flying for one, flying in zip(people, self.busy, strict=True)]
        self.held: Counter[Owner] = Counter()
        self.had: Counter[Owner] = Counter()
        self.bots: dict[Owner, list[int]] = {}
        for at, owner in enumerate(self.owners):
            self.held[owner] += self.busy[at]
            self.had[owner] += self.games[at]
            if people[at].active:
                self.bots.setdefault(owner, []).append(at)
        self.mean = sum(self.had[owner] for owner in self.bots) // max(1, len(self.bots))
        self.level = share([len(bots) for bots in self.bots.values()], options["at_once"], self.per_bot, seats)
        lot = {at: place for place, at in enumerate(lots)}
        self.lot = [lot[at] for at in self.line]
        self.meetings: Counter[str] = Counter()
        for pair, times in met.items():
            self.meetings.update(dict.fromkeys(pair, times))
        self._open()

    def _open(self) -> None:
        """Links those who may play, and queues owners and the bots of each."""
        free = [at for bots in self.bots.values() for at in bots if self._may_play(at)]
        self.free = [False] * len(self.line)
        self.after, self.before = list(range(1, len(self.line) + 1)), list(range(-1, len(self.line) - 1))
        for at in free:
            self.free[at] = True
        for at in range(len(self.line)):
            if not self.free[at]:
                self._unlink(at)
        self.queues = {owner: [(self.games[at], self.lot[at], at) for at in bots] for owner, bots in self.bots.items()}
        for queue in self.queues.values():
            heapify(queue)
        self.turns = [(*self._turn(owner), queue[0][1], owner) for owner, queue in self.queues.items()]
        heapify(self.turns)

    def _turn(self, owner: Owner) -> tuple[int, int]:
        return self.held[owner], (self.had[owner] - self.mean + EVEN) // (2 * EVEN + 1)

    def _may_play(self, at: int) -> bool:
        return self.busy[at] < self.per_bot and self.held[self.owners[at]] < self.level

    def table(self) -> list[int]:
        """The people of the next table, now busy; [] when there is none."""
        while self.turns:
            *turn, lot, owner = heappop(self.turns)
            if (*turn,) != self._turn(owner):
                heappush(self.turns, (*self._turn(owner), lot, owner))
                continue
            first = self._first(owner)
            # Whoever finds no table now finds none later: those who are free only become fewer.
            if first is not None and (members := self._joined(first)):
                for one in members:
                    self._sit(one)
                heappush(self.turns, (*self._turn(owner), lot, owner))
                return [self.line[one] for one in members]
        return []

    def _first(self, owner: Owner) -> int | None:
        """The free bot of the fewest games."""
        queue = self.queues[owner]
        while queue:
            games, lot, at = heappop(queue)
            if self.free[at]:
                heappush(queue, (self.games[at], lot, at))
                if games == self.games[at]:
                    return at
        return None

    def _joined(self, first: int) -> list[int]:
        members = [first]
        while len(members) < self.seats:
            near = self._near(first, {self.owners[one] for one in members})
            if not near:
                return []
            members.append(min(near, key=lambda at: (self._cost(at, members), self.lot[at])))
        return members

    def _near(self, first: int, sitting: set[Owner]) -> list[int]:
        """The nearest in rating who may sit with these, no more than OF_ONE_OWNER of an owner, and with them
        the bot of each such owner that has had the fewest games."""
        near: list[int] = []
        owners: Counter[Owner] = Counter()
        down, up = self.before[first], self.after[first]
        seen = 0
        while (down >= 0 or up < len(self.line)) and len(near) < NEAR and (seen < REACH or not near):
            rating = self.ratings[first]
            if up == len(self.line) or (down >= 0 and rating - self.ratings[down] <= self.ratings[up] - rating):
                at, down = down, self.before[down]
            else:
                at, up = up, self.after[up]
            seen += 1
            owner = self.owners[at]
            if owner not in sitting and owners[owner] < OF_ONE_OWNER:
                if not owners[owner] and (eager := self._first(owner)) is not None:
                    near.append(eager)
                owners[owner] += 1
                near.append(at)
        return near

    def _cost(self, at: int, members: Sequence[int]) -> int:
        distance = abs(self.ratings[at] - self.ratings[members[0]]) * UNIT // self.spread_micro
        meetings = sum(
            self.met.get(frozenset((self.ids[at], self.ids[one])), 0) * MET // self._usual(one) for one in members
        )
        settled = min(self.games[at], PROVISIONAL_GAMES) * SETTLED // PROVISIONAL_GAMES
        owner = self.owners[at]
        ahead = (self.games[at] - self.had[owner] // len(self.bots[owner])) * AHEAD
        surplus = (self.had[owner] - self.mean) * SURPLUS
        return (
            distance
            + meetings
            + settled
            + max(-MOST_AHEAD, min(ahead, MOST_AHEAD))
            + max(-MOST_SURPLUS, min(surplus, MOST_SURPLUS))
        )

    def _usual(self, at: int) -> int:
        """How often this one has met another in the mean, 1 at least: so that few bots, who meet all the time, are
        still matched by rating however far back meetings are counted."""
        return max(1, self.meetings[self.ids[at]] // max(1, len(self.line) - 1))

    def _sit(self, at: int) -> None:
        owner = self.owners[at]
        self.busy[at] += 1
        self.games[at] += 1
        self.held[owner] += 1
        self.had[owner] += 1
        gone = [at] if self.held[owner] < self.level else self.bots[owner]
        for one in gone:
            if self.free[one] and not self._may_play(one):
                self.free[one] = False
                self._unlink(one)

    def _unlink(self, at: int) -> None:
        """Takes one out of the line; its own pointers stay, they lead on to others."""
        before, after = self.before[at], self.after[at]
        if before >= 0:
            self.after[before] = after
        if after < len(self.line):
            self.before[after] = before
