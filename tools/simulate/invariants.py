"""What must hold of every simulated event, whatever went wrong in it. Each check raises AssertionError."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import combinations, pairwise

from referee.pairing import PairingInput, PairingRound, PlayedRound
from referee.pairing.gauntlet import champion_of
from referee.pairing.kinds import TournamentFormat
from referee.pairing.knockout import rank_entrants, render_bracket
from tools.simulate.simulation import History

Pairs = frozenset[frozenset[str]]


def check(history: History) -> None:
    for number, (event, pairing_round) in enumerate(history.decided, 1):
        a_round_seats_everybody_once(event, pairing_round, number)
    the_end_is_the_end(history)
    OF_FORMAT[history.scenario.format.name](history)


# -- of every format --


def a_round_seats_everybody_once(event: PairingInput, pairing_round: PairingRound, number: int) -> None:
    there = {one.id for one in event.entrants if one.active and one.first_round <= number}
    sitting = [one for table in pairing_round.tables for one in table.entrants]
    resting = [bye.entrant for bye in pairing_round.byes]
    assert len({*sitting, *resting}) == len(sitting) + len(resting), "somebody is twice in a round"
    assert there.issuperset((*sitting, *resting)), "somebody plays who is not there"
    assert all(len(table.entrants) == event.seats and table.legs >= 1 for table in pairing_round.tables)
    assert pairing_round.tables or pairing_round.byes, "a round of nothing"


def the_end_is_the_end(history: History) -> None:
    known, end = history.scenario.format, history.end
    assert end is not None
    assert known.next_round(end) is None
    assert len(end.played) == len(history.decided)
    if history.scenario.mishaps.calm:
        assert known.expected_matches(end) == history.matches, "planned at the end is not what was played"
        foreseen = known.expected_matches(history.scenario.event)
        may_grow = known.name == TournamentFormat.KNOCKOUT and (end.options["best_of"] > 1 or end.options["tie_breaks"])
        assert foreseen <= history.matches if may_grow else foreseen == history.matches, (
            f"{foreseen} matches were foreseen, {history.matches} played"
        )


def throughout(history: History) -> list[str]:
    """Who was there from the start and whenever a round was decided."""
    assert history.end is not None
    events = [*(event for event, _ in history.decided), history.end]
    away = {one.id for event in events for one in event.entrants if not one.active}
    return [one.id for one in history.scenario.event.entrants if one.id not in away]


def seat_spread(history: History) -> int:
    """The most by which the seats of one entrant differ in how often it was to sit there."""
    assert history.end is not None
    sat: dict[str, list[int]] = {one.id: [0] * history.end.seats for one in history.end.entrants}
    for _, pairing_round in history.decided:
        for table in pairing_round.tables:
            for seat, one in enumerate(table.entrants):
                sat[one][seat] += 1
    return max(max(counts) - min(counts) for counts in sat.values())


# -- round robins --


def round_robins(history: History) -> None:
    event = history.scenario.event
    cycles = event.cycles * (2 if history.scenario.format.name == "double_round_robin" else 1)
    met = Counter(frozenset(table.entrants) for _, pairing_round in history.decided for table in pairing_round.tables)
    assert all(times <= cycles for times in met.values()), "a table meets too often"
    faithful = throughout(history)
    for table in combinations(faithful, event.seats):
        assert met[frozenset(table)] == cycles, f"{table} meets {met[frozenset(table)]} times, not {cycles}"
    if history.scenario.mishaps.calm:
        bound = (cycles % event.seats > 0) * (1 if event.seats == 2 else event.seats)
        assert seat_spread(history) <= bound, f"seats differ by {seat_spread(history)}"


# -- the gauntlet --


def gauntlet(history: History) -> None:
    met: Counter[str] = Counter()
    for event, pairing_round in history.decided:
        champion = champion_of(event)
        assert champion is not None
        for table in pairing_round.tables:
            assert champion.id in table.entrants
            met.update(one for one in table.entrants if one != champion.id)
    end = history.end
    assert end is not None
    champion = champion_of(end)
    there = [one for one in end.entrants if one.active and one.first_round <= len(end.played) + 1 and one != champion]
    if champion is None or len(there) < end.seats - 1:
        return
    assert all(met[one.id] >= end.cycles for one in there), "a challenger misses the champion"
    if history.scenario.mishaps.calm:
        extra = [met[one.id] - end.cycles for one in there]
        assert max(extra) <= 1
        assert sum(extra) <= end.seats - 2
        assert seat_spread(history) <= 2, f"seats differ by {seat_spread(history)}"


# -- Swiss --


def swiss(history: History) -> None:
    rested: Counter[str] = Counter()
    met: Counter[frozenset[str]] = Counter()
    for event, pairing_round in history.decided:
        there = {one for table in pairing_round.tables for one in table.entrants} | {
            bye.entrant for bye in pairing_round.byes
        }
        least = min((rested[one] for one in there), default=0)
        byes = [bye.entrant for bye in pairing_round.byes]
        assert len(byes) == len(there) % event.seats, "more byes than must be"
        played = event.played
        if len([one for one in there if rested[one] == least]) >= len(byes):
            assert all(rested[one] == least for one in byes), "a bye before everybody there has had as many"
        if event.seats == 2:
            met = _met(played)
            no_rematch_while_avoidable(pairing_round, there, met, [one for one in there if rested[one] == least])
            siblings_keep_apart(event, pairing_round, met)
        rested.update(byes)
    if history.scenario.mishaps.calm:
        swiss_in_calm(history, rested)


def swiss_in_calm(history: History, rested: Counter[str]) -> None:
    end = history.end
    assert end is not None
    rounds = end.options["rounds"]
    assert rounds is None or len(end.played) == rounds, "rounds are missing"
    sat = Counter(one for played in end.played for table in played.round.tables for one in table.entrants)
    assert all(sat[one.id] + rested[one.id] == len(end.played) for one in end.entrants), "somebody misses a round"
    assert max(rested.values(), default=0) <= 1, "a second bye"
    if 2 * len(end.played) <= len(end.entrants):  # with many rounds for few entrants, rematches come first
        assert seat_spread(history) <= 2, f"seats differ by {seat_spread(history)}"


def _met(played: Sequence[PlayedRound]) -> Counter[frozenset[str]]:
    return Counter(frozenset(legs[0].entrants) for pairing_round in played for legs in pairing_round.legs if legs)


def no_rematch_while_avoidable(
    pairing_round: PairingRound, there: set[str], met: Mapping[frozenset[str], int], may_rest: Sequence[str]
) -> None:
    again = [table for table in pairing_round.tables if met.get(frozenset(table.entrants))]
    if not again:
        return
    resting = may_rest if pairing_round.byes else [None]
    for one in resting:
        assert not _pairable(frozenset(there - {one}), frozenset(met)), f"{again} meet again, and need not"


def siblings_keep_apart(event: PairingInput, pairing_round: PairingRound, met: Mapping[frozenset[str], int]) -> None:
    owner = {one.id: one.owner or one.id for one in event.entrants}
    together = [table for table in pairing_round.tables if owner[table.entrants[0]] == owner[table.entrants[1]]]
    if not together or any(met.get(frozenset(table.entrants)) for table in pairing_round.tables):
        return
    sitting = frozenset(one for table in pairing_round.tables for one in table.entrants)
    kin = {frozenset((one, two)) for one, two in combinations(sitting, 2) if owner[one] == owner[two]}
    assert not _pairable(sitting, frozenset(met) | kin), f"{together} are siblings, and need not meet"


def _pairable(people: frozenset[str], barred: Pairs) -> bool:
    """Whether all can be paired without a barred pair: tried out, whoever has the fewest choices first."""

    @cache
    def solved(left: frozenset[str]) -> bool:
        if not left:
            return True
        choices = {one: [two for two in left if two != one and frozenset((one, two)) not in barred] for one in left}
        tight = min(sorted(left), key=lambda one: len(choices[one]))
        return any(solved(left - {tight, two}) for two in sorted(choices[tight]))

    return solved(people)


# -- knockout --


def knockout(history: History) -> None:
    end = history.end
    assert end is not None
    table = rank_entrants(end)
    assert [place for place, _ in table] == sorted(place for place, _ in table)
    render_bracket(end, None)
    if not history.decided:
        return
    who_took_part = {one for _, pairing_round in history.decided for one in _everybody(pairing_round)}
    assert {one for _, one in table} == who_took_part, "places are missing"
    assert [pairing_round.label for _, pairing_round in history.decided].count("final") <= 1
    _losers_are_out(history)
    if history.scenario.mishaps.calm:
        assert [place for place, _ in table].count(1) == 1, "no winner"
        assert history.decided[-1][1].label == "final"
        _fields_shrink(history)
        _points_decide(end)
        _the_strongest_meet_in_the_final(history)


def _everybody(pairing_round: PairingRound) -> list[str]:
    return [one for table in pairing_round.tables for one in table.entrants] + [
        bye.entrant for bye in pairing_round.byes
    ]


def _losers_are_out(history: History) -> None:
    """Who is missing from a round never comes back, but to fill a final of more than two."""
    for (_, before), (event, after) in pairwise(history.decided):
        new = {*_everybody(after)} - {*_everybody(before)}
        assert not new or (event.seats > 2 and after.label == "final"), f"{new} come back"


def _fields_shrink(history: History) -> None:
    advance, seats = history.scenario.event.options["advance"], history.scenario.event.seats
    fields = [
        sum(table.label != "third_place" for table in pairing_round.tables) for _, pairing_round in history.decided
    ]
    sizes = [
        len(pairing_round.byes) + seats * tables
        for (_, pairing_round), tables in zip(history.decided, fields, strict=True)
    ]
    assert sizes[0] == len(history.scenario.event.entrants), "not everybody begins"
    for at, (before, after) in enumerate(pairwise(sizes)):
        tables = fields[at]
        assert before - tables * (seats - advance) <= after < before
        if seats == 2:
            assert after == before - tables
            assert after & (after - 1) == 0, "the bracket is not full after the first round"
    assert sizes[-1] == seats
    if seats == 2:
        assert all(not pairing_round.byes for _, pairing_round in history.decided[1:]), "byes after the first round"


def _points_decide(end: PairingInput) -> None:
    """Of a pair the one with more points is in the next round, the other not, but for the third place."""
    for before, after in pairwise(end.played):
        on = {one for table in after.round.tables if table.label != "third_place" for one in table.entrants}
        on |= {bye.entrant for bye in after.round.byes}
        for table, legs in zip(before.round.tables, before.legs, strict=True):
            points = Counter(
                one
                for leg in legs
                for one, place in zip(leg.entrants, leg.placements, strict=True)
                for other in leg.placements
                if place < other
            )
            ranked = [*points, *(one for one in table.entrants if one not in points)]
            if end.seats == 2 and points[ranked[0]] > points[ranked[1]]:
                assert on & {*ranked} == {ranked[0]}, f"{ranked[0]} won, {on & {*ranked}} goes on"
            assert len(on & {*ranked}) >= (1 if end.seats == 2 else end.options["advance"])


def _the_strongest_meet_in_the_final(history: History) -> None:
    """Seeds as in render_bracket(): no table holds two of the best 2, 4, 8 … before as many tables are left."""
    picture = render_bracket(history.end)  # type: ignore[arg-type]  # there is an end
    if history.scenario.event.seats > 2:
        return
    for picture_round in picture["rounds"]:
        if len(picture_round["tables"]) + len(picture_round["byes"]) < 2 or picture_round["label"] == "final":
            continue
        for table in picture_round["tables"]:
            assert {1, 2} != {one["seed"] for one in table["entrants"]}, "the first two seeds meet before the final"


OF_FORMAT: dict[str, Callable[[History], None]] = {
    TournamentFormat.ROUND_ROBIN: round_robins,
    TournamentFormat.DOUBLE_ROUND_ROBIN: round_robins,
    TournamentFormat.GAUNTLET: gauntlet,
    TournamentFormat.SWISS: swiss,
    TournamentFormat.KNOCKOUT: knockout,
}
