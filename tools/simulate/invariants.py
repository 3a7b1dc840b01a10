"""Check the invariants of simulated tournaments. Each check raises ``AssertionError`` if an invariant is broken."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise
from math import comb

from referee.pairing import PairingInput, PairingRound, PlayedRound
from referee.pairing.gauntlet import champion_of
from referee.pairing.kinds import TournamentFormat
from referee.pairing.knockout import rank_entrants, render_bracket
from referee.pairing.table_sizes import split_tables
from tools.simulate.simulation import History

Pairs = frozenset[frozenset[str]]


def check(history: History) -> None:
    """Check each round, the end, and the invariants of the format."""
    for number, (tournament, pairing_round) in enumerate(history.decided, 1):
        check_round(tournament, pairing_round, number)
    check_end(history)
    CHECKS[history.scenario.format.name](history)


# -- of every format --


def check_round(tournament: PairingInput, pairing_round: PairingRound, number: int) -> None:
    """Check that only active entrants are paired, each once."""
    active = {entrant.id for entrant in tournament.entrants if entrant.active and entrant.first_round <= number}
    seated = [entrant for table in pairing_round.tables for entrant in table.entrants]
    with_bye = [bye.entrant for bye in pairing_round.byes]
    assert len({*seated, *with_bye}) == len(seated) + len(with_bye), "an entrant is twice in a round"
    assert active.issuperset((*seated, *with_bye)), "an inactive entrant is paired"
    sizes = {len(table.entrants) for table in pairing_round.tables}
    assert all(tournament.least_seats <= size <= tournament.seats for size in sizes), f"tables of {sizes}"
    assert not sizes or max(sizes) - min(sizes) <= 1, f"tables of {sizes}"
    assert all(table.legs >= 1 for table in pairing_round.tables)
    assert pairing_round.tables or pairing_round.byes, "a round has neither tables nor byes"


def check_end(history: History) -> None:
    """Check that the format decides no further round and that it predicted the number of matches."""
    chosen, end = history.scenario.format, history.end
    assert end is not None
    assert chosen.next_round(end) is None
    assert len(end.played) == len(history.decided)
    if history.scenario.mishaps.calm:
        decided = chosen.expected_matches(end, lambda size: 1)
        assert decided == history.matches, "the expected matches at the end are not those played"
        expected = chosen.expected_matches(history.scenario.tournament, lambda size: 1)
        may_grow = chosen.name == TournamentFormat.KNOCKOUT and (
            end.options["best_of"] > 1 or end.options["tie_breaks"]
        )
        assert expected <= history.matches if may_grow else expected == history.matches, (
            f"expected {expected} matches, played {history.matches}"
        )


def always_active(history: History) -> list[str]:
    """Return the first entrants that were active whenever a round was decided, and at the end."""
    assert history.end is not None
    states = [*(tournament for tournament, _ in history.decided), history.end]
    missed = {entrant.id for tournament in states for entrant in tournament.entrants if not entrant.active}
    return [entrant.id for entrant in history.scenario.tournament.entrants if entrant.id not in missed]


def seat_spread(history: History) -> int:
    """Return the largest difference between how often an entrant was paired to one seat and to another.

    Leave out seats that smaller tables do not have.
    """
    assert history.end is not None
    tables = [table.entrants for _, pairing_round in history.decided for table in pairing_round.tables]
    seats = min(map(len, tables), default=history.end.seats)
    sat: dict[str, list[int]] = {entrant.id: [0] * seats for entrant in history.end.entrants}
    for table in tables:
        for seat, entrant in enumerate(table[:seats]):
            sat[entrant][seat] += 1
    return max(max(counts) - min(counts) for counts in sat.values())


def small_spread(history: History) -> int:
    """Return the largest difference between how often two starters sat at tables smaller than others of their round."""
    small: Counter[str] = Counter()
    for _, pairing_round in history.decided:
        largest = max((len(table.entrants) for table in pairing_round.tables), default=0)
        for table in pairing_round.tables:
            for entrant in table.entrants if len(table.entrants) < largest else ():
                small[entrant] += 1
    counts = [small[entrant.id] for entrant in history.scenario.tournament.entrants]
    return max(counts) - min(counts)


# -- round robins --


def check_round_robin(history: History) -> None:
    """Check that every table of entrants that stayed meets once in each cycle, and that seats are balanced."""
    tournament = history.scenario.tournament
    cycles = tournament.cycles * (2 if history.scenario.format.name == "double_round_robin" else 1)
    entered = len(tournament.entrants)
    if tournament.least_seats < tournament.seats and not idle_entrants(tournament, entered):
        check_round_robin_for_everyone(history, cycles)
        return
    met = Counter(frozenset(table.entrants) for _, pairing_round in history.decided for table in pairing_round.tables)
    assert all(times <= cycles for times in met.values()), "a table meets too often"
    for table in combinations(always_active(history), tournament.seats):
        assert met[frozenset(table)] == cycles, f"{table} meets {met[frozenset(table)]} times, not {cycles}"
    if history.scenario.mishaps.calm:
        tables_each = cycles * comb(len(tournament.entrants) - 1, tournament.seats - 1)
        assert seat_spread(history) == (tables_each % tournament.seats > 0), f"seats differ by {seat_spread(history)}"


def check_round_robin_for_everyone(history: History, cycles: int) -> None:
    """Check that everyone plays in every round, in each size of tables equally often, and meets everyone."""
    if not history.scenario.mishaps.calm:
        return
    entrants = [entrant.id for entrant in history.scenario.tournament.entrants]
    met: Counter[frozenset[str]] = Counter()
    for _, pairing_round in history.decided:
        assert sorted(_entrants_of(pairing_round)) == sorted(entrants), "an entrant misses a round"
        met.update(frozenset(pair) for table in pairing_round.tables for pair in combinations(table.entrants, 2))
    assert len(history.decided) == cycles * len(entrants)
    assert small_spread(history) == 0, "an entrant sat at smaller tables more often than another"
    assert len(met) == comb(len(entrants), 2), "two entrants never meet"
    assert seat_spread(history) <= 2, f"seats differ by {seat_spread(history)}"


def idle_entrants(tournament: PairingInput, present: int) -> int:
    """Return how many of the entrants who are present cannot have a seat in a round."""
    return present - sum(split_tables(present, tournament.seats, tournament.min_seats))


# -- the gauntlet --


def check_gauntlet(history: History) -> None:
    """Check that the champion plays at every table and meets every challenger often enough."""
    met: Counter[str] = Counter()
    for tournament, pairing_round in history.decided:
        champion = champion_of(tournament)
        assert champion is not None
        for table in pairing_round.tables:
            assert champion.id in table.entrants
            met.update(entrant for entrant in table.entrants if entrant != champion.id)
    end = history.end
    assert end is not None
    champion = champion_of(end)
    active = [entrant for entrant in end.entrants if entrant.active and entrant.first_round <= len(end.played) + 1]
    challengers = [entrant for entrant in active if entrant != champion]
    if champion is None or len(challengers) < end.least_seats - 1:
        return
    assert all(met[entrant.id] >= end.cycles for entrant in challengers), "a challenger met the champion too seldom"
    if history.scenario.mishaps.calm:
        extra = [met[entrant.id] - end.cycles for entrant in challengers]
        assert max(extra) <= 1
        assert sum(extra) <= end.least_seats - 2
        assert seat_spread(history) <= 2, f"seats differ by {seat_spread(history)}"


# -- Swiss --


def check_swiss(history: History) -> None:
    """Check byes and rematches of each round, and the whole tournament if it had no mishaps."""
    byes_had: Counter[str] = Counter()
    met: Counter[frozenset[str]] = Counter()
    for tournament, pairing_round in history.decided:
        present = {*_entrants_of(pairing_round)}
        least = min((byes_had[entrant] for entrant in present), default=0)
        byes = [bye.entrant for bye in pairing_round.byes]
        assert len(byes) == idle_entrants(tournament, len(present)), "there are more byes than necessary"
        may_rest = [entrant for entrant in present if byes_had[entrant] == least]
        if len(may_rest) >= len(byes):
            assert all(byes_had[entrant] == least for entrant in byes), "an entrant with more byes gets the next one"
        if tournament.seats == 2:
            met = _count_meetings(tournament.played)
            check_rematches(pairing_round, present, met, may_rest)
            check_owners(tournament, pairing_round, met)
        byes_had.update(byes)
    if history.scenario.mishaps.calm:
        check_calm_swiss(history, byes_had)


def check_calm_swiss(history: History, byes_had: Counter[str]) -> None:
    """Check a tournament without mishaps: its number of rounds, byes and seats."""
    end = history.end
    assert end is not None
    rounds = end.options["rounds"]
    assert rounds is None or len(end.played) == rounds, "rounds are missing"
    sat = Counter(entrant for played in end.played for table in played.round.tables for entrant in table.entrants)
    paired = sat + byes_had
    assert all(paired[entrant.id] == len(end.played) for entrant in end.entrants), "an entrant misses a round"
    assert max(byes_had.values(), default=0) <= 1, "an entrant has a second bye"
    assert small_spread(history) <= 1, f"smaller tables differ by {small_spread(history)}"
    if 2 * len(end.played) <= len(end.entrants):  # with many rounds for few entrants, rematches come first
        assert seat_spread(history) <= 2, f"seats differ by {seat_spread(history)}"


def _count_meetings(played: Sequence[PlayedRound]) -> Counter[frozenset[str]]:
    return Counter(frozenset(legs[0].entrants) for pairing_round in played for legs in pairing_round.legs if legs)


def check_rematches(
    pairing_round: PairingRound, present: set[str], met: Mapping[frozenset[str], int], may_rest: Sequence[str]
) -> None:
    """Check that entrants meet again only if every pairing of the round has a rematch."""
    rematches = [table for table in pairing_round.tables if met.get(frozenset(table.entrants))]
    if not rematches:
        return
    for resting in may_rest if pairing_round.byes else [None]:
        assert not _can_pair(frozenset(present - {resting}), frozenset(met)), f"{rematches} could be avoided"


def check_owners(tournament: PairingInput, pairing_round: PairingRound, met: Mapping[frozenset[str], int]) -> None:
    """Check that bots of one owner meet only if a rematch is the alternative."""
    owner = {entrant.id: entrant.owner or entrant.id for entrant in tournament.entrants}
    together = [table for table in pairing_round.tables if owner[table.entrants[0]] == owner[table.entrants[1]]]
    if not together or any(met.get(frozenset(table.entrants)) for table in pairing_round.tables):
        return
    seated = frozenset(entrant for table in pairing_round.tables for entrant in table.entrants)
    siblings = {frozenset((a, b)) for a, b in combinations(seated, 2) if owner[a] == owner[b]}
    assert not _can_pair(seated, frozenset(met) | siblings), f"{together} have the same owner, and need not meet"


def _can_pair(entrants: frozenset[str], barred: Pairs) -> bool:
    """Return whether all can be paired without a barred pair. Search exhaustively, the fewest choices first."""

    @cache
    def can_pair(unpaired: frozenset[str]) -> bool:
        if not unpaired:
            return True
        choices = {a: [b for b in unpaired if b != a and frozenset((a, b)) not in barred] for a in unpaired}
        hardest = min(sorted(unpaired), key=lambda entrant: len(choices[entrant]))
        return any(can_pair(unpaired - {hardest, other}) for other in sorted(choices[hardest]))

    return can_pair(entrants)


# -- knockout --


def check_knockout(history: History) -> None:
    """Check ranks, advancement and the bracket."""
    end = history.end
    assert end is not None
    ranked = rank_entrants(end)
    ranks = [rank for rank, _ in ranked]
    assert ranks == sorted(ranks)
    render_bracket(end, None)
    if not history.decided:
        return
    participants = {entrant for _, pairing_round in history.decided for entrant in _entrants_of(pairing_round)}
    assert {entrant for _, entrant in ranked} == participants, "ranks are missing"
    assert [pairing_round.label for _, pairing_round in history.decided].count("final") <= 1
    _check_losers(history)
    if history.scenario.mishaps.calm:
        assert ranks.count(1) == 1, "there is not exactly one winner"
        assert history.decided[-1][1].label == "final"
        _check_field_sizes(history)
        _check_advancement(end)
        _check_seeding(history)


def _entrants_of(pairing_round: PairingRound) -> list[str]:
    seated = [entrant for table in pairing_round.tables for entrant in table.entrants]
    return seated + [bye.entrant for bye in pairing_round.byes]


def _check_losers(history: History) -> None:
    """Check that entrants missing from a round return in no later one, except to fill a final of more than two."""
    for (_, before), (tournament, following) in pairwise(history.decided):
        new = {*_entrants_of(following)} - {*_entrants_of(before)}
        assert not new or (tournament.seats > 2 and following.label == "final"), f"{new} return after a loss"


def _check_field_sizes(history: History) -> None:
    """Check that each round has as many entrants as the round before lets advance."""
    tournament = history.scenario.tournament
    advance, seats = tournament.options["advance"], tournament.seats
    fields = [
        [len(table.entrants) for table in pairing_round.tables if table.label != "third_place"]
        for _, pairing_round in history.decided
    ]
    sizes = [
        len(pairing_round.byes) + sum(tables)
        for (_, pairing_round), tables in zip(history.decided, fields, strict=True)
    ]
    assert sizes[0] == len(tournament.entrants), "the first round lacks entrants"
    for tables, (before, following) in zip(fields, pairwise(sizes), strict=False):
        assert before - sum(size - advance for size in tables) <= following < before
        if seats == 2:
            assert following == before - len(tables)
            assert following & (following - 1) == 0, "a round after the first has gaps in its bracket"
    assert tournament.least_seats <= sizes[-1] <= seats
    if seats == 2:
        assert all(not pairing_round.byes for _, pairing_round in history.decided[1:]), (
            "there are byes after the first round"
        )


def _check_advancement(end: PairingInput) -> None:
    """Check that of each pair only the entrant with more points advances; the match for third place is ignored."""
    for before, following in pairwise(end.played):
        tables = [table for table in following.round.tables if table.label != "third_place"]
        advanced = {*_entrants_of(replace(following.round, tables=tuple(tables)))}
        for table, legs in zip(before.round.tables, before.legs, strict=True):
            points = Counter(
                entrant
                for leg in legs
                for entrant, placement in zip(leg.entrants, leg.placements, strict=True)
                for other in leg.placements
                if placement < other
            )
            ranked = [*points, *(entrant for entrant in table.entrants if entrant not in points)]
            if end.seats == 2 and points[ranked[0]] > points[ranked[1]]:
                assert advanced & {*ranked} == {ranked[0]}, f"{ranked[0]} won, {advanced & {*ranked}} advanced"
            assert len(advanced & {*ranked}) >= (1 if end.seats == 2 else end.options["advance"])


def _check_seeding(history: History) -> None:
    """Check in the rendered bracket that the first two seeds do not meet before the final."""
    bracket = render_bracket(history.end)  # type: ignore[arg-type]  # there is an end
    if history.scenario.tournament.seats > 2:
        return
    for bracket_round in bracket["rounds"]:
        if len(bracket_round["tables"]) + len(bracket_round["byes"]) < 2 or bracket_round["label"] == "final":
            continue
        for table in bracket_round["tables"]:
            assert {1, 2} != {entrant["seed"] for entrant in table["entrants"]}, (
                "the first two seeds meet before the final"
            )


CHECKS: dict[str, Callable[[History], None]] = {
    TournamentFormat.ROUND_ROBIN: check_round_robin,
    TournamentFormat.DOUBLE_ROUND_ROBIN: check_round_robin,
    TournamentFormat.GAUNTLET: check_gauntlet,
    TournamentFormat.SWISS: check_swiss,
    TournamentFormat.KNOCKOUT: check_knockout,
}
