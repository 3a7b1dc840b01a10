"""Knockouts: who meets whom, who goes on, and at which place everybody comes in."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from referee.errors import BadOption
from referee.pairing import Bye, Entrant, Leg, PairingRound, PlayedRound, Table, TournamentState
from referee.pairing.duplicates import as_one
from referee.pairing.knockout import Knockout, bracket, places
from referee.ratings.elo import MICRO

KNOCKOUT = Knockout()


def event(names: str | Sequence[str], seats: int = 2, **options: object) -> TournamentState:
    """The names by falling rating, so that the first is the first seed."""
    entrants = tuple(Entrant(name, rating=(2000 - at) * MICRO) for at, name in enumerate(names))
    return TournamentState(seats, KNOCKOUT.options(options, seats), 1, entrants, (), bytes(32))


def leg(seated: Sequence[str], ranking: Sequence[str] | None = None) -> Leg:
    """A match that ended in this order; the order of the alphabet if none is given."""
    order = sorted(seated) if ranking is None else list(ranking)
    return Leg(tuple(seated), tuple(order.index(one) + 1 for one in seated), (0,) * len(seated))


def tie(*seated: str) -> Leg:
    return Leg(tuple(seated), (1,) * len(seated), (0,) * len(seated))


def after(before: TournamentState, *legs: Sequence[Leg]) -> TournamentState:
    """The next stage played; without ``legs`` every table goes by the alphabet."""
    stage = KNOCKOUT.next_stage(before)
    assert stage is not None
    tables = legs or [[leg(table.entrants)] * table.legs for table in stage.tables]
    return replace(before, played=(*before.played, PlayedRound(stage, tuple(tuple(table) for table in tables))))


def without(before: TournamentState, *names: str) -> TournamentState:
    entrants = tuple(replace(one, active=one.active and one.id not in names) for one in before.entrants)
    return replace(before, entrants=entrants)


def to_the_end(before: TournamentState) -> TournamentState:
    while KNOCKOUT.next_stage(before) is not None:
        before = after(before)
    return before


def tables(stage: PairingRound | None) -> list[set[str]]:
    assert stage is not None
    return [{*table.entrants} for table in stage.tables]


# -- the bracket --


def test_eight_meet_as_in_the_standard_bracket() -> None:
    first = event("ABCDEFGH")

    second = after(first)
    third = after(second)

    assert tables(KNOCKOUT.next_stage(first)) == [{"A", "H"}, {"B", "G"}, {"C", "F"}, {"D", "E"}]
    assert tables(KNOCKOUT.next_stage(second)) == [{"A", "D"}, {"B", "C"}]
    assert tables(KNOCKOUT.next_stage(third)) == [{"A", "B"}]
    assert KNOCKOUT.next_stage(after(third)) is None


def test_the_winner_of_a_table_takes_its_place_in_the_bracket() -> None:
    first = event("ABCDEFGH")
    stage = KNOCKOUT.next_stage(first)
    assert stage is not None

    upset = after(first, *([leg(table.entrants, sorted(table.entrants, reverse=True))] for table in stage.tables))

    assert tables(KNOCKOUT.next_stage(upset)) == [{"H", "E"}, {"G", "F"}]


def test_the_best_seeds_rest_when_the_bracket_is_not_full() -> None:
    stage = KNOCKOUT.next_stage(event("ABCDEF"))

    assert tables(stage) == [{"C", "F"}, {"D", "E"}]
    assert stage is not None
    assert stage.byes == (Bye("A", "odd"), Bye("B", "odd"))


@pytest.mark.parametrize("count", [2, 3, 5, 8, 21, 64, 100])
def test_if_the_stronger_always_wins_the_places_are_the_seeds(count: int) -> None:
    names = [f"{number:03}" for number in range(count)]

    end = to_the_end(event(names, third_place=True))

    table = places(end)
    assert [one for _, one in table] == names
    assert [place for place, _ in table][:3] == [1, 2, 3][:count]
    assert len(end.played) == (count - 1).bit_length()
    assert (
        KNOCKOUT.expected_matches(event(names, third_place=True))
        == KNOCKOUT.expected_matches(end)
        == count - 1 + (count > 3)
    )


def test_stages_are_called_by_what_they_lead_to() -> None:
    end = to_the_end(event([f"{number:02}" for number in range(17)]))

    labels = ["last_32", "last_16", "quarter_final", "semi_final", "final"]
    assert [played.stage.label for played in end.played] == labels


def test_seeds_by_hand_come_before_those_without() -> None:
    entrants = tuple(
        Entrant(name, rating=rating * MICRO, seed=seed)
        for name, rating, seed in (("A", 1500, 2), ("B", 1900, None), ("C", 1400, 1), ("D", 1600, None))
    )
    by_hand = replace(event("ABCD", seeding="hand"), entrants=entrants)
    by_rating = replace(event("ABCD"), entrants=entrants)

    assert tables(KNOCKOUT.next_stage(by_hand)) == [{"C", "D"}, {"A", "B"}]  # C, A by hand; then B, D by rating
    assert tables(KNOCKOUT.next_stage(by_rating)) == [{"B", "C"}, {"D", "A"}]


def test_a_draw_of_lots_knows_no_ratings() -> None:
    opponents = set()
    for number in range(40):
        stage = KNOCKOUT.next_stage(replace(event("ABCD", seeding="draw"), draw=bytes([number]) * 32))
        opponents |= {*next(table for table in tables(stage) if "A" in table)}

    assert opponents == {*"ABCD"}


def test_ratings_that_move_meanwhile_change_no_bracket() -> None:
    second = after(event("ABCDEFGH"))
    turned = replace(second, entrants=tuple(replace(one, rating=4000 * MICRO - one.rating) for one in second.entrants))

    assert KNOCKOUT.next_stage(turned) == KNOCKOUT.next_stage(second)


# -- legs --


@pytest.mark.parametrize(
    ("best_of", "results", "more"),
    [
        (3, "A", 1),  # 1:0 of two arranged: the third may not be needed, the second is
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
    running = event("AB", best_of=best_of)
    won = {"A": leg("AB", "AB"), "B": leg("AB", "BA"), "=": tie("A", "B")}

    assert KNOCKOUT.more_legs(running, Table(("A", "B"), "final"), [won[result] for result in results]) == more


@pytest.mark.parametrize("best_of", range(1, 16))
def test_no_leg_is_arranged_that_might_not_be_needed(best_of: int) -> None:
    stage = KNOCKOUT.next_stage(event("AB", best_of=best_of))

    assert stage is not None
    assert stage.tables[0].legs == best_of // 2 + 1


def test_tie_breaks_are_played_one_at_a_time_and_count_only_beyond_the_tie() -> None:
    running = event("AB", best_of=2, tie_breaks=2)
    tied = [leg("AB", "AB"), leg("BA", "BA")]
    table = Table(("A", "B"), "final")

    assert KNOCKOUT.more_legs(running, table, tied) == 1
    assert KNOCKOUT.more_legs(running, table, [*tied, tie("A", "B")]) == 1
    assert KNOCKOUT.more_legs(running, table, [*tied, tie("A", "B"), tie("A", "B")]) == 0
    assert KNOCKOUT.more_legs(running, table, [*tied, leg("AB", "BA")]) == 0
    assert places(after(running, [*tied, leg("AB", "BA")])) == [(1, "B"), (2, "A")]


def test_after_the_tie_breaks_the_better_seed_goes_on() -> None:
    end = after(event("AB", best_of=1, tie_breaks=1), [tie("A", "B"), tie("A", "B")])

    assert places(end) == [(1, "A"), (2, "B")]


def test_larger_tables_play_all_legs_and_add_the_points() -> None:
    running = event("ABC", seats=3, best_of=2, tie_breaks=1)
    table = Table(("A", "B", "C"), "final")
    first, second = leg("ABC", "BAC"), leg("BCA", "CAB")  # B 2 + 0, A 1 + 1, C 0 + 2: all tied

    assert KNOCKOUT.more_legs(running, table, [first]) == 1
    assert KNOCKOUT.more_legs(running, table, [first, second]) == 1
    assert KNOCKOUT.more_legs(running, table, [first, leg("BCA", "BAC")]) == 0
    assert places(after(running, [first, second, leg("ABC", "CBA")])) == [(1, "C"), (2, "B"), (3, "A")]


def test_a_duplicate_set_is_one_leg() -> None:
    first = Leg(("A", "B", "C"), (1, 2, 3), (5, 0, -5))
    second = Leg(("B", "C", "A"), (1, 2, 2), (4, -2, -2))

    assert as_one([first, second]) == Leg(("A", "B", "C"), (2, 1, 3), (3, 4, -7))  # A 2 + ½, B 1 + 2, C 0 + ½


def test_seats_even_out_over_the_stages() -> None:
    for number in range(20):
        first = replace(event([f"{number:02}" for number in range(16)]), draw=bytes([number]) * 32)

        played = to_the_end(first).played

        legs = [leg for stage in played for legs in stage.legs for leg in legs if "00" in leg.entrants]
        assert 1 <= sum(leg.entrants[0] == "00" for leg in legs) <= 3, "one seat in all four stages"


# -- tables of more --


def test_fours_of_which_two_go_on_keep_tablemates_apart() -> None:
    first = event("ABCDEFGHIJKLMNOP", seats=4, advance=2)

    second = after(first)

    assert tables(KNOCKOUT.next_stage(first)) == [{*"AHIP"}, {*"BGJO"}, {*"CFKN"}, {*"DELM"}]
    assert tables(KNOCKOUT.next_stage(second)) == [{*"ADGF"}, {*"BCHE"}]  # A–H and D–E won their tables together
    assert places(to_the_end(second))[:4] == [(1, "A"), (2, "B"), (3, "C"), (4, "D")]


@pytest.mark.parametrize(("seats", "advance"), [(s, a) for s in range(3, 6) for a in range(1, s)])
def test_any_number_that_fills_a_table_plays_to_a_full_final(seats: int, advance: int) -> None:
    for count in range(seats, 22):
        names = [f"{number:02}" for number in range(count)]

        end = to_the_end(event(names, seats=seats, advance=advance))

        assert len(end.played[-1].stage.tables) == 1
        assert end.played[-1].stage.byes == ()
        assert places(end)[0] == (1, names[0])
        assert sorted(one for _, one in places(end)) == names
        assert KNOCKOUT.expected_matches(event(names, seats=seats, advance=advance)) == KNOCKOUT.expected_matches(end)


def test_fifteen_at_fours_rest_three_and_the_best_play_last() -> None:
    end = to_the_end(event("ABCDEFGHIJKLMNO", seats=4))

    shape = [(len(played.stage.byes), len(played.stage.tables)) for played in end.played]

    assert shape == [(3, 3), (2, 1), (0, 1)]  # 15 = 3 + 12; 6 = 2 + 4, of which two go on; 4


def test_a_final_that_lost_somebody_is_filled_up_by_the_best_who_went_out() -> None:
    second = after(event("ABCDEFGH", seats=4, advance=2))

    stage = KNOCKOUT.next_stage(without(second, "B"))

    assert tables(stage) == [{*"ACDE"}]  # E and F were third, E is the better seed


# -- what goes wrong --


def test_the_opponent_of_who_withdrew_goes_on_by_walkover() -> None:
    second = without(after(event("ABCDEFGH")), "D")

    stage = KNOCKOUT.next_stage(second)

    assert tables(stage) == [{"B", "C"}]
    assert stage is not None
    assert stage.byes == (Bye("A", "walkover"),)
    assert places(to_the_end(second))[:2] == [(1, "A"), (2, "B")]
    assert (3, "D") in places(to_the_end(second))  # it had reached the semi-final


def test_who_comes_back_after_a_walkover_stays_out() -> None:
    second = without(after(event("ABCD")), "A")
    third = after(second)

    back = replace(third, entrants=tuple(replace(one, active=True) for one in third.entrants))

    assert KNOCKOUT.next_stage(back) is None
    assert places(back)[:2] == [(1, "B"), (2, "A")]


def test_a_final_of_nobody_ends_the_event() -> None:
    assert KNOCKOUT.next_stage(without(after(event("ABCD")), "A", "B")) is None


def test_a_match_cut_short_by_a_withdrawal_goes_to_who_is_there() -> None:
    running = event("AB", best_of=3)
    legs = [leg("AB", "AB")]

    left = without(running, "A")

    assert KNOCKOUT.more_legs(left, Table(("A", "B"), "final"), legs) == 0
    stage = KNOCKOUT.next_stage(running)
    assert stage is not None
    assert places(replace(left, played=(PlayedRound(stage, (tuple(legs),)),)))[0] == (1, "B")


def test_a_cancelled_table_goes_to_the_better_seed_and_is_not_played_again() -> None:
    first = event("ABCD")

    second = after(first, [], [leg("BC", "CB")])

    assert KNOCKOUT.more_legs(first, Table(("A", "D")), []) == 0
    assert tables(KNOCKOUT.next_stage(second)) == [{"A", "C"}]


def test_a_result_voided_later_unseats_nobody() -> None:
    first = event("ABCD")
    stage = KNOCKOUT.next_stage(first)
    assert stage is not None
    upset = after(first, *([leg(table.entrants, sorted(table.entrants, reverse=True))] for table in stage.tables))
    final = after(upset, [leg("CD", "CD")])

    voided = replace(final, played=(replace(final.played[0], legs=((), ())), final.played[1]))

    assert places(voided)[:2] == [(1, "C"), (2, "D")]
    assert KNOCKOUT.next_stage(voided) is None


# -- the third place, the picture --


def test_the_losers_of_the_semi_final_play_for_the_third_place_beside_the_final() -> None:
    third = after(event("ABCD", third_place=True))

    stage = KNOCKOUT.next_stage(third)

    assert stage is not None
    assert [(table.label, {*table.entrants}) for table in stage.tables] == [
        ("final", {"A", "B"}),
        ("third_place", {"C", "D"}),
    ]
    end = after(third, [leg("AB")], [leg("CD", "DC")])
    assert places(end) == [(1, "A"), (2, "B"), (3, "D"), (4, "C")]


def test_without_a_match_for_it_the_third_place_is_shared() -> None:
    assert places(to_the_end(event("ABCD"))) == [(1, "A"), (2, "B"), (3, "C"), (3, "D")]


@pytest.mark.parametrize(("gone", "byes", "third"), [("C", "D", "D"), ("CA", "BD", "D"), ("A", "B", "C")])
def test_the_third_place_survives_withdrawals(gone: str, byes: str, third: str) -> None:
    last = without(after(event("ABCD", third_place=True)), *gone)

    stage = KNOCKOUT.next_stage(last)

    assert stage is not None
    assert [bye.entrant for bye in stage.byes] == [*byes]
    assert places(to_the_end(last))[2] == (3, third)


def test_the_bracket_tells_who_came_from_where() -> None:
    running = after(event("ABCDEF", best_of=3))
    stage = KNOCKOUT.next_stage(running)

    picture = bracket(running, stage)

    assert json.loads(json.dumps(picture)) == picture
    quarter, semi = picture["stages"]
    assert [bye["entrant"] for bye in quarter["byes"]] == ["A", "B"]
    assert quarter["tables"][0]["entrants"] == [
        {"entrant": "C", "seed": 3, "from": None, "points": 2.0, "advanced": True},
        {"entrant": "F", "seed": 6, "from": None, "points": 0.0, "advanced": False},
    ]
    assert semi["tables"][0]["entrants"] == [
        {"entrant": "A", "seed": 1, "from": {"stage": 1, "table": None}, "points": None, "advanced": None},
        {"entrant": "D", "seed": 4, "from": {"stage": 1, "table": 2}, "points": None, "advanced": None},
    ]
    assert picture["to_come"] == [{"label": "final", "tables": 1}]


# -- what is refused --


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
    for (entrants, cycles), field in zip(product((2, 9), (1, 2)), ("entries", "entries", "", "cycles"), strict=True):
        if field:
            with pytest.raises(BadOption) as refused:
                KNOCKOUT.check(entrants, 3, options, cycles)
            assert refused.value.field == field
        else:
            KNOCKOUT.check(entrants, 3, options, cycles)
