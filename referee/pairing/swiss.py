"""The Swiss system: a set number of stages, and in each everybody meets others who have done as well so far.

What is kept, in the order of what it is worth:

1. A bye goes to nobody twice while somebody who is there has had none, and to the lowest score at which this and
   the next two points can be kept; there, to those who have missed fewest stages. Of these the pairing decides.
2. Nobody meets anybody again while that can be avoided; at tables of three and more as seldom as swaps can bring
   about.
3. Siblings (of one owner) do not meet while everybody can be paired without that and without breaking 2; where not,
   few do, but perhaps not the fewest.
4. At tables of two nobody is to have one seat three times running, or three times more often than the other
   (an absolute claim in FIDE's words), except by 2 and 3, or in the last stage above half of what can be had.
5. Scores: brackets from the top, S1 against S2, transpositions, exchanges, floaters (FIDE C.04.3).

At two seats this is FIDE's Dutch system (C.04.3), with the first seat for White, but for these differences: siblings
(3), who have no counterpart there, nor have entries that come late with no points; a bracket is searched
for a bounded number of steps, exchanges reach over eight ranks, and what its choice does to the next bracket is
looked at for the number of its pairs (C.7) as if it were the last, not for their scores; the differences in score of
repeated floats are added up (C.16 to C.19), not compared one by one; floats against somebody who has left are
forgotten. Up to 400 entrants 2, 3 and completion are exact: they are decided by largest matchings. Above, they are
repaired locally.

Scores are the points of the standings; an odd bye is worth ``bye_points``. A table none of whose matches count is as
if it had not been: its entrants may meet again. Late entries begin with no points; who is not active is not paired.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import ceil, log2
from typing import Any, Final

from referee.errors import BadOption
from referee.pairing.dutch import EXACT, dutch, pairable
from referee.pairing.history import Past, read_history
from referee.pairing.model import Bye, Json, Leg, PairingRound, Table, TournamentState
from referee.pairing.options import check_fills_a_table, read_int, refuse_unknown
from referee.pairing.seeded_random import shuffle
from referee.pairing.tables import tables_of_more

MAX_STAGES: Final = 100


class Swiss:
    """See this module. ``stages`` null stands for ``default_stages`` of those entered at the start."""

    name = "swiss"
    takes_late_entries = True
    static = False

    def options(self, given: Mapping[str, Any], seats: int) -> Json:
        """``stages``: how many are played, or null."""
        refuse_unknown(given, "stages")
        return {"stages": read_int(given, "stages", 1, MAX_STAGES)}

    def check(self, entrants: int, seats: int, options: Mapping[str, Any], cycles: int) -> None:
        if cycles != 1:
            raise BadOption("cycles", "a Swiss event has one cycle; its length is the option stages")
        check_fills_a_table(entrants, seats)
        stages = options.get("stages") or default_stages(entrants, seats)
        possible = most_stages(entrants, seats)
        if stages > possible:
            raise BadOption(
                "format_options.stages",
                f"{entrants} bots at tables of {seats} can play at most {possible} stages, not {stages}",
            )

    def expected_matches(self, event: TournamentState) -> int:
        decided = sum(len(played.stage.tables) for played in event.played)
        active = sum(entrant.active for entrant in event.entrants)
        return decided + max(0, _stages(event) - len(event.played)) * (active // event.seats)

    def next_stage(self, event: TournamentState) -> PairingRound | None:
        """None when all stages are played, or fewer are left than a table seats."""
        if len(event.played) >= _stages(event):
            return None
        of = read_history(event)
        if len(of.ids) < event.seats:
            return None
        tables: Sequence[tuple[int, ...]]
        if event.seats == 2:
            tables, byes = dutch(of, _may_rest(of, event), _first_seat(event), _topscore(event))
        else:
            byes = _resting(of, event)
            people = [one for one in range(len(of.ids)) if one not in byes]
            tables = tables_of_more(of, people, event.seats)
        return PairingRound(
            tuple(Table(tuple(of.ids[one] for one in table)) for table in tables),
            tuple(Bye(of.ids[one], "odd") for one in byes),
        )

    def more_legs(self, event: TournamentState, table: Table, legs: Sequence[Leg]) -> int:
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


def _stages(event: TournamentState) -> int:
    chosen = event.options.get("stages")
    if chosen is not None:
        return int(chosen)
    starters = sum(entrant.since == 1 for entrant in event.entrants)
    return default_stages(max(2, starters), event.seats)


def _first_seat(event: TournamentState) -> int:
    return shuffle((0, 1), event.draw, "first seat")[0]


def _topscore(event: TournamentState) -> int | None:
    """Half of what could be had before the last stage, in half shares; None before that."""
    before = len(event.played)
    return before if before == _stages(event) - 1 else None  # a win is 2


# -- byes --


def _resting(of: Past, event: TournamentState) -> list[int]:
    """Who rests at tables of more: those who come first, among equals the highest pairing numbers."""
    waiting = sorted(range(len(of.ids)), key=lambda one: (_waits(of, event, one), -one))
    return waiting[: len(of.ids) % event.seats]


def _may_rest(of: Past, event: TournamentState) -> list[int]:
    """At tables of two: those of whom one rests, equals all. The first of whom one can without a rematch or siblings
    meeting; where that cannot be, those who leave least to look away from."""
    if len(of.ids) % 2 == 0:
        return []
    waiting = sorted(range(len(of.ids)), key=lambda one: _waits(of, event, one))
    groups = [list(group) for _, group in groupby(waiting, key=lambda one: _waits(of, event, one))]
    able = [group for group in groups if of.byes[group[0]] == of.byes[waiting[0]]]
    if len(waiting) > EXACT:
        return able[0]
    looked_away: list[tuple[int, int]] = []
    for group in able:
        level, over = pairable(of, group)
        if level <= 1 and not over:
            return group
        looked_away.append((over, level))
    return able[looked_away.index(min(looked_away))]


def _waits(of: Past, event: TournamentState, one: int) -> tuple[int, int, int]:
    """Fewer byes, then a lower score, then fewer stages missed."""
    return of.byes[one], of.score[one], len(event.played) - len(of.lately[one]) - of.byes[one]
