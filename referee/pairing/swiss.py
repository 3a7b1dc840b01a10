"""The Swiss system: a set number of stages, and in each everybody meets others who have done as well so far.

What is kept, in the order of what it is worth:

1. A bye goes to nobody twice while somebody who is there has had none, and to the lowest score at which that and
   the next point can be kept; there, to who has missed most stages least, then to the lowest pairing number.
2. Nobody meets anybody again while that can be avoided; at tables of three and more as seldom as swaps can bring
   about.
3. Siblings (of one owner) do not meet while that can be avoided without breaking 2.
4. At tables of two nobody is to have one seat three times running, or three times more often than the other
   (an absolute claim in FIDE's words), except by 2 and 3, or in the last stage above half of what can be had.
5. Scores: brackets from the top, S1 against S2, transpositions, exchanges, floaters (FIDE C.04.3).

At two seats this is FIDE's Dutch system (C.04.3), with the first seat for White, but for these differences: who has
the bye is settled before the brackets, so that its score is the lowest possible; siblings (3); a bracket is searched
for a bounded number of steps, exchanges reach over eight ranks, and what its choice does to the next bracket is
looked at for the number of its pairs (C.7), not for their scores; the differences in score of repeated floats are
added up (C.16 to C.19), not compared one by one; floats against somebody who has left are forgotten. Up to 400
entrants 2, 3 and completion are exact: they are decided by largest matchings. Above, they are repaired locally.

Scores are the points of the standings; an odd bye is worth ``bye_points``. A table none of whose matches count is as
if it had not been: its entrants may meet again. Late entries begin with no points; who is not active is not paired.
"""

from collections.abc import Mapping, Sequence
from math import ceil, log2
from typing import Any, Final

from referee.errors import BadOption
from referee.pairing.dutch import EXACT, dutch, pairable
from referee.pairing.history import Past, past
from referee.pairing.lots import shuffled
from referee.pairing.model import Bye, Event, Json, Leg, Stage, Table
from referee.pairing.options import only, whole
from referee.pairing.tables import tables_of_more

MAX_STAGES: Final = 100


class Swiss:
    """See this module. ``stages`` null stands for ``default_stages`` of those entered at the start."""

    name = "swiss"
    takes_late_entries = True
    static = False

    def options(self, given: Mapping[str, Any], seats: int) -> Json:
        """``stages``: how many are played, or null."""
        only(given, "stages")
        return {"stages": whole(given, "stages", 1, MAX_STAGES)}

    def check(self, entrants: int, seats: int, options: Mapping[str, Any], cycles: int) -> None:
        if cycles != 1:
            raise BadOption("cycles", "a Swiss event has one cycle; its length is the option stages")
        if entrants < seats:
            raise BadOption("entries", f"a table has {seats} seats, but only {entrants} bots are entered")
        stages = options.get("stages") or default_stages(entrants, seats)
        possible = most_stages(entrants, seats)
        if stages > possible:
            raise BadOption(
                "format_options.stages",
                f"{entrants} bots at tables of {seats} can play at most {possible} stages, not {stages}",
            )

    def planned(self, event: Event) -> int:
        decided = sum(len(played.stage.tables) for played in event.played)
        active = sum(entrant.active for entrant in event.entrants)
        return decided + max(0, _stages(event) - len(event.played)) * (active // event.seats)

    def next_stage(self, event: Event) -> Stage | None:
        """None when all stages are played, or fewer are left than a table seats."""
        if len(event.played) >= _stages(event):
            return None
        of = past(event)
        if len(of.ids) < event.seats:
            return None
        byes = _byes(of, event)
        resting = set(byes)
        people = [one for one in range(len(of.ids)) if one not in resting]
        tables: Sequence[tuple[int, ...]]
        if event.seats == 2:
            tables = dutch(of, people, _first_seat(event), _topscore(event))
        else:
            tables = tables_of_more(of, people, event.seats)
        return Stage(
            tuple(Table(tuple(of.ids[one] for one in table)) for table in tables),
            tuple(Bye(of.ids[one], "odd") for one in byes),
        )

    def more_legs(self, event: Event, table: Table, legs: Sequence[Leg]) -> int:
        return 0


def default_stages(entrants: int, seats: int) -> int:
    """As many as leave one undefeated at tables of two: log2 of the entrants, rounded up. At larger tables, where
    places say more than a win, a stage cuts to the ``seats``-th part; two more tell apart who comes after."""
    if seats == 2:
        return max(1, min(ceil(log2(entrants)), most_stages(entrants, 2)))
    stages, reach = 2, 1
    while reach < entrants:
        stages, reach = stages + 1, reach * seats
    return min(stages, most_stages(entrants, seats))


def most_stages(entrants: int, seats: int) -> int:
    """No more than everybody has opponents, at tables of two; and no more than there are byes to go round."""
    resting = entrants % seats
    by_byes = entrants // resting if resting else MAX_STAGES
    if seats == 2:
        return min(MAX_STAGES, by_byes, entrants - 1 + entrants % 2)
    return min(MAX_STAGES, by_byes)


def _stages(event: Event) -> int:
    chosen = event.options.get("stages")
    if chosen is not None:
        return int(chosen)
    starters = sum(entrant.since == 1 for entrant in event.entrants)
    return default_stages(max(2, starters), event.seats)


def _first_seat(event: Event) -> int:
    return shuffled((0, 1), event.draw, "first seat")[0]


def _topscore(event: Event) -> int | None:
    """Half of what could be had before the last stage, in half shares; None before that."""
    before = len(event.played)
    return before if before == _stages(event) - 1 else None  # a win is 2


# -- byes --


def _byes(of: Past, event: Event) -> list[int]:
    """Who rests, the least deserving first: the lowest score, missed stages, then the highest pairing number."""
    count = len(of.ids) % event.seats
    if not count:
        return []
    stages = len(event.played)

    def order(one: int) -> tuple[int, int, int, int]:
        missed = stages - len(of.lately[one]) - of.byes[one]
        return of.byes[one], of.score[one], missed, -one

    waiting = sorted(range(len(of.ids)), key=order)
    if event.seats == 2 and len(waiting) <= EXACT:
        return [_pair_bye(of, waiting)]
    return waiting[:count]


def _pair_bye(of: Past, waiting: Sequence[int]) -> int:
    """The first whose rest leaves the others pairable; where nobody's does, who leaves least to look away from."""
    fewest = of.byes[waiting[0]]
    able = [one for one in waiting if of.byes[one] == fewest]
    looked_away: dict[int, tuple[int, int]] = {}
    for one in able:
        looked_away[one] = pairable(of, [other for other in waiting if other != one])
        if looked_away[one] <= (1, 0):
            return one
    return min(able, key=lambda one: (looked_away[one][1], looked_away[one][0]))
