"""Knockout: who loses is out. Decides the stages; reading the record is course's, the picture is drawing's."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from referee.errors import BadOption
from referee.pairing.bracket import bracket as bracket
from referee.pairing.bracket import places as places
from referee.pairing.bracket_state import (
    FINAL,
    THIRD_PLACE,
    Course,
    Score,
    label,
    seat_order,
    serpentine,
    shape,
    stages_to_come,
)
from referee.pairing.model import Bye, Json, Leg, PairingRound, Table, TournamentState
from referee.pairing.options import check_fills_a_table, refuse_unknown
from referee.pairing.seating import assign_seats, seat_cost

SEEDINGS = ("rating", "hand", "draw")
MAX_LEGS, MAX_TIE_BREAKS = 15, 15
LOOK = 16  # tables looked at for somebody who is kept from a table-mate


class Knockout:
    """Tables of ``seats``, of which ``advance`` go on, until one table is left: the final.

    Options (``format_options``), all with defaults:
    - ``seeding``: "rating" (the default), "hand" (by the entries' seeds, those without one after them by rating) or
      "draw". Equals are drawn by lot. The strongest keep apart as long as possible: serpentine.
    - ``advance`` (1): how many of a table go on, fewer than it has seats.
    - ``best_of`` (1): the legs of a table. Of a pair only as many are played as it takes until one cannot be caught;
      larger tables play them all and add the points. Leg n is played in the order of the table turned by n − 1 seats.
    - ``tie_breaks`` (0): so many more legs at most, one at a time, while those who go on are tied with those who do
      not; only their points count then, and after them the better seed goes on.
    - ``third_place`` (false): the losers of the semi-final meet while the final is played. Tables of two only: a
      larger final ranks all its seats by itself.

    When the number does not fill the bracket, the strongest have byes in the first stage. Whoever withdrew is out: of
    a pair the opponent goes on by walkover; larger tables close up, and when fewer are left than the final has
    seats, the best of those who went out last and are still there fill it up. A table with an entrant who withdrew
    before it was decided goes to those who are there, by points and seed. A table of which nothing counts (all
    cancelled) is not played again: the better seed goes on. If only some of its legs count, the others are played.
    """

    name = "knockout"
    takes_late_entries = False
    static = False

    def options(self, given: Mapping[str, Any], seats: int) -> Json:
        complete: Json = {"seeding": "rating", "advance": 1, "best_of": 1, "tie_breaks": 0, "third_place": False}
        refuse_unknown(given, *complete)
        complete.update(given)
        if complete["seeding"] not in SEEDINGS:
            raise BadOption("format_options.seeding", f"must be one of {', '.join(SEEDINGS)}")
        for name, low, high in (
            ("advance", 1, seats - 1),
            ("best_of", 1, MAX_LEGS),
            ("tie_breaks", 0, MAX_TIE_BREAKS),
        ):
            if type(complete[name]) is not int or not low <= complete[name] <= high:
                raise BadOption(f"format_options.{name}", f"must be a whole number, {low} to {high}")
        if type(complete["third_place"]) is not bool:
            raise BadOption("format_options.third_place", "must be true or false")
        if complete["third_place"] and seats > 2:
            raise BadOption("format_options.third_place", "is for tables of two; a larger final ranks all its seats")
        return complete

    def check(self, entrants: int, seats: int, options: Mapping[str, Any], cycles: int) -> None:
        """Any number that fills a table can play; see ``shape`` for how it is cut."""
        check_fills_a_table(entrants, seats)
        if cycles != 1:
            raise BadOption("cycles", "must be 1: in a knockout best_of says how often a table is played")

    def expected_matches(self, event: TournamentState) -> int:
        """What was played, and the fewest matches that the stages to come can take."""
        course = Course(event)
        played = sum(len(legs) for outcome in event.played for legs in outcome.legs)
        stage = self.next_stage(event)
        if stage is None:
            return played
        field = max(len(course.field), event.seats)
        to_come = stages_to_come(field, event.seats, event.options["advance"])
        tables = len(stage.tables) + sum(len(cut.onward) for _, cut in islice(to_come, 1, None))
        if event.options["third_place"] and field > 3:
            tables += 1
        return played + tables * _legs(event)

    def next_stage(self, event: TournamentState) -> PairingRound | None:
        course = Course(event)
        field = course.field
        if course.is_over or not any(field) or (not event.played and len(field) < event.seats):
            return None
        name = label(len(field), event.seats, event.options["advance"])
        if event.seats == 2:
            return self._of_pairs(course, name)
        there = [one for one in field if one is not None]
        if len(there) < event.seats:
            return PairingRound((), tuple(Bye(one, "walkover") for one in there), name)
        cut = shape(len(there), event.seats, event.options["advance"])
        tables = [
            _table(course, members, number, name)
            for number, members in enumerate(_spread(there, cut.byes, len(cut.onward), course), 1)
        ]
        closed_up = course.outcomes and len(there) < len(course.outcomes[-1].on)
        reason = "walkover" if closed_up else "odd"
        return PairingRound(tuple(tables), tuple(Bye(one, reason) for one in there[: cut.byes]), name)

    def _of_pairs(self, course: Course, name: str) -> PairingRound:
        field = course.field
        cut = shape(len(field), 2, 1)
        tables: list[Table] = []
        byes = [Bye(one, "odd") for one in field[: cut.byes] if one is not None]
        for places_ in serpentine(cut.byes, len(cut.onward), 2):
            there = [one for one in (field[place] for place in places_) if one is not None]
            if len(there) == 2:
                tables.append(_table(course, there, len(tables) + 1, name))
            byes += [Bye(one, "walkover") for one in there if len(there) == 1]
        if name == FINAL and course.event.options["third_place"] and any(field):
            losers = _losers(course)
            if len(losers) == 2:
                tables.append(_table(course, losers, len(tables) + 1, THIRD_PLACE))
            byes += [Bye(one, "walkover") for one in losers if len(losers) == 1]
        return PairingRound(tuple(tables), tuple(byes), name)

    def more_legs(self, event: TournamentState, table: Table, legs: Sequence[Leg]) -> int:
        """See the class: 0 when nothing counts or somebody withdrew, else as many as it takes at least."""
        active = {entrant.id for entrant in event.entrants if entrant.active}
        if not legs or not active.issuperset(table.entrants):
            return 0
        score = Score(tuple(legs), table.entrants, event.options)
        at_the_cut = len(legs) >= event.options["best_of"] and score.is_tied
        return score.wanting(_count_advancing(event, table) if at_the_cut else 1)


def _legs(event: TournamentState) -> int:
    """The fewest matches that can decide a table."""
    best_of: int = event.options["best_of"]
    return best_of // 2 + 1 if event.seats == 2 else best_of


def _table(course: Course, members: Sequence[str], number: int, name: str) -> Table:
    """``members`` by strength, seated by lot, but where each has sat least."""
    event = course.event
    drawn = [members[rank] for rank in seat_order(event, len(event.played) + 1, number)]
    never = [0] * event.seats
    order = assign_seats([[seat_cost(times) for times in course.sat.get(one, never)] for one in drawn])
    return Table(tuple(drawn[who] for who in order), name, _legs(event))


def _spread(there: Sequence[str], byes: int, tables: int, course: Course) -> list[list[str]]:
    """The members of each table, row by row in serpentine; after the first stage those who come from one table are
    kept apart where the row has another place."""
    seats = course.event.seats
    if not course.outcomes:
        return [[there[place] for place in places_] for places_ in serpentine(byes, tables, seats)]
    came_from = {one: at for at, table in enumerate(course.outcomes[-1].ranked) for one in table}
    members: list[list[str]] = [[] for _ in range(tables)]
    for row in range(seats):
        free = list(range(tables) if row % 2 == 0 else reversed(range(tables)))
        for one in there[byes + row * tables : byes + (row + 1) * tables]:
            origin = came_from.get(one)
            best = min(free[:LOOK], key=lambda at: sum(came_from.get(other, -1) == origin for other in members[at]))
            free.remove(best)
            members[best].append(one)
    return members


def _losers(course: Course) -> list[str]:
    """Of the semi-final's tables, better seed first, whoever is still there."""
    if not course.outcomes:
        return []
    active = {entrant.id for entrant in course.event.entrants if entrant.active}
    losers = [table[-1] for table in course.outcomes[-1].ranked if table[-1] in active]
    return sorted(losers, key=lambda one: course.seeds[one]) if len(course.outcomes[-1].ranked) == 2 else []


def _count_advancing(event: TournamentState, table: Table) -> int:
    """How many of this table of the running stage go on."""
    if event.seats == 2 or table.label == FINAL:
        return 1
    course = Course(event)
    there = [one for one in course.field if one is not None]
    cut = shape(len(there), event.seats, event.options["advance"])
    members = _spread(there, cut.byes, len(cut.onward), course) if len(there) >= event.seats else []
    fitting = (n for one, n in zip(members, cut.onward, strict=False) if {*one} == {*table.entrants})
    return next(fitting, int(event.options["advance"]))
