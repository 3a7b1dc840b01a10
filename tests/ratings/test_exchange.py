"""Check the exchange of seats: K factors, information, anchors, caps."""

import pytest

from referee.ratings.elo import MICRO, START
from referee.ratings.exchange import ANCHORS, ANCHORS_CAP, OWNERS_CAP, Change, Parties, Seat, exchange, k_factor

EVEN = 31_750_000  # information of a bot whose K is 20 at a table of two
NEW = 2_429_687  # the greatest information with a K of 128


def gain(seats: list[Seat], day: dict[Parties, int], seat: int = 0) -> int:
    return exchange(seats, day)[seat].rating


@pytest.mark.parametrize(
    ("games", "seats", "k"),
    [(0, 2, 128), (0, 4, 384), (10, 2, 53.5), (32, 2, 19.9), (344.5, 2, 2), (10**6, 2, 2), (32, 4, 38.1)],
)
def test_a_factor_falls_with_what_the_matches_told(games: float, seats: int, k: float) -> None:
    assert round(k_factor(int(games * MICRO), seats) / MICRO, 1) == k


def test_the_factor_of_the_sheet_of_a_new_and_of_a_settled_bot() -> None:
    assert (k_factor(NEW, 2), k_factor(NEW + 1, 2) < 128 * MICRO) == (128 * MICRO, True)
    assert k_factor(EVEN, 2) == 20 * MICRO


def test_a_match_tells_most_between_equals_and_more_at_larger_tables() -> None:
    even = [exchange([Seat(START, 0, str(seat), seat + 1) for seat in range(seats)], {})[0] for seats in (2, 3, 4, 10)]
    uneven = exchange([Seat(START + 400 * MICRO, 0, "ada", 1), Seat(START, 0, "bob", 2)], {})

    assert [change.information for change in even] == [1_000_000, 1_555_556, 1_916_667, 2_828_412]
    assert [change.information for change in uneven] == [330_578] * 2  # 4 · 10/11 · 1/11


def test_each_bot_moves_by_its_own_factor_and_balances_take_the_rest() -> None:
    changes = exchange([Seat(START, NEW, "ada", 1), Seat(START, EVEN, "bob", 2)], {})

    # Both expect 1/2: ada gains 128 / 2 and bob loses 20 / 2, while the mean of 128 and 20 would move 37.
    assert changes == [Change(64 * MICRO, -27 * MICRO, MICRO), Change(-10 * MICRO, -27 * MICRO, MICRO)]
    assert sum(change.rating + change.balance for change in changes) == 0


def test_an_anchor_keeps_its_rating_and_its_balance_takes_the_other_side() -> None:
    changes = exchange([Seat(START, 0, ANCHORS, 2), Seat(START, EVEN, "ada", 1)], {})

    assert changes == [Change(0, -10 * MICRO, 0), Change(10 * MICRO, 0, MICRO)]


def test_anchors_exchange_nothing_with_each_other() -> None:
    anchors = [Seat(START + number * MICRO, 0, ANCHORS, number) for number in (1, 2)]
    bot = Seat(START, EVEN, "ada", 3)

    changes = exchange([*anchors, bot], {})

    alone = [exchange([anchor, anchor._replace(placement=4), bot], {})[0] for anchor in anchors]
    assert changes[:2] == alone
    assert sum(change.rating + change.balance for change in changes) == 0


def test_two_owners_exchange_at_most_the_cap_of_a_day_either_way() -> None:
    day: dict[Parties, int] = {}
    winner, loser = Seat(START, NEW, "ada", 1), Seat(START, NEW, "bob", 2)

    gains = [gain([winner, loser], day) for _ in range(2)]
    back = [gain([winner._replace(placement=2), loser._replace(placement=1)], day) for _ in range(3)]

    assert gains == [64 * MICRO, 0]
    assert back == [-64 * MICRO, -64 * MICRO, 0]
    assert day == {("ada", "bob"): OWNERS_CAP}


def test_what_exceeds_a_cap_tells_nothing() -> None:
    # The mean of 128 and 20 stakes 74, half of which is 37: 27 of the second 37 are left.
    day: dict[Parties, int] = {}
    seats = [Seat(START, NEW, "ada", 1), Seat(START, EVEN, "bob", 2)]

    first, second, third = (exchange(seats, day) for _ in range(3))

    assert first[0] == Change(64 * MICRO, -27 * MICRO, MICRO)
    assert second == [Change(46_702_702, -19_702_702, 729_729), Change(-7_297_297, -19_702_703, 729_729)]
    assert third == [Change(), Change()]


def test_settled_bots_of_an_owner_win_at_most_the_cap_from_all_anchors_and_may_lose_more() -> None:
    day: dict[Parties, int] = {}
    anchor, bot = Seat(START, 0, ANCHORS, 2), Seat(START, EVEN, "ada", 1)

    lost = [gain([bot._replace(placement=3), anchor], day) for _ in range(2)]
    won = [gain([bot, anchor], day) for _ in range(7)]

    assert lost == [-10 * MICRO] * 2
    assert won == [10 * MICRO] * 5 + [2 * MICRO, 0]
    assert day == {(ANCHORS, "ada"): ANCHORS_CAP}


def test_a_new_bot_finds_its_rating_among_anchors_alone() -> None:
    day: dict[Parties, int] = {}
    anchor, bot = Seat(START, 0, ANCHORS, 2), Seat(START, NEW, "ada", 1)

    assert [gain([bot, anchor], day) for _ in range(4)] == [64 * MICRO] * 4
    assert day == {}
