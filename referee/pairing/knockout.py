"""Pair knockouts, in which losers are eliminated. ``bracket_state`` reads the rounds, and ``bracket`` renders them."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from referee.errors import BadOption
from referee.pairing.bracket import rank_entrants as rank_entrants
from referee.pairing.bracket import render_bracket as render_bracket
from referee.pairing.bracket_state import (
    FINAL,
    THIRD_PLACE,
    BracketState,
    Score,
    Shape,
    seat_order,
    serpentine,
    serpentine_rows,
)
from referee.pairing.kinds import Seeding, TournamentFormat
from referee.pairing.model import Bye, Format, Json, Leg, MatchesPerLeg, PairingInput, PairingRound, Table
from referee.pairing.options import check_fills_a_table, refuse_unknown
from referee.pairing.seating import assign_seats, seat_cost

MAX_LEGS, MAX_TIE_BREAKS = 15, 15
MAX_TABLES_TRIED = 16  # for each entrant, to avoid a former opponent


class Knockout(Format):
    """Pair tables of ``seats`` entrants, of whom ``advance`` reach the next round, until one table is left: the final.

    If smaller tables are allowed, they take the place of byes, and the strongest entrants sit there. Rounds after the
    first and the final then have as many entrants as advanced.

    Options (``format_options``), all with defaults:
    - ``seeding``: "rating" (the default), "hand" (by the entries' seeds, then by rating) or "draw" (random). Ties are
      broken at random. Serpentine seeding keeps the strongest apart as long as possible. Siblings are kept apart as
      well, by swaps of about equally strong seeds in the first round (``placement``).
    - ``advance`` (1): the number of entrants who advance from a table, which is less than its number of seats.
    - ``best_of`` (1): the number of legs at a table. A table of two stops as soon as the lead is decisive; larger
      tables play all legs and add the points. Leg n rotates the table's seats by n − 1.
    - ``tie_breaks`` (0): the maximum number of further legs, played one at a time while entrants who would advance are
      tied with others. Then only the points of these legs count; if the entrants are still tied, the better seed
      advances.
    - ``third_place`` (false): whether the losers of the semi-finals meet while the final is played. This is possible
      only at tables of two, because a larger final ranks all its seats.

    If the entrants do not fill the bracket otherwise, the strongest have byes in the first round. If an entrant
    withdraws, its opponent at a table of two advances by walkover. At larger tables, the remaining entrants close up;
    if fewer are left than the final has seats, the best active entrants of the latest eliminations fill it up. If an
    entrant withdraws before its table is decided, the active entrants advance first, by points and seed. A table
    without a leg that counts (all cancelled) is not repeated: the better seed advances. If some legs count, missing
    ones are played.
    """

    name = TournamentFormat.KNOCKOUT

    def options(self, given: Mapping[str, Any], seats: int) -> Json:
        complete: Json = {"seeding": Seeding.RATING, "advance": 1, "best_of": 1, "tie_breaks": 0, "third_place": False}
        refuse_unknown(given, *complete)
        complete.update(given)
        if complete["seeding"] not in [*Seeding]:
            raise BadOption("format_options.seeding", f"must be one of {', '.join(Seeding)}")
        for name, low, high in (("advance", 1, seats - 1), ("best_of", 1, MAX_LEGS), ("tie_breaks", 0, MAX_TIE_BREAKS)):
            if type(complete[name]) is not int or not low <= complete[name] <= high:
                raise BadOption(f"format_options.{name}", f"must be a whole number from {low} to {high}")
        if type(complete["third_place"]) is not bool:
            raise BadOption("format_options.third_place", "must be true or false")
        if complete["third_place"] and seats > 2:
            raise BadOption(
                "format_options.third_place",
                "must be false at tables of more than two, whose final ranks all its seats",
            )
        return complete

    def check(self, entrants: int, seats: int, options: Mapping[str, Any], cycles: int, min_seats: int = 0) -> None:
        """Accept any number of entrants that fills at least one table. ``shape`` determines the tables and byes."""
        check_fills_a_table(entrants, seats)
        if cycles != 1:
            raise BadOption("cycles", "must be 1: in a knockout, best_of sets the number of legs of a table")

    def expected_matches(self, tournament: PairingInput, matches_per_leg: MatchesPerLeg) -> int:
        """Return the number of matches played plus the smallest number that the remaining rounds can take."""
        state = BracketState(tournament)
        played = sum(
            len(legs) * matches_per_leg(len(table.entrants))
            for outcome in tournament.played
            for table, legs in zip(outcome.round.tables, outcome.legs, strict=True)
        )
        pairing_round = self.next_round(tournament)
        if pairing_round is None:
            return played
        sizes = [len(table.entrants) for table in pairing_round.tables]
        sizes += [size for _, cut in islice(state.rounds_to_come(len(state.field)), 1, None) for size in cut.sizes]
        if tournament.options["third_place"] and len(state.field) > 3:
            sizes.append(2)
        return played + sum(_min_legs(tournament, size) * matches_per_leg(size) for size in sizes)

    def next_round(self, tournament: PairingInput) -> PairingRound | None:
        state = BracketState(tournament)
        field = state.field
        least = tournament.least_seats
        if state.is_over or not any(field) or (not tournament.played and len(field) < least):
            return None
        name = state.label(len(field))
        if tournament.seats == 2:
            return _pair_round(state, name)
        present = [entrant for entrant in field if entrant is not None]
        if len(present) < least:
            return PairingRound((), tuple(Bye(entrant, "walkover") for entrant in present), name)
        cut = state.shape(len(present))
        tables = [
            _seat_table(state, members, number, name) for number, members in enumerate(_spread(present, cut, state), 1)
        ]
        closed_up = state.outcomes and len(present) < len(state.outcomes[-1].advanced)
        reason = "walkover" if closed_up else "odd"
        return PairingRound(tuple(tables), tuple(Bye(entrant, reason) for entrant in present[: cut.byes]), name)

    def more_legs(self, tournament: PairingInput, table: Table, legs: Sequence[Leg]) -> int:
        """Return the smallest number of further legs that can decide the table.

        Return 0 if no leg counts or an entrant withdrew.
        """
        active = {entrant.id for entrant in tournament.entrants if entrant.active}
        if not legs or not active.issuperset(table.entrants):
            return 0
        score = Score(tuple(legs), table.entrants, tournament.options)
        at_the_cut = len(legs) >= tournament.options["best_of"] and score.is_tied
        return score.legs_needed(_count_advancing(tournament, table) if at_the_cut else 1)


def _pair_round(state: BracketState, name: str) -> PairingRound:
    """Return the next round at tables of two: pairs by bracket position, walkovers, and the match for third place."""
    field = state.field
    cut = state.shape(len(field))
    tables: list[Table] = []
    byes = [Bye(entrant, "odd") for entrant in field[: cut.byes] if entrant is not None]
    for positions in serpentine(cut.byes, cut.sizes):
        present = [entrant for entrant in (field[position] for position in positions) if entrant is not None]
        if len(present) == 2:
            tables.append(_seat_table(state, present, len(tables) + 1, name))
        byes += [Bye(entrant, "walkover") for entrant in present if len(present) == 1]
    if name == FINAL and state.tournament.options["third_place"] and any(field):
        losers = _losers(state)
        if len(losers) == 2:
            tables.append(_seat_table(state, losers, len(tables) + 1, THIRD_PLACE))
        byes += [Bye(entrant, "walkover") for entrant in losers if len(losers) == 1]
    return PairingRound(tuple(tables), tuple(byes), name)


def _min_legs(tournament: PairingInput, size: int) -> int:
    """Return the smallest number of matches that can decide a table of this size."""
    best_of: int = tournament.options["best_of"]
    return best_of // 2 + 1 if size == 2 else best_of


def _seat_table(state: BracketState, members: Sequence[str], number: int, name: str) -> Table:
    """Return a table of ``members`` (strongest first), seated where they sat least often. Ties are broken at random."""
    tournament = state.tournament
    drawn = [members[rank] for rank in seat_order(tournament, len(tournament.played) + 1, number, len(members))]
    never = [0] * tournament.seats
    order = assign_seats([[seat_cost(times) for times in state.seat_counts.get(entrant, never)] for entrant in drawn])
    return Table(tuple(drawn[index] for index in order), name, _min_legs(tournament, len(members)))


def _spread(present: Sequence[str], cut: Shape, state: BracketState) -> list[list[str]]:
    """Return the members of each table, assigned row by row in serpentine order.

    After the first round, entrants from the same table, and then entrants of the same owner, are kept apart if another
    table is free in the row.
    """
    if not state.outcomes:
        return [[present[position] for position in positions] for positions in serpentine(cut.byes, cut.sizes)]
    owners = state.owners
    came_from = {entrant: index for index, table in enumerate(state.outcomes[-1].ranked) for entrant in table}

    def cost(entrant: str, others: Sequence[str]) -> tuple[int, int]:
        """Return how many of the others come from the same table as the entrant, and how many have the same owner."""
        origin, owner = came_from.get(entrant), owners[entrant]
        met = sum(came_from.get(other, -1) == origin for other in others)
        return met, sum(owners[other] == owner for other in others) if owner else 0

    members: list[list[str]] = [[] for _ in cut.sizes]
    for row in serpentine_rows(cut.byes, cut.sizes):
        free = [table for table, _ in row]
        for entrant in (present[position] for _, position in row):
            best = min(free[:MAX_TABLES_TRIED], key=lambda table: cost(entrant, members[table]))
            free.remove(best)
            members[best].append(entrant)
        _separate_siblings([members[table] for table, _ in sorted(row)], cost)
    return members


def _separate_siblings(members: Sequence[list[str]], cost: Callable[[str, Sequence[str]], tuple[int, int]]) -> None:
    """Swap the last entrants of two tables if one of them is a sibling there and the swap reduces the sum of costs."""

    def total(entrant: str, table: list[str], rival: str, other: list[str]) -> tuple[int, int]:
        (met, siblings), (rival_met, rival_siblings) = cost(entrant, table[:-1]), cost(rival, other[:-1])
        return met + rival_met, siblings + rival_siblings

    for table in members:
        entrant = table[-1]
        if not cost(entrant, table[:-1])[1]:
            continue
        for other in members:
            rival = other[-1]
            if total(rival, table, entrant, other) < total(entrant, table, rival, other):
                table[-1], other[-1] = rival, entrant
                break


def _losers(state: BracketState) -> list[str]:
    """Return the active losers of the semi-finals, the better seed first."""
    if not state.outcomes:
        return []
    active = {entrant.id for entrant in state.tournament.entrants if entrant.active}
    losers = [table[-1] for table in state.outcomes[-1].ranked if table[-1] in active]
    return sorted(losers, key=lambda entrant: state.seeds[entrant]) if len(state.outcomes[-1].ranked) == 2 else []


def _count_advancing(tournament: PairingInput, table: Table) -> int:
    """Return the number of entrants who advance from this table of the running round."""
    if tournament.seats == 2 or table.label == FINAL:
        return 1
    state = BracketState(tournament)
    present = [entrant for entrant in state.field if entrant is not None]
    cut = state.shape(len(present))
    tables = zip(_spread(present, cut, state), cut.advancing, strict=True)
    counts = (count for members, count in tables if {*members} == {*table.entrants})
    return next(counts, int(tournament.options["advance"]))
