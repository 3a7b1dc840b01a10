"""Pairs of small Swiss fields, compared with every possible pairing after random rounds."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from referee.pairing import Bye, Entrant, Leg, PairingInput, PairingRound, PlayedRound, Table, formats
from referee.pairing.history import PairingHistory, read_history

SWISS = formats()["swiss"]
Pair = tuple[int, int]
NOBODY = -1  # the partner of a bye


def random_tournament(dice: Random) -> PairingInput:
    """Return a tournament of up to ten active entrants, few owners and rounds that were paired at random."""
    count, rounds = dice.randint(4, 10), dice.randint(1, 8)
    owners = dice.randint(2, count)
    late = {index: dice.randint(1, rounds + 1) for index in range(count) if dice.random() < 0.1}
    people = [
        Entrant(f"e{index}", f"owner {dice.randrange(owners)}", first_round=late.get(index, 1))
        for index in range(count)
    ]
    starters = [[entrant.id for entrant in people if entrant.first_round <= number] for number in range(1, rounds)]
    played = tuple(random_round(dice, ids) for ids in starters)
    people = [replace(entrant, active=dice.random() < 0.95) for entrant in people]
    return PairingInput(2, {"rounds": rounds + dice.randint(0, 1)}, 1, tuple(people), played, b"draw" * 8)


def random_round(dice: Random, ids: list[str]) -> PlayedRound:
    dice.shuffle(ids)
    byes = (Bye(ids.pop(), "odd"),) if len(ids) % 2 else ()
    tables = tuple(Table((ids[at], ids[at + 1])) for at in range(0, len(ids), 2))
    legs = [(Leg(table.entrants, dice.choice(((1, 2), (2, 1), (1, 1))), (0, 0)),) for table in tables]
    return PlayedRound(PairingRound(tables, byes), tuple(leg if dice.random() < 0.9 else () for leg in legs))


def all_pairings(people: list[int]) -> Iterator[list[Pair]]:
    """Yield every way to pair all people, one of whom is ``NOBODY`` if their number is odd."""
    if not people:
        yield []
        return
    first, *others = people
    for other in others:
        for rest in all_pairings([player for player in others if player != other]):
            yield [(first, other), *rest]


def due_seat(history: PairingHistory, player: int) -> int | None:
    """Return the seat that a player is due absolutely: the other one would come a third time in a row or too often."""
    first, second = history.seat_counts[player]
    recent = history.recent_seats[player][-2:]
    if abs(first - second) > 1:
        return int(first > second)
    return 1 - recent[0] if len(recent) == 2 and recent[0] == recent[1] else None


def criteria(tournament: PairingInput, history: PairingHistory, pairs: list[Pair]) -> tuple[int, ...]:
    """Return what a pairing costs, the most important criterion first."""
    number = len(tournament.played) + 1
    top = number - 1 if number == tournament.options["rounds"] else 10**9
    rested = next((max(pair) for pair in pairs if NOBODY in pair), None)
    met = [history.met[own].get(other, 0) for own, other in pairs if NOBODY not in (own, other)]
    siblings = seats = 0
    for own, other in pairs:
        if NOBODY in (own, other):
            continue
        siblings += history.are_siblings(own, other)
        due = due_seat(history, own)
        lead = max(history.score[own], history.score[other]) > top
        seats += due is not None and due == due_seat(history, other) and not lead
    bye = (0, 0, 0)
    if rested is not None:
        missed = number - 1 - len(history.recent_seats[rested]) - history.byes[rested]
        bye = (history.byes[rested], history.score[rested], missed)
    return bye[0], sum(count > 0 for count in met), sum(met), siblings, *bye[1:], seats


@pytest.mark.parametrize("seed", range(12))
def test_no_other_pairing_is_better_by_the_documented_criteria(seed: int) -> None:
    dice = Random(seed)
    worse, compared = [], 0
    for case in range(30):
        tournament = random_tournament(dice)
        history = read_history(tournament)
        if len(history.ids) < 2:
            continue
        compared += 1
        people = list(range(len(history.ids))) + [NOBODY] * (len(history.ids) % 2)

        paired = SWISS.next_round(tournament)

        assert paired is not None
        number = {entrant: player for player, entrant in enumerate(history.ids)}
        own = [(number[table.entrants[0]], number[table.entrants[1]]) for table in paired.tables]
        own += [(number[bye.entrant], NOBODY) for bye in paired.byes]
        got = criteria(tournament, history, own)
        best = min(criteria(tournament, history, pairs) for pairs in all_pairings(people))
        if got != best:
            worse.append((case, got, best))
    assert compared > 20
    assert not worse, worse
