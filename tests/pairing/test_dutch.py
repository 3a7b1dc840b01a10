"""Dutch pairings compared with those of a published engine, and difficult cases.

The results of the tournaments below are random. Their pairings and seats are those of bbpPairings (Bierema Boyz
Programming; FIDE C.04.3, Dutch system) for these results, recorded once.
"""

from collections.abc import Sequence
from itertools import count

import pytest

from referee.pairing import Bye, Entrant, Leg, PairingInput, PairingRound, PlayedRound, Table, formats
from referee.pairing.seeded_random import shuffle

# One round per line: first seat, result of it (+ won, = tied, - lost), second seat; a number alone had the bye.
FOURTEEN = (
    "1=8 9-2 3+10 11+4 5+12 13-6 7+14",
    "2+7 6+3 11=5 4-1 8=9 10+13 12=14",
    "6-2 1+11 5+8 7=10 3+12 14+9 13=4",
    "2+5 3=1 10-6 14-11 8-7 4+12 9=13",
    "1+2 7=6 5-3 11-10 4+14 13=8 12=9",
    "6-1 2=3 11+7 10+4 9-5 14-13 8=12",
)
FIFTEEN = (
    "1=8 9-2 3-10 11-4 5=12 13=6 7+14 15",
    "2=7 4=15 10=1 6=5 8+13 12-3 14-9 11",
    "15-2 8-4 7-10 1-6 3+9 5-11 13+12 14",
    "2+10 4+3 6=11 13-7 15+8 9-1 14-5 12",
    "4-2 10-6 7+15 11-1 3+8 5-13 12-14 9",
    "2=6 7-4 1+3 10-11 14-13 15-5 9+12 8",
    "1-2 6=4 11-7 13=3 5-9 8+14 12-15 10",
)
SWISS = formats()["swiss"]
RESULTS = {"+": (1, 2), "=": (1, 1), "-": (2, 1)}


def round_of(line: str) -> PlayedRound:
    tables, legs, byes = [], [], []
    for word in line.split():
        sign = next((sign for sign in RESULTS if sign in word), None)
        if sign is None:
            byes.append(Bye(word, "odd"))
            continue
        first, _, second = word.partition(sign)
        tables.append(Table((first, second)))
        legs.append((Leg((first, second), RESULTS[sign], (0, 0)),))
    return PlayedRound(PairingRound(tuple(tables), tuple(byes)), tuple(legs))


def tournament_of(entrants: int, lines: Sequence[str], rounds: int) -> PairingInput:
    """Return a tournament seeded by number, in which the first entrant draws the first seat."""
    draw_key = next(lot for lot in (bytes([at]) for at in count()) if shuffle((0, 1), lot, "first seat")[0] == 0)
    people = tuple(Entrant(str(at), seed=at) for at in range(1, entrants + 1))
    return PairingInput(2, {"rounds": rounds}, 1, people, tuple(map(round_of, lines)), draw_key)


@pytest.mark.parametrize(
    ("lines", "before"), [(lines, before) for lines in (FOURTEEN, FIFTEEN) for before in range(len(lines))]
)
def test_rounds_are_paired_and_seated_as_a_published_engine_does(lines: Sequence[str], before: int) -> None:
    entrants = 14 if lines is FOURTEEN else 15
    wanted = round_of(lines[before]).round

    pairing_round = SWISS.next_round(tournament_of(entrants, lines[:before], len(lines)))

    assert pairing_round is not None
    assert {table.entrants for table in pairing_round.tables} == {table.entrants for table in wanted.tables}
    assert pairing_round.byes == wanted.byes
