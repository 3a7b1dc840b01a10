"""A knockout read from its record: who stood where, who went on, who came in at which place. What is played next is
the format's to say (knockout)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from referee.pairing.history import half_shares
from referee.pairing.model import Entrant, Leg, PairingRound, PlayedRound, TournamentState
from referee.pairing.seeded_random import shuffle

FINAL, THIRD_PLACE = "final", "third_place"


@dataclass(frozen=True, slots=True)
class Shape:
    """How a stage is cut out of the entrants that are left: ``byes`` of the strongest, then ``onward[i]`` of the
    entrants of table i go on."""

    byes: int
    onward: tuple[int, ...]

    @property
    def left(self) -> int:
        """How many are left after the stage."""
        return self.byes + sum(self.onward)


def shape(field: int, seats: int, advance: int) -> Shape:
    """The stage that ``field`` entrants (``seats`` or more) play: as many tables as it takes to come down to a number
    that fills the stages to follow, byes for the others.

    Where the numbers do not fit, the first tables let more than ``advance`` go on rather than leave the next stage
    short; with pairs that never happens.
    """
    if field <= seats:
        return Shape(0, (1,))
    goal = seats
    while (above := goal // advance * seats + goal % advance) < field:
        goal = above
    tables = min(-((goal - field) // (seats - advance)), field // seats)
    byes = field - tables * seats
    each, more = divmod(max(tables * advance, goal - byes), tables)
    return Shape(byes, tuple(each + (table < more) for table in range(tables)))


def stages_to_come(field: int, seats: int, advance: int) -> list[tuple[int, Shape]]:
    """(entrants, shape) of every stage from one with ``field`` entrants on, the final last."""
    course = [(field, shape(field, seats, advance))]
    while course[-1][0] > seats:
        left = course[-1][1].left
        course.append((left, shape(left, seats, advance)))
    return course


def serpentine(byes: int, tables: int, seats: int) -> list[list[int]]:
    """The places (from 0, strongest first) that meet at each table: row by row, to and fro. A pair is the strongest
    with the weakest, so two keep apart as long as their strength allows: the first two until the final."""
    rows = [range(byes + row * tables, byes + (row + 1) * tables) for row in range(seats)]
    return [[row[table] if n % 2 == 0 else row[-1 - table] for n, row in enumerate(rows)] for table in range(tables)]


def label(field: int, seats: int, advance: int) -> str:
    """final, semi_final, quarter_final (pairs), last_16 …: pairs go by the full bracket, others by who is left."""
    after = len(stages_to_come(field, seats, advance)) - 1
    if after < 2:
        return (FINAL, "semi_final")[after]
    if seats > 2:
        return f"last_{field}"
    return "quarter_final" if after == 2 else f"last_{2 ** (after + 1)}"


def seat_order(event: TournamentState, stage: int, table: int) -> list[int]:
    """The lot that seats a table: its entrants by strength are taken in this order. Both numbers from 1."""
    return shuffle(range(event.seats), event.draw, f"knockout|seats|{stage}|{table}")


# -- a table --


@dataclass(frozen=True)
class Score:
    """What a table has come to. All points are doubled: two for each opponent left behind, one for a tie."""

    legs: tuple[Leg, ...]
    entrants: tuple[str, ...]
    options: Mapping[str, Any]

    def points_of(self, entrant: str) -> tuple[int, int]:
        """(in the legs of best_of, in the tie-break legs)."""
        return self._points[entrant]

    @cached_property
    def _points(self) -> Mapping[str, tuple[int, int]]:
        main, tie_break = dict.fromkeys(self.entrants, 0), dict.fromkeys(self.entrants, 0)
        for number, leg in enumerate(self.legs):
            points = main if number < self.options["best_of"] else tie_break
            for one, share in zip(leg.entrants, half_shares(leg.placements), strict=True):
                if one in points:
                    points[one] += share
        return {one: (main[one], tie_break[one]) for one in self.entrants}

    @property
    def is_tied(self) -> bool:
        """Whether any two have the same points."""
        return len({self.points_of(entrant) for entrant in self.entrants}) < len(self.entrants)

    def wanting(self, onward: int) -> int:
        """The fewest legs after which it may be clear which ``onward`` go on; 0: it is clear, or all were played."""
        left: int = self.options["best_of"] - len(self.legs)
        scores = sorted((self.points_of(entrant) for entrant in self.entrants), reverse=True)
        if left > 0:
            if len(self.entrants) > 2:
                return left
            lead = scores[0][0] - scores[1][0]
            return (2 * left - lead) // 4 + 1 if lead <= 2 * left else 0
        tied = onward < len(scores) and scores[onward - 1] == scores[onward]
        return 1 if tied and left + self.options["tie_breaks"] > 0 else 0


# -- the whole course --


@dataclass(frozen=True)
class BracketOutcome:
    """A stage that was played: ``field`` entered it (pairs: by place in the bracket, None where nobody is left),
    ``ranked`` are the entrants of each table best first, ``on`` went on (like ``field``, of the stage after)."""

    played: PlayedRound
    field: tuple[str | None, ...]
    ranked: tuple[tuple[str, ...], ...]
    on: tuple[str | None, ...]
    is_final: bool

    @cached_property
    def tables(self) -> Mapping[str, int | None]:
        """The number of everybody's table, from 1; None for a bye."""
        byes: dict[str, int | None] = {bye.entrant: None for bye in self.played.stage.byes}
        return byes | {one: at for at, table in enumerate(self.played.stage.tables, 1) for one in table.entrants}


