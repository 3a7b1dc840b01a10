"""Derive the state of a knockout from its played rounds: seeds, rankings of tables and advancing entrants.

``knockout`` pairs the next round.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import gt
from typing import Any

from referee.pairing.history import half_points
from referee.pairing.kinds import Seeding
from referee.pairing.model import Entrant, Leg, PairingInput, PairingRound, PlayedRound
from referee.pairing.placement import layout_of_pairs, layout_of_tables, place_siblings
from referee.pairing.seeded_random import shuffle
from referee.pairing.table_sizes import split_tables

FINAL, THIRD_PLACE = "final", "third_place"


@dataclass(frozen=True, slots=True)
class Shape:
    """Describe the shape of a round.

    The ``byes`` strongest entrants have a bye, and ``advancing[i]`` entrants advance from table i, counted from 0,
    which has ``sizes[i]`` seats.
    """

    byes: int
    advancing: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def left(self) -> int:
        """Return the number of entrants left after the round."""
        return self.byes + sum(self.advancing)


def shape(field: int, seats: int, advance: int, min_seats: int = 0) -> Shape:
    """Return the shape of a round of ``field`` entrants.

    If smaller tables, of ``min_seats`` or more, let everyone play, the first tables are the smaller ones, and as many
    more than ``advance`` advance from the first ones as the next round needs to have ``min_seats``. Otherwise
    the round has as many tables as needed to reduce the field to a number that fills the following rounds; the other
    entrants have byes. If there is no such number, more than ``advance`` entrants advance from the first tables, so
    that the next round is full. This never happens at tables of two.
    """
    if field <= seats:
        return Shape(0, (1,), (field if seats > 2 else 2,))
    if (everyone := _shape_for_everyone(field, seats, advance, min_seats or seats)) is not None:
        return everyone
    goal = seats
    while (above := goal // advance * seats + goal % advance) < field:
        goal = above
    tables = min(-((goal - field) // (seats - advance)), field // seats)
    byes = field - tables * seats
    return Shape(byes, _share_out(max(tables * advance, goal - byes), tables), (seats,) * tables)


def _shape_for_everyone(field: int, seats: int, advance: int, min_seats: int) -> Shape | None:
    """Return a shape without byes whose tables have sizes that differ by at most 1, or None if there is none."""
    least = max(min_seats, advance + 1)
    sizes = split_tables(field, seats, least) if min_seats < seats else ()
    if sum(sizes) != field:
        return None
    advancing = _share_out(max(len(sizes) * advance, min_seats), len(sizes))
    rising = sizes[::-1]
    return Shape(0, advancing, rising) if all(map(gt, rising, advancing)) else None


def _share_out(entrants: int, tables: int) -> tuple[int, ...]:
    """Return a number of entrants for each table. These numbers differ by at most 1; the largest are first."""
    each, more = divmod(entrants, tables)
    return tuple(each + (table < more) for table in range(tables))


def rounds_to_come(field: int, seats: int, advance: int, min_seats: int = 0) -> list[tuple[int, Shape]]:
    """Return the number of entrants and the shape of each round, from one with ``field`` entrants to the final."""
    rounds = [(field, shape(field, seats, advance, min_seats))]
    while rounds[-1][0] > seats:
        left = rounds[-1][1].left
        rounds.append((left, shape(left, seats, advance, min_seats)))
    return rounds


def serpentine_rows(byes: int, sizes: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Return rows of (table, bracket position), the positions from 0, strongest first, and rising in each row.

    Each row has one position for every table that is large enough, assigned in alternating directions. At tables of
    two, the strongest entrant meets the weakest, so that the two strongest can meet only in the final.
    """
    rows: list[list[tuple[int, int]]] = []
    position = byes
    for row in range(max(sizes, default=0)):
        tables = [table for table, size in enumerate(sizes) if size > row]
        rows.append([(table, position + at) for at, table in enumerate(tables if row % 2 == 0 else tables[::-1])])
        position += len(tables)
    return rows


