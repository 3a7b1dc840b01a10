"""Pair rounds of the Swiss system: a fixed number of rounds, each between entrants with equal or similar scores.

The constraints are, from the most to the least important:

1. Nobody gets a second bye while an active entrant has had none. Among those eligible, the bye goes to the lowest score
   at which constraints 2 and 3 can be met, and, among players with that score, to those who missed the fewest rounds;
   among equals, the pairing decides.
2. Rematches are avoided if possible; if not, there are as few as possible, and at tables of two rather second than
   third meetings. At tables of three or more, a bounded search keeps them few (``table_search``); tests compare it with
   all possible tables for up to 12 entrants.
3. Siblings (entrants of one owner) are not paired if everyone can be paired otherwise without breaking 2. If not, as
   few of them as possible are paired; in large fields few, though perhaps not the fewest.
4. At tables of two, nobody gets one seat three times in a row, or three times more often than the other (an absolute
   preference in FIDE's terms), except to satisfy 2 and 3, or in the last round above half of the possible score. If
   this is unavoidable, it happens to as few as possible; in large fields to few, though perhaps not the fewest.
5. Equal scores meet: brackets from the top, S1 against S2, with transpositions, exchanges and floaters (FIDE C.04.3).

At two seats this is FIDE's Dutch system (C.04.3), with the first seat for White and these differences:

- Siblings (3) and late entries, who start without points, have no counterpart there.
- The search of a bracket has a bounded number of steps, and exchanges reach over eight ranks. The effect on the next
  bracket is measured by the number of its pairs (C.7), as if it were the last bracket, and not by the scores of these
  pairs.
- Score differences of repeated floats are summed (C.16 to C.19), not compared one by one. Floats against an entrant
  who has left are ignored.
- With up to 400 entrants, maximum matchings decide exactly whether 3 and 4 can be met and how many rematches are
  needed. With more, pairings are repaired locally. With up to 14 entrants, all pairings are compared by constraints 2
  to 4 if not all can be met; tests compare the result with every pairing of up to ten.

If the tables of a round have two sizes (``table_sizes``), the numbers of times that entrants who play all rounds sat at
the smaller ones differ by at most 1; this comes before constraint 2, like byes.

Scores are standings points; an "odd" bye is worth ``bye_points``, or nothing to an absent entrant that has not played a
match itself. A table of which no match counts is ignored: its
entrants may meet again. Late entries start without points. Inactive entrants are not paired.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import ceil, log2
from typing import Any, Final

from referee.errors import BadOption
from referee.pairing.dutch import EXACT, pair_round, required_concessions
from referee.pairing.history import PairingHistory, read_history
from referee.pairing.kinds import TournamentFormat
from referee.pairing.model import Bye, Format, Json, MatchesPerLeg, PairingInput, PairingRound, Table, count_decided
from referee.pairing.options import check_fills_a_table, read_int, refuse_unknown
from referee.pairing.seeded_random import shuffle
from referee.pairing.table_sizes import split_tables
from referee.pairing.tables import pair_tables

MAX_ROUNDS: Final = 100


class Swiss(Format):
    """Define the Swiss system. If the option ``rounds`` is null, ``default_rounds`` determines the number of rounds."""

    name = TournamentFormat.SWISS
    takes_late_entries = True

    def options(self, given: Mapping[str, Any], seats: int) -> Json:
        """Accept ``rounds``, the number of rounds, or null."""
        refuse_unknown(given, "rounds")
        return {"rounds": read_int(given, "rounds", 1, MAX_ROUNDS)}

    def check(self, entrants: int, seats: int, options: Mapping[str, Any], cycles: int, min_seats: int = 0) -> None:
        if cycles != 1:
            raise BadOption("cycles", "must be 1: the option rounds sets the number of rounds of a Swiss tournament")
        check_fills_a_table(entrants, seats)
        rounds = options.get("rounds") or default_rounds(entrants, seats, min_seats)
        possible = max_rounds(entrants, seats, min_seats)
        if rounds > possible:
            raise BadOption(
                "format_options.rounds",
                f"{entrants} bots at tables of {seats} can play at most {possible} rounds, not {rounds}",
            )

    def expected_matches(self, tournament: PairingInput, matches_per_leg: MatchesPerLeg) -> int:
        decided = count_decided(tournament, matches_per_leg)
        active = sum(entrant.active for entrant in tournament.entrants)
        of_round = sum(map(matches_per_leg, split_tables(active, tournament.seats, tournament.min_seats)))
        return decided + max(0, _total_rounds(tournament) - len(tournament.played)) * of_round

    def next_round(self, tournament: PairingInput) -> PairingRound | None:
        """Return the next round, or None after the last round or if the remaining entrants do not fill a table."""
        if len(tournament.played) >= _total_rounds(tournament):
            return None
        history = read_history(tournament)
        sizes = split_tables(len(history.ids), tournament.seats, tournament.min_seats)
        if not sizes:
            return None
        tables: Sequence[tuple[int, ...]]
        if tournament.seats == 2:
            candidates = _bye_candidates(history, tournament)
            tables, byes = pair_round(history, candidates, _first_seat(tournament), _topscore(tournament))
        else:
            byes = _choose_byes(history, tournament, len(history.ids) - sum(sizes))
            people = [player for player in range(len(history.ids)) if player not in byes]
            tables = pair_tables(history, people, sizes)
        return PairingRound(
            tuple(Table(tuple(history.ids[player] for player in table)) for table in tables),
            tuple(Bye(history.ids[player], "odd") for player in byes),
        )


def default_rounds(entrants: int, seats: int, min_seats: int = 0) -> int:
    """Return the number of rounds that determines a winner, but at most ``max_rounds``.

    At tables of two this is log2 of the number of entrants, rounded up, so that at most one stays undefeated. At larger
    tables each round leaves one in ``seats`` of the candidates; two more rounds separate those behind the winner.
    """
    if seats == 2:
        return max(1, min(ceil(log2(entrants)), max_rounds(entrants, 2)))
    rounds, reach = 2, 1
    while reach < entrants:
        rounds, reach = rounds + 1, reach * seats
    return min(rounds, max_rounds(entrants, seats, min_seats))


def max_rounds(entrants: int, seats: int, min_seats: int = 0) -> int:
    """Return the largest number of rounds in which nobody needs a second bye or, at tables of two, a rematch."""
    byes = entrants - sum(split_tables(entrants, seats, min_seats))
    by_byes = entrants // byes if byes else MAX_ROUNDS
    if seats == 2:
        return min(MAX_ROUNDS, by_byes, entrants - 1 + entrants % 2)
    return min(MAX_ROUNDS, by_byes)


def _total_rounds(tournament: PairingInput) -> int:
    chosen = tournament.options.get("rounds")
    if chosen is not None:
        return int(chosen)
    starters = sum(entrant.first_round == 1 for entrant in tournament.entrants)
    return default_rounds(max(2, starters), tournament.seats, tournament.min_seats)


def _first_seat(tournament: PairingInput) -> int:
    return shuffle((0, 1), tournament.draw_key, "first seat")[0]


def _topscore(tournament: PairingInput) -> int | None:
    """Return half of the score that is possible before the last round, in half points, or None in earlier rounds."""
    rounds = len(tournament.played)
    return rounds if rounds == _total_rounds(tournament) - 1 else None  # a win gives 2 half points


# -- byes --


def _choose_byes(history: PairingHistory, tournament: PairingInput, count: int) -> list[int]:
    """Return the players who get one of ``count`` byes at tables of three or more.

    Among equals, choose those with the highest numbers.
    """
    players = range(len(history.ids))
    by_priority = sorted(players, key=lambda player: (_bye_priority(history, tournament, player), -player))
    return by_priority[:count]


def _bye_candidates(history: PairingHistory, tournament: PairingInput) -> list[int]:
    """Return equally eligible players, of whom one gets the bye at tables of two, or [] if nobody needs a bye.

    Choose the first such group that allows a pairing without rematches and pairs of siblings. If there is none, choose
    the group that needs the smallest concessions.
    """
    if len(history.ids) % 2 == 0:
        return []
    priority = [_bye_priority(history, tournament, player) for player in range(len(history.ids))]
    by_priority = sorted(range(len(history.ids)), key=priority.__getitem__)
    groups = [list(group) for _, group in groupby(by_priority, key=priority.__getitem__)]
    eligible = [group for group in groups if history.byes[group[0]] == history.byes[by_priority[0]]]
    if len(by_priority) > EXACT:
        return eligible[0]
    concessions: list[int] = []
    for group in eligible:
        concessions.append(required_concessions(history, group))
        if not concessions[-1]:
            return group
    return eligible[concessions.index(min(concessions))]


def _bye_priority(history: PairingHistory, tournament: PairingInput, player: int) -> tuple[int, int, int]:
    """Return a sort key for byes: players with fewer byes come first, then lower scores, then fewer missed rounds."""
    missed = len(tournament.played) - len(history.recent_seats[player]) - history.byes[player]
    return history.byes[player], history.score[player], missed