class Course:
    """The knockout as far as it went, from the stages recorded; what was recorded stands, whatever was voided or
    withdrawn later."""

    def __init__(self, event: TournamentState) -> None:
        self.event = event
        self.active = {entrant.id for entrant in event.entrants if entrant.active}
        self.outcomes: list[BracketOutcome] = []
        field = self._draw_first_round() if event.played else ()
        self.seeds = {entrant: place for place, entrant in enumerate(field, 1) if entrant is not None}
        for number, played in enumerate(event.played):
            self.outcomes.append(self._outcome(number, played, field))
            field = self.outcomes[-1].on

    @property
    def is_over(self) -> bool:
        return bool(self.outcomes) and self.outcomes[-1].is_final

    @cached_property
    def field(self) -> tuple[str | None, ...]:
        """Who enters the stage to come, strongest place first; pairs keep None for those who withdrew."""
        if not self.outcomes:
            return tuple(entrant.id for entrant in by_strength(self.event))
        left = tuple(one if one in self.active else None for one in self.outcomes[-1].on)
        if self.event.seats == 2:
            return left
        there = [one for one in left if one is not None]
        missing = self.event.seats - len(there)
        return (*there, *(self._next_best(there)[:missing] if len(there) > 1 and missing > 0 else ()))

    @cached_property
    def sat(self) -> Mapping[str, Sequence[int]]:
        """How often everybody has had each seat, of what counts."""
        sat: dict[str, list[int]] = {}
        for leg in (leg for played in self.event.played for legs in played.legs for leg in legs):
            for seat, one in enumerate(leg.entrants):
                sat.setdefault(one, [0] * self.event.seats)[seat] += 1
        return sat

    def _draw_first_round(self) -> tuple[str | None, ...]:
        """The first stage's entrants by strength: byes came first, tables were seated by a known lot."""
        stage = self.event.played[0].stage
        byes, seats = len(stage.byes), self.event.seats
        field: list[str | None] = [bye.entrant for bye in stage.byes] + [None] * (len(stage.tables) * seats)
        for number, places in enumerate(serpentine(byes, len(stage.tables), seats)):
            order = seat_order(self.event, 1, number + 1)
            for rank, entrant in zip(order, stage.tables[number].entrants, strict=True):
                field[places[rank]] = entrant
        return tuple(field)

    def _outcome(self, number: int, played: PlayedRound, field: tuple[str | None, ...]) -> BracketOutcome:
        stage, seats = played.stage, self.event.seats
        byes = [bye.entrant for bye in stage.byes]
        if seats > 2:  # who withdrew left no gap, and who stepped in is nobody's successor
            field = (*byes, *(one for table in stage.tables for one in table.entrants))
        is_final = len(field) <= seats
        cut = shape(len(field), seats, self.event.options["advance"])
        onward = (1,) * len(stage.tables) if seats == 2 else cut.onward[: len(stage.tables)]
        ranked = self._rankings(number, played, onward)
        on: tuple[str | None, ...]
        if seats == 2:
            on = self._pairs_on(stage, field, cut, ranked)
        elif stage.tables:
            placed = (one[place] for place in range(seats) for one, n in zip(ranked, onward, strict=True) if place < n)
            on = (*byes, *placed)
        else:  # too few for the final: nobody decides it but the seeds
            on = tuple(sorted(byes, key=self._seed)[:1])
        return BracketOutcome(played, field, ranked, on, is_final)

    def _pairs_on(
        self, stage: PairingRound, field: tuple[str | None, ...], cut: Shape, ranked: tuple[tuple[str, ...], ...]
    ) -> tuple[str | None, ...]:
        on = list(field[: cut.byes])
        main = main_entrants(stage, 2)
        best = {one: table[0] for table in ranked for one in table}
        for places in serpentine(cut.byes, len(cut.onward), 2):
            there = [one for one in (field[place] for place in places) if one in main]
            on.append(best.get(there[0], there[0]) if there and there[0] is not None else None)
        return tuple(on)

    def _rankings(self, number: int, played: PlayedRound, onward: Sequence[int]) -> tuple[tuple[str, ...], ...]:
        """Each table's entrants best first: by points when they decide, then who is still there, then the better
        seed. Points that do not decide come after being there; before all comes who did go on by the record."""
        newest = number + 1 == len(self.event.played)
        here = self.active if newest else main_entrants(self.event.played[number + 1].stage, self.event.seats)
        rankings = []
        for table, legs, cut in zip(played.stage.tables, played.legs, onward, strict=True):
            score = Score(legs, table.entrants, self.event.options)
            counts = newest and bool(legs) and score.wanting(cut) == 0
            weakness = {}
            for one in table.entrants:
                (main, tie_break), away = score.points_of(one), one not in here
                weakness[one] = (not counts and away, -main, -tie_break, away, self._seed(one))
            rankings.append(tuple(sorted(table.entrants, key=weakness.__getitem__)))
        return tuple(rankings)

    def _next_best(self, there: Sequence[str]) -> list[str]:
        """Who went out last, of those who could play: the latest stage first, then the place at the table."""
        order: dict[str, None] = {}
        for outcome in reversed(self.outcomes):
            out = [(place, self._seed(one), one) for table in outcome.ranked for place, one in enumerate(table)]
            order.update(dict.fromkeys(one for _, _, one in sorted(out)))
        return [one for one in order if one not in there and one in self.active]

    def _seed(self, entrant: str) -> int:
        return self.seeds.get(entrant, len(self.seeds) + 1)


def by_strength(event: TournamentState) -> list[Entrant]:
    """Who takes part in a knockout that begins now, strongest first, as ``seeding`` says; equals by lot."""
    there = [entrant for entrant in event.entrants if entrant.active and entrant.since <= 1]
    drawn = shuffle(there, event.draw, "knockout|seeding")
    match event.options["seeding"]:
        case "rating":
            return sorted(drawn, key=lambda one: -one.rating)
        case "hand":
            return sorted(drawn, key=lambda one: (one.seed is None, one.seed or 0, -one.rating))
    return drawn


def main_entrants(stage: PairingRound, seats: int) -> set[str]:
    """Everybody of a stage but those who are in it for the third place only."""
    tables = {one for table in stage.tables if table.label != THIRD_PLACE for one in table.entrants}
    byes = [bye.entrant for bye in stage.byes]
    if stage.label == FINAL and seats == 2:  # a finalist's bye comes first, the other is for the third place
        byes = [] if tables else byes[:1]
    return tables | set(byes)