def serpentine(byes: int, sizes: Sequence[int]) -> list[list[int]]:
    """Return the bracket positions (from 0, strongest first) that meet at each of the tables with these sizes."""
    positions: list[list[int]] = [[] for _ in sizes]
    for table, position in (seated for row in serpentine_rows(byes, sizes) for seated in row):
        positions[table].append(position)
    return positions


def label(field: int, seats: int, advance: int, min_seats: int = 0) -> str:
    """Return the name of a round: final, semi_final, quarter_final (at tables of two only), last_16 …

    The number in the name is the size of the full bracket at tables of two, and the number of entrants left at larger
    tables.
    """
    after = len(rounds_to_come(field, seats, advance, min_seats)) - 1
    if after < 2:
        return (FINAL, "semi_final")[after]
    if seats > 2:
        return f"last_{field}"
    return "quarter_final" if after == 2 else f"last_{2 ** (after + 1)}"


def seat_order(tournament: PairingInput, number: int, table: int, size: int) -> list[int]:
    """Return a random seat order of a table, as indexes into its entrants by strength.

    Round and table numbers begin at 1.
    """
    return shuffle(range(size), tournament.draw_key, f"knockout|seats|{number}|{table}")


# -- a table --


@dataclass(frozen=True)
class Score:
    """Compute the scores at a table in half points: two for each opponent placed behind, one for each tie."""

    legs: tuple[Leg, ...]
    entrants: tuple[str, ...]
    options: Mapping[str, Any]

    def points_of(self, entrant: str) -> tuple[int, int]:
        """Return the entrant's half points in the first ``best_of`` legs, and those in the tie-break legs."""
        return self._points[entrant]

    @cached_property
    def _points(self) -> Mapping[str, tuple[int, int]]:
        main, tie_break = dict.fromkeys(self.entrants, 0), dict.fromkeys(self.entrants, 0)
        for number, leg in enumerate(self.legs):
            points = main if number < self.options["best_of"] else tie_break
            for entrant, scored in zip(leg.entrants, half_points(leg.placements), strict=True):
                if entrant in points:
                    points[entrant] += scored
        return {entrant: (main[entrant], tie_break[entrant]) for entrant in self.entrants}

    @property
    def is_tied(self) -> bool:
        """Return whether any two entrants have the same points."""
        return len({self.points_of(entrant) for entrant in self.entrants}) < len(self.entrants)

    def legs_needed(self, advancing: int) -> int:
        """Return the smallest number of further legs that can decide which ``advancing`` entrants advance.

        Return 0 if this is decided or if all legs were played.
        """
        left: int = self.options["best_of"] - len(self.legs)
        scores = sorted((self.points_of(entrant) for entrant in self.entrants), reverse=True)
        if left > 0:
            if len(self.entrants) > 2:
                return left
            lead = scores[0][0] - scores[1][0]
            return (2 * left - lead) // 4 + 1 if lead <= 2 * left else 0
        tied = advancing < len(scores) and scores[advancing - 1] == scores[advancing]
        return 1 if tied and left + self.options["tie_breaks"] > 0 else 0


# -- the whole knockout --


@dataclass(frozen=True)
class BracketOutcome:
    """Hold the outcome of a played round.

    ``field`` has the entrants of the round, at tables of two by bracket position and with None for empty positions.
    ``ranked`` has the entrants of each table, best first. ``advanced`` has the entrants who advanced, in the form of
    the next ``field``.
    """

    played: PlayedRound
    field: tuple[str | None, ...]
    ranked: tuple[tuple[str, ...], ...]
    advanced: tuple[str | None, ...]
    is_final: bool

    @cached_property
    def tables(self) -> Mapping[str, int | None]:
        """Return the table number (from 1) of every entrant of the round, with None for entrants who have a bye."""
        byes: dict[str, int | None] = {bye.entrant: None for bye in self.played.round.byes}
        tables = enumerate(self.played.round.tables, 1)
        return byes | {entrant: number for number, table in tables for entrant in table.entrants}


