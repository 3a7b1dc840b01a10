"""Swiss rounds: the history from which they are paired, options and refusals. ``test_tournaments`` plays whole ones."""

from dataclasses import replace
from itertools import combinations

import pytest

from referee.errors import BadOption
from referee.pairing import Bye, Entrant, Leg, PairingInput, PairingRound, PlayedRound, Table, bye_points, formats
from referee.pairing.history import read_history
from referee.pairing.swiss import default_rounds

SWISS = formats()["swiss"]


def tournament_of(
    seats: int, entrants: int, *, rounds: int | None = None, draw_key: bytes = b"draw" * 8
) -> PairingInput:
    people = tuple(Entrant(f"e{at}") for at in range(entrants))
    return PairingInput(seats, SWISS.options({"rounds": rounds}, seats), 1, people, (), draw_key)


def meetings(pairing_round: PairingRound) -> set[frozenset[str]]:
    return {frozenset(pair) for table in pairing_round.tables for pair in combinations(table.entrants, 2)}


# -- changes during a tournament --


def test_who_was_to_meet_and_did_not_may_meet_again() -> None:
    tournament = tournament_of(2, 2, rounds=1)
    pairing_round = SWISS.next_round(tournament)
    assert pairing_round is not None

    again = SWISS.next_round(replace(tournament, options={"rounds": 2}, played=(PlayedRound(pairing_round, ((),)),)))

    assert again is not None
    assert meetings(again) == meetings(pairing_round)
    assert read_history(replace(tournament, played=(PlayedRound(pairing_round, ((),)),))).met == [{}, {}]


def test_matches_at_one_table_are_one_meeting_and_several_results() -> None:
    pairing_round = PairingRound((Table(("e0", "e1")),), (Bye("e2", "odd"),))
    leg = Leg(("e0", "e1"), (1, 2), (0, 0))
    turned = Leg(("e1", "e0"), (1, 1), (0, 0))

    history = read_history(replace(tournament_of(2, 3), played=(PlayedRound(pairing_round, ((leg, turned),)),)))

    at = {entrant: place for place, entrant in enumerate(history.ids)}
    # In half points; the bye counts for both matches.
    assert [history.score[at[entrant]] for entrant in ("e0", "e1", "e2")] == [3, 1, 4]
    assert history.met[at["e0"]] == {at["e1"]: 1}
    assert history.seat_counts[at["e0"]] == [1, 1]
    assert bye_points(2) == 1
    assert bye_points(4) * 2 == 1


def test_another_draw_pairs_otherwise() -> None:
    rounds = {SWISS.next_round(tournament_of(2, 20, draw_key=bytes([lot]) * 32)) for lot in range(3)}

    assert len(rounds) == 3


# -- refusals --


def test_options_are_complete_and_strange_ones_refused() -> None:
    assert SWISS.options({}, 2) == {"rounds": None}
    for wrong in ({"rounds": 0}, {"rounds": True}, {"rounds": "3"}, {"rounds": 101}, {"round": 3}):
        with pytest.raises(BadOption, match="format_options"):
            SWISS.options(wrong, 2)


@pytest.mark.parametrize(
    ("entrants", "seats", "rounds", "cycles", "reason"),
    [
        (3, 4, None, 1, "4 seats, but only 3"),
        (6, 2, 6, 1, "at most 5 rounds, not 6"),
        (7, 2, 8, 1, "at most 7 rounds, not 8"),
        (11, 4, 4, 1, "at most 3 rounds, not 4"),  # three byes a round
        (8, 2, 3, 2, "must be 1"),
    ],
)
def test_events_that_cannot_be_are_refused(entrants: int, seats: int, rounds: int, cycles: int, reason: str) -> None:
    with pytest.raises(BadOption, match=reason):
        SWISS.check(entrants, seats, {"rounds": rounds}, cycles)


@pytest.mark.parametrize(("entrants", "seats", "rounds"), [(8, 2, 3), (9, 2, 4), (2, 2, 1), (3, 2, 2), (64, 4, 5)])
def test_rounds_by_default(entrants: int, seats: int, rounds: int) -> None:
    assert default_rounds(entrants, seats) == rounds
    tournament = tournament_of(seats, entrants)
    assert SWISS.expected_matches(tournament, lambda seats: 1) == rounds * (entrants // seats)


def test_what_a_stand_in_plays_brings_no_points() -> None:
    tournament = tournament_of(2, 4)
    ids = [entrant.id for entrant in tournament.entrants]
    legs = tuple((Leg(seated, (1, 2), (1, -1), (False, True)),) for seated in ((ids[0], ids[1]), (ids[2], ids[3])))
    pairing_round = PairingRound(tuple(Table(leg.entrants) for (leg,) in legs))

    history = read_history(replace(tournament, played=(PlayedRound(pairing_round, legs),)))

    assert set(history.score) == {0}
    assert all(sum(met.values()) == 1 for met in history.met)


def test_a_bye_brings_an_absent_entrant_no_score_until_it_has_played_itself() -> None:
    before = tournament_of(2, 3)
    people = tuple(replace(entrant, absent=entrant.id != "e1") for entrant in before.entrants)
    first = PairingRound((Table(("e0", "e1")),), (Bye("e2", "odd"),))
    substituted = Leg(("e0", "e1"), (1, 2), (0, 0), scored=(False, True))
    second = PairingRound((Table(("e2", "e1")),), (Bye("e0", "odd"),))
    itself = Leg(("e2", "e1"), (2, 1), (0, 0))

    one = replace(before, entrants=people, played=(PlayedRound(first, ((substituted,),)),))
    two = replace(one, played=(*one.played, PlayedRound(second, ((itself,),))))

    def scores(tournament: PairingInput) -> dict[str, int]:
        history = read_history(tournament)
        return dict(zip(history.ids, (score // (2 * history.unit) for score in history.score), strict=True))

    assert scores(one) == {"e0": 0, "e1": 0, "e2": 0}
    assert scores(two) == {"e0": 0, "e1": 1, "e2": 1}  # e2 has played: its bye counts; a substitute played for e0
    assert sum(read_history(two).byes) == 2  # nobody has a second one
