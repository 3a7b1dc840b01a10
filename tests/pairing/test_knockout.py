"""Knockouts: pairings, who advances, and final ranks."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from referee.errors import BadOption
from referee.pairing import Bye, Entrant, Leg, PairingInput, PairingRound, PlayedRound, Table
from referee.pairing.duplicates import merge_duplicates
from referee.pairing.knockout import Knockout, rank_entrants, render_bracket
from referee.ratings.elo import MICRO

KNOCKOUT = Knockout()


def tournament(names: str | Sequence[str], seats: int = 2, **options: object) -> PairingInput:
    """Return a knockout of entrants with descending ratings, so that the first is the first seed."""
    entrants = tuple(Entrant(name, rating=(2000 - at) * MICRO) for at, name in enumerate(names))
    return PairingInput(seats, KNOCKOUT.options(options, seats), 1, entrants, (), bytes(32))


def leg(seated: Sequence[str], ranking: Sequence[str] | None = None) -> Leg:
    """Return a match that ended in this order, alphabetically by default."""
    order = sorted(seated) if ranking is None else list(ranking)
    return Leg(tuple(seated), tuple(order.index(entrant) + 1 for entrant in seated), (0,) * len(seated))


def tie(*seated: str) -> Leg:
    return Leg(tuple(seated), (1,) * len(seated), (0,) * len(seated))


def after(before: PairingInput, *legs: Sequence[Leg]) -> PairingInput:
    """Return the tournament after its next round; without ``legs`` every table ends alphabetically."""
    pairing_round = KNOCKOUT.next_round(before)
    assert pairing_round is not None
    tables = legs or [[leg(table.entrants)] * table.legs for table in pairing_round.tables]
    return replace(before, played=(*before.played, PlayedRound(pairing_round, tuple(tuple(table) for table in tables))))


def upset_of(before: PairingInput) -> PairingInput:
    """Return the tournament after a round in which the weaker win."""
    pairing_round = KNOCKOUT.next_round(before)
    assert pairing_round is not None
    return after(before, *([leg(table.entrants, sorted(table.entrants)[::-1])] for table in pairing_round.tables))


def without(before: PairingInput, *names: str) -> PairingInput:
    entrants = tuple(replace(entrant, active=entrant.active and entrant.id not in names) for entrant in before.entrants)
    return replace(before, entrants=entrants)


def to_the_end(before: PairingInput) -> PairingInput:
    while KNOCKOUT.next_round(before) is not None:
        before = after(before)
    return before


def expected(whole: PairingInput) -> int:
    return KNOCKOUT.expected_matches(whole, lambda seats: 1)


def tables(pairing_round: PairingRound | None) -> list[set[str]]:
    assert pairing_round is not None
    return [{*table.entrants} for table in pairing_round.tables]


# -- the bracket --


def test_eight_meet_as_in_the_standard_bracket() -> None:
    first = tournament("ABCDEFGH")

    second = after(first)
    third = after(second)

    assert tables(KNOCKOUT.next_round(first)) == [{"A", "H"}, {"B", "G"}, {"C", "F"}, {"D", "E"}]
    assert tables(KNOCKOUT.next_round(second)) == [{"A", "D"}, {"B", "C"}]
    assert tables(KNOCKOUT.next_round(third)) == [{"A", "B"}]
    assert KNOCKOUT.next_round(after(third)) is None


def test_the_winner_of_a_table_takes_its_place_in_the_bracket() -> None:
    upset = upset_of(tournament("ABCDEFGH"))

    assert tables(KNOCKOUT.next_round(upset)) == [{"H", "E"}, {"G", "F"}]


def test_the_best_seeds_rest_when_the_bracket_is_not_full() -> None:
    pairing_round = KNOCKOUT.next_round(tournament("ABCDEF"))

    assert tables(pairing_round) == [{"C", "F"}, {"D", "E"}]
    assert pairing_round is not None
    assert pairing_round.byes == (Bye("A", "odd"), Bye("B", "odd"))


@pytest.mark.parametrize("count", [2, 3, 5, 8, 21, 64, 100])
def test_if_the_stronger_always_wins_the_places_are_the_seeds(count: int) -> None:
    names = [f"{number:03}" for number in range(count)]

    end = to_the_end(tournament(names, third_place=True))

    table = rank_entrants(end)
    assert [entrant for _, entrant in table] == names
    assert [place for place, _ in table][:3] == [1, 2, 3][:count]
    assert len(end.played) == (count - 1).bit_length()
    assert expected(tournament(names, third_place=True)) == expected(end) == count - 1 + (count > 3)


def test_rounds_are_called_by_what_they_lead_to() -> None:
    end = to_the_end(tournament([f"{number:02}" for number in range(17)]))

    labels = ["last_32", "last_16", "quarter_final", "semi_final", "final"]
    assert [played.round.label for played in end.played] == labels


def test_seeds_by_hand_come_before_those_without() -> None:
    entrants = tuple(
        Entrant(name, rating=rating * MICRO, seed=seed)
        for name, rating, seed in (("A", 1500, 2), ("B", 1900, None), ("C", 1400, 1), ("D", 1600, None))
    )
    by_hand = replace(tournament("ABCD", seeding="hand"), entrants=entrants)
    by_rating = replace(tournament("ABCD"), entrants=entrants)

    assert tables(KNOCKOUT.next_round(by_hand)) == [{"C", "D"}, {"A", "B"}]  # C, A by hand; then B, D by rating
    assert tables(KNOCKOUT.next_round(by_rating)) == [{"B", "C"}, {"D", "A"}]


def test_a_draw_of_lots_knows_no_ratings() -> None:
    opponents = set()
    for number in range(40):
        pairing_round = KNOCKOUT.next_round(replace(tournament("ABCD", seeding="draw"), draw_key=bytes([number]) * 32))
        opponents |= {*next(table for table in tables(pairing_round) if "A" in table)}

    assert opponents == {*"ABCD"}


# -- legs --


@pytest.mark.parametrize(
    ("best_of", "results", "more"),
    [
        (3, "A", 1),  # 1:0 with two legs scheduled: the second is needed, the third perhaps not
        (3, "AA", 0),
        (3, "AB", 1),
        (3, "ABA", 0),
        (5, "AAB", 1),
        (5, "AA", 1),
        (4, "AA", 1),  # 2:0, and 2:2 is still possible
        (4, "AAB", 1),
        (4, "AAA", 0),
        (3, "A=", 1),  # 1½:½ can become 1½:1½
        (3, "A=B", 0),  # tied, and no tie-breaks: the better seed
        (2, "==", 0),
    ],
)
def test_a_pair_plays_until_one_cannot_be_caught(best_of: int, results: str, more: int) -> None:
    running = tournament("AB", best_of=best_of)
    pairing_round = KNOCKOUT.next_round(running)
    assert pairing_round is not None
    assert pairing_round.tables[0].legs == best_of // 2 + 1  # no leg that might not be needed
    won = {"A": leg("AB", "AB"), "B": leg("AB", "BA"), "=": tie("A", "B")}

    assert KNOCKOUT.more_legs(running, Table(("A", "B"), "final"), [won[result] for result in results]) == more


def test_tie_breaks_are_played_one_at_a_time_and_count_only_beyond_the_tie() -> None:
    running = tournament("AB", best_of=2, tie_breaks=2)
    tied = [leg("AB", "AB"), leg("BA", "BA")]
    table = Table(("A", "B"), "final")

    assert KNOCKOUT.more_legs(running, table, tied) == 1
    assert KNOCKOUT.more_legs(running, table, [*tied, tie("A", "B")]) == 1
    assert KNOCKOUT.more_legs(running, table, [*tied, tie("A", "B"), tie("A", "B")]) == 0
    assert KNOCKOUT.more_legs(running, table, [*tied, leg("AB", "BA")]) == 0
    assert rank_entrants(after(running, [*tied, leg("AB", "BA")])) == [(1, "B"), (2, "A")]


def test_after_the_tie_breaks_the_better_seed_goes_on() -> None:
    end = after(tournament("AB", best_of=1, tie_breaks=1), [tie("A", "B"), tie("A", "B")])

    assert rank_entrants(end) == [(1, "A"), (2, "B")]


def test_larger_tables_play_all_legs_and_add_the_points() -> None:
    running = tournament("ABC", seats=3, best_of=2, tie_breaks=1)
    table = Table(("A", "B", "C"), "final")
    first, second = leg("ABC", "BAC"), leg("BCA", "CAB")  # B 2 + 0, A 1 + 1, C 0 + 2: all tied

    assert KNOCKOUT.more_legs(running, table, [first]) == 1
    assert KNOCKOUT.more_legs(running, table, [first, second]) == 1
    assert KNOCKOUT.more_legs(running, table, [first, leg("BCA", "BAC")]) == 0
    assert rank_entrants(after(running, [first, second, leg("ABC", "CBA")])) == [(1, "C"), (2, "B"), (3, "A")]


def test_a_duplicate_set_is_one_leg() -> None:
    first = Leg(("A", "B", "C"), (1, 2, 3), (5, 0, -5))
    second = Leg(("B", "C", "A"), (1, 2, 2), (4, -2, -2))

    assert merge_duplicates([first, second]) == Leg(("A", "B", "C"), (2, 1, 3), (3, 4, -7))  # A 2 + ½, B 1 + 2, C 0 + ½


def test_seats_even_out_over_the_rounds() -> None:
    for number in range(20):
        first = replace(tournament([f"{number:02}" for number in range(16)]), draw_key=bytes([number]) * 32)

        played = to_the_end(first).played

        legs = [leg for pairing_round in played for legs in pairing_round.legs for leg in legs if "00" in leg.entrants]
        assert 1 <= sum(leg.entrants[0] == "00" for leg in legs) <= 3, "one seat in all four rounds"


# -- larger tables --


def test_fours_of_which_two_go_on_keep_tablemates_apart() -> None:
    first = tournament("ABCDEFGHIJKLMNOP", seats=4, advance=2)

    second = after(first)

    assert tables(KNOCKOUT.next_round(first)) == [{*"AHIP"}, {*"BGJO"}, {*"CFKN"}, {*"DELM"}]
    assert tables(KNOCKOUT.next_round(second)) == [{*"ADGF"}, {*"BCHE"}]  # A–H and D–E won their tables together
    assert rank_entrants(to_the_end(second))[:4] == [(1, "A"), (2, "B"), (3, "C"), (4, "D")]


def test_fifteen_at_fours_rest_three_and_the_best_play_last() -> None:
    end = to_the_end(tournament("ABCDEFGHIJKLMNO", seats=4))

    shape = [(len(played.round.byes), len(played.round.tables)) for played in end.played]

    assert shape == [(3, 3), (2, 1), (0, 1)]  # 15 = 3 + 12; 6 = 2 + 4, of which two advance; 4


def test_a_final_that_lost_somebody_is_filled_up_by_the_best_who_went_out() -> None:
    second = after(tournament("ABCDEFGH", seats=4, advance=2))

    pairing_round = KNOCKOUT.next_round(without(second, "B"))

    assert tables(pairing_round) == [{*"ACDE"}]  # E and F were third, E is the better seed


# -- withdrawals and cancellations --


def test_the_opponent_of_who_withdrew_goes_on_by_walkover() -> None:
    second = without(after(tournament("ABCDEFGH")), "D")

    pairing_round = KNOCKOUT.next_round(second)

    assert tables(pairing_round) == [{"B", "C"}]
    assert pairing_round is not None
    assert pairing_round.byes == (Bye("A", "walkover"),)
    assert rank_entrants(to_the_end(second))[:2] == [(1, "A"), (2, "B")]
    assert (3, "D") in rank_entrants(to_the_end(second))  # it had reached the semi-final


def test_who_comes_back_after_a_walkover_stays_out() -> None:
    second = without(after(tournament("ABCD")), "A")
    third = after(second)

    back = replace(third, entrants=tuple(replace(entrant, active=True) for entrant in third.entrants))

    assert KNOCKOUT.next_round(back) is None
    assert rank_entrants(back)[:2] == [(1, "B"), (2, "A")]


def test_a_final_of_nobody_ends_the_event() -> None:
    assert KNOCKOUT.next_round(without(after(tournament("ABCD")), "A", "B")) is None


def test_a_match_cut_short_by_a_withdrawal_goes_to_who_is_there() -> None:
    running = tournament("AB", best_of=3)
    legs = [leg("AB", "AB")]

    left = without(running, "A")

    assert KNOCKOUT.more_legs(left, Table(("A", "B"), "final"), legs) == 0
    pairing_round = KNOCKOUT.next_round(running)
    assert pairing_round is not None
    assert rank_entrants(replace(left, played=(PlayedRound(pairing_round, (tuple(legs),)),)))[0] == (1, "B")


def test_a_cancelled_table_goes_to_the_better_seed_and_is_not_played_again() -> None:
    first = tournament("ABCD")

    second = after(first, [], [leg("BC", "CB")])

    assert KNOCKOUT.more_legs(first, Table(("A", "D")), []) == 0
    assert tables(KNOCKOUT.next_round(second)) == [{"A", "C"}]


def test_a_result_voided_later_unseats_nobody() -> None:
    first = tournament("ABCD")
    final = after(upset_of(first), [leg("CD", "CD")])

    voided = replace(final, played=(replace(final.played[0], legs=((), ())), final.played[1]))

    assert rank_entrants(voided)[:2] == [(1, "C"), (2, "D")]
    assert KNOCKOUT.next_round(voided) is None


# -- third place and bracket --


def test_the_losers_of_the_semi_final_play_for_the_third_place_beside_the_final() -> None:
    third = after(tournament("ABCD", third_place=True))

    pairing_round = KNOCKOUT.next_round(third)

    assert pairing_round is not None
    assert [(table.label, {*table.entrants}) for table in pairing_round.tables] == [
        ("final", {"A", "B"}),
        ("third_place", {"C", "D"}),
    ]
    end = after(third, [leg("AB")], [leg("CD", "DC")])
    assert rank_entrants(end) == [(1, "A"), (2, "B"), (3, "D"), (4, "C")]


def test_without_a_match_for_it_the_third_place_is_shared() -> None:
    assert rank_entrants(to_the_end(tournament("ABCD"))) == [(1, "A"), (2, "B"), (3, "C"), (3, "D")]


@pytest.mark.parametrize(("gone", "byes", "third"), [("C", "D", "D"), ("CA", "BD", "D"), ("A", "B", "C")])
def test_the_third_place_survives_withdrawals(gone: str, byes: str, third: str) -> None:
    last = without(after(tournament("ABCD", third_place=True)), *gone)

    pairing_round = KNOCKOUT.next_round(last)

    assert pairing_round is not None
    assert [bye.entrant for bye in pairing_round.byes] == [*byes]
    assert rank_entrants(to_the_end(last))[2] == (3, third)


def test_the_bracket_tells_who_came_from_where() -> None:
    running = after(tournament("ABCDEF", best_of=3))
    pairing_round = KNOCKOUT.next_round(running)

    picture = render_bracket(running, pairing_round)

    assert json.loads(json.dumps(picture)) == picture
    quarter, semi = picture["rounds"]
    assert [bye["entrant"] for bye in quarter["byes"]] == ["A", "B"]
    assert quarter["tables"][0]["entrants"] == [
        {"entrant": "C", "seed": 3, "from": None, "points": 2.0, "advanced": True},
        {"entrant": "F", "seed": 6, "from": None, "points": 0.0, "advanced": False},
    ]
    assert semi["tables"][0]["entrants"] == [
        {"entrant": "A", "seed": 1, "from": {"tournament_round": 1, "table": None}, "points": None, "advanced": None},
        {"entrant": "D", "seed": 4, "from": {"tournament_round": 1, "table": 2}, "points": None, "advanced": None},
    ]
    assert picture["to_come"] == [{"label": "final", "tables": 1}]


# -- refusals --


@pytest.mark.parametrize(
    ("seats", "given", "field"),
    [
        (2, {"seeding": "strength"}, "seeding"),
        (2, {"advance": 2}, "advance"),
        (4, {"advance": 0}, "advance"),
        (2, {"best_of": 16}, "best_of"),
        (2, {"best_of": True}, "best_of"),
        (2, {"tie_breaks": -1}, "tie_breaks"),
        (2, {"third_place": 1}, "third_place"),
        (3, {"third_place": True}, "third_place"),
        (2, {"bestof": 3}, "bestof"),
    ],
)
def test_options_out_of_bounds_are_named(seats: int, given: dict[str, object], field: str) -> None:
    with pytest.raises(BadOption) as refused:
        KNOCKOUT.options(given, seats)

    assert refused.value.field == f"format_options.{field}"


def test_too_few_entrants_and_cycles_are_refused() -> None:
    options = KNOCKOUT.options({}, 3)
    KNOCKOUT.check(3, 3, options, 1)
    for entrants, cycles, field in ((2, 1, "entries"), (9, 2, "cycles")):
        with pytest.raises(BadOption) as refused:
            KNOCKOUT.check(entrants, 3, options, cycles)
        assert refused.value.field == field