class BracketState:
    """Derive the state of a knockout. Paired rounds do not change if results are voided or entrants withdraw later."""

    def __init__(self, tournament: PairingInput) -> None:
        self.tournament = tournament
        self.active = {entrant.id for entrant in tournament.entrants if entrant.active}
        self.owners = {entrant.id: entrant.owner for entrant in tournament.entrants}
        self.outcomes: list[BracketOutcome] = []
        field = self._seeding_of_first_round() if tournament.played else ()
        self.seeds = {entrant: seed for seed, entrant in enumerate(field, 1) if entrant is not None}
        for number, played in enumerate(tournament.played):
            self.outcomes.append(self._outcome(number, played, field))
            field = self.outcomes[-1].advanced

    def shape(self, field: int) -> Shape:
        """Return the shape of a round of ``field`` entrants."""
        return shape(field, *self._terms)

    def label(self, field: int) -> str:
        return label(field, *self._terms)

    def rounds_to_come(self, field: int) -> list[tuple[int, Shape]]:
        """Return the number of entrants and the shape of each round, from one with ``field`` entrants to the final."""
        return rounds_to_come(max(field, self.tournament.least_seats), *self._terms)

    @property
    def _terms(self) -> tuple[int, int, int]:
        return self.tournament.seats, int(self.tournament.options["advance"]), self.tournament.min_seats

    @property
    def is_over(self) -> bool:
        return bool(self.outcomes) and self.outcomes[-1].is_final

    @cached_property
    def field(self) -> tuple[str | None, ...]:
        """Return the entrants of the next round: at tables of two by bracket position, with None for empty ones."""
        if not self.outcomes:
            return tuple(entrant.id for entrant in place_starters(self.tournament))
        left = tuple(entrant if entrant in self.active else None for entrant in self.outcomes[-1].advanced)
        if self.tournament.seats == 2:
            return left
        present = [entrant for entrant in left if entrant is not None]
        missing = self.tournament.least_seats - len(present)
        return (*present, *(self._replacements(present)[:missing] if len(present) > 1 and missing > 0 else ()))

    @cached_property
    def seat_counts(self) -> Mapping[str, Sequence[int]]:
        """Count the legs that each entrant played in each seat."""
        counts: dict[str, list[int]] = {}
        for leg in (leg for played in self.tournament.played for legs in played.legs for leg in legs):
            for seat, entrant in enumerate(leg.entrants):
                counts.setdefault(entrant, [0] * self.tournament.seats)[seat] += 1
        return counts

    def _seeding_of_first_round(self) -> tuple[str | None, ...]:
        """Return the first round's entrants, strongest first, derived from its byes and its tables' seat orders."""
        pairing_round = self.tournament.played[0].round
        byes, sizes = len(pairing_round.byes), [len(table.entrants) for table in pairing_round.tables]
        field: list[str | None] = [bye.entrant for bye in pairing_round.byes]
        field += [None] * sum(sizes)
        for number, positions in enumerate(serpentine(byes, sizes)):
            order = seat_order(self.tournament, 1, number + 1, sizes[number])
            for rank, entrant in zip(order, pairing_round.tables[number].entrants, strict=True):
                field[positions[rank]] = entrant
        return tuple(field)

    def _outcome(self, number: int, played: PlayedRound, field: tuple[str | None, ...]) -> BracketOutcome:
        pairing_round, seats = played.round, self.tournament.seats
        byes = [bye.entrant for bye in pairing_round.byes]
        if seats > 2:  # larger tables close the gaps of withdrawn entrants and may include replacements
            field = (*byes, *(entrant for table in pairing_round.tables for entrant in table.entrants))
        is_final = len(field) <= seats
        cut = self.shape(len(field))
        advancing = (1,) * len(pairing_round.tables) if seats == 2 else cut.advancing[: len(pairing_round.tables)]
        ranked = self._rankings(number, played, advancing)
        advanced: tuple[str | None, ...]
        if seats == 2:
            advanced = self._advance_pairs(pairing_round, field, cut, ranked)
        elif pairing_round.tables:
            tables = list(zip(ranked, advancing, strict=True))
            placed = (table[rank] for rank in range(seats) for table, count in tables if rank < count)
            advanced = (*byes, *placed)
        else:  # too few entrants for a final: the best seed wins
            advanced = tuple(sorted(byes, key=self._seed)[:1])
        return BracketOutcome(played, field, ranked, advanced, is_final)

    def _advance_pairs(
        self,
        pairing_round: PairingRound,
        field: tuple[str | None, ...],
        cut: Shape,
        ranked: tuple[tuple[str, ...], ...],
    ) -> tuple[str | None, ...]:
        advanced = list(field[: cut.byes])
        main = main_entrants(pairing_round, 2)
        winner = {entrant: table[0] for table in ranked for entrant in table}
        for positions in serpentine(cut.byes, cut.sizes):
            present = [entrant for entrant in (field[position] for position in positions) if entrant in main]
            advanced.append(winner.get(present[0], present[0]) if present and present[0] is not None else None)
        return tuple(advanced)

    def _rankings(self, number: int, played: PlayedRound, advancing: Sequence[int]) -> tuple[tuple[str, ...], ...]:
        """Return each table's entrants, best first.

        Entrants who play in the next paired round rank first. In the newest round, entrants rank by points if these
        decide the table; otherwise active entrants rank before the others, each group by points. Ties go to the better
        seed.
        """
        newest = number + 1 == len(self.tournament.played)
        following = None if newest else self.tournament.played[number + 1].round
        remaining = main_entrants(following, self.tournament.seats) if following else self.active
        rankings = []
        for table, legs, count in zip(played.round.tables, played.legs, advancing, strict=True):
            score = Score(legs, table.entrants, self.tournament.options)
            decided = newest and bool(legs) and score.legs_needed(count) == 0
            weakness = {}
            for entrant in table.entrants:
                (main, tie_break), away = score.points_of(entrant), entrant not in remaining
                weakness[entrant] = (not decided and away, -main, -tie_break, away, self._seed(entrant))
            rankings.append(tuple(sorted(table.entrants, key=weakness.__getitem__)))
        return tuple(rankings)

    def _replacements(self, present: Sequence[str]) -> list[str]:
        """Return the active entrants who were eliminated, the latest round first, then by rank at their table."""
        order: dict[str, None] = {}
        for outcome in reversed(self.outcomes):
            ranks = [
                (rank, self._seed(entrant), entrant) for table in outcome.ranked for rank, entrant in enumerate(table)
            ]
            order.update(dict.fromkeys(entrant for _, _, entrant in sorted(ranks)))
        return [entrant for entrant in order if entrant not in present and entrant in self.active]

    def _seed(self, entrant: str) -> int:
        return self.seeds.get(entrant, len(self.seeds) + 1)


