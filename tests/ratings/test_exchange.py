"""What seats exchange: stakes, anchors, caps."""

import pytest

from referee.ratings.elo import MICRO, START
from referee.ratings.exchange import ANCHORS, ANCHORS_CAP, OWNERS_CAP, Parties, Seat, exchange, stake


@pytest.mark.parametrize(("games", "k"), [(0, 64), (9, 64), (10, 40), (29, 40), (30, 20), (1_000, 20)])
def test_stakes_fall_with_the_count_of_matches(games: int, k: int) -> None:
    assert stake(games) == k


def test_an_anchor_keeps_its_rating_and_stakes_as_much_as_its_opponent() -> None:
    # Equal ratings: the winner expects 1/2, so a K of 40 moves 20 points; the anchor's balance takes the other side.
    gains = exchange([Seat(START, 0, ANCHORS, 2), Seat(START, 40, "ada", 1)], {})

    assert gains == [-20 * MICRO, 20 * MICRO]


def test_anchors_exchange_nothing_with_each_other() -> None:
    anchors = [Seat(START + number * MICRO, 0, ANCHORS, number) for number in (1, 2)]

    gains = exchange([*anchors, Seat(START, 20, "ada", 3)], {})

    alone = [exchange([anchor, anchor._replace(placement=4), Seat(START, 20, "ada", 3)], {})[0] for anchor in anchors]
    assert gains[:2] == alone
    assert sum(gains) == 0


def test_two_owners_exchange_at_most_the_cap_of_a_day_either_way() -> None:
    day: dict[Parties, int] = {}
    winner, loser = Seat(START, 64, "ada", 1), Seat(START, 64, "bob", 2)

    gains = [exchange([winner, loser], day)[0] for _ in range(3)]
    back = [exchange([winner._replace(placement=2), loser._replace(placement=1)], day)[0] for _ in range(4)]

    assert gains == [32 * MICRO, 32 * MICRO, 0]
    assert back == [-32 * MICRO] * 4
    assert day == {("ada", "bob"): OWNERS_CAP}


def test_settled_bots_of_an_owner_win_at_most_the_cap_from_all_anchors_and_may_lose_more() -> None:
    day: dict[Parties, int] = {}
    anchor, bot = Seat(START, 0, ANCHORS, 2), Seat(START, 20, "ada", 1)

    lost = [exchange([bot._replace(placement=3), anchor], day)[0] for _ in range(2)]
    won = [exchange([bot, anchor], day)[0] for _ in range(7)]

    assert lost == [-10 * MICRO] * 2
    assert won == [10 * MICRO] * 5 + [2 * MICRO, 0]
    assert day == {(ANCHORS, "ada"): ANCHORS_CAP}


def test_a_new_bot_finds_its_rating_among_anchors_alone() -> None:
    day: dict[Parties, int] = {}
    anchor, bot = Seat(START, 0, ANCHORS, 2), Seat(START, 40, "ada", 1)

    assert [exchange([bot, anchor], day)[0] for _ in range(4)] == [20 * MICRO] * 4
    assert day == {}