def by_strength(tournament: PairingInput) -> list[Entrant]:
    """Return the starters of a knockout, strongest first by the option ``seeding``, with ties in random order."""
    starters = [entrant for entrant in tournament.entrants if entrant.active and entrant.first_round <= 1]
    drawn = shuffle(starters, tournament.draw_key, "knockout|seeding")
    match tournament.options["seeding"]:
        case Seeding.RATING:
            return sorted(drawn, key=lambda entrant: -entrant.rating)
        case Seeding.HAND:
            return sorted(drawn, key=lambda entrant: (entrant.seed is None, entrant.seed or 0, -entrant.rating))
    return drawn


def place_starters(tournament: PairingInput) -> list[Entrant]:
    """Return the starters by position in the bracket: strongest first, after the swaps that keep siblings apart."""
    starters, seats = by_strength(tournament), tournament.seats
    if len(starters) < seats:
        return starters
    if seats == 2:
        layout = layout_of_pairs(len(starters))
    else:
        cut = shape(len(starters), seats, tournament.options["advance"], tournament.min_seats)
        layout = layout_of_tables(len(starters), serpentine(cut.byes, cut.sizes))
    return [starters[seed] for seed in place_siblings(tuple(starter.owner for starter in starters), layout)]


def main_entrants(pairing_round: PairingRound, seats: int) -> set[str]:
    """Return all entrants of a round except those who only play for third place."""
    tables = {entrant for table in pairing_round.tables if table.label != THIRD_PLACE for entrant in table.entrants}
    byes = [bye.entrant for bye in pairing_round.byes]
    if pairing_round.label == FINAL and seats == 2:  # byes list the final before the match for third place
        byes = [] if tables else byes[:1]
    return tables | set(byes)
