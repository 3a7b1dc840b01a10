"""On an official ladder with the service's own choice of tables, arranged results gain at most a standard error."""

from collections.abc import Sequence

import pytest

from referee.ladders.official import load_official_ladders
from referee.ladders.rating_replay import RatedSeats, RatingReplay, RatingState
from referee.pairing.official import MEETING_SHARE
from referee.ratings.elo import MICRO, START
from referee.ratings.exchange import INHERITANCE_DAYS
from tests.ratings.arrangements import FARMER, LOSER, OWNERS, SHEDDER, ArrangedLadder, gain
from tests.ratings.official_ladder import BEGIN, GAME

LADDER = next(ladder for ladder in load_official_ladders() if ladder.game == GAME)
# The honest owners, the accomplices' and the farmer's: an even share is that of 144 meetings with 19 others.
ALLOWED = MEETING_SHARE[0] * LADDER.daily_matches * (LADDER.seats - 1) / (MEETING_SHARE[1] * (OWNERS + 1))

# Each gain is measured in one season in which the manipulator would gain more than an error if the service did nothing
# against it, and with the mark `long` in more.


def test_F5_accomplices_of_one_owner_meet_a_bot_more_often_than_its_share_where_nothing_limits_them() -> None:
    ladder = ArrangedLadder(FARMER, days=2, seed=1, limited=False)
    ladder.play()

    assert len(ladder.bots[ladder.subject].begun) == 2 * LADDER.daily_matches
    assert max(count for day, count in ladder.measured.meetings.items() if day > BEGIN.date()) > 2 * ALLOWED


@pytest.mark.parametrize(("days", "seeds"), [(4, (1,)), pytest.param(5, (1, 2), marks=pytest.mark.long)])
def test_F5_C12_a_farmer_with_accomplices_gains_at_most_a_standard_error(days: int, seeds: Sequence[int]) -> None:
    found = gain(FARMER, days=days, seeds=seeds)

    print(found)
    assert found.points <= found.error
    assert 0 < found.meetings <= ALLOWED


@pytest.mark.long  # `test_manipulation` has a short season
@pytest.mark.parametrize(("days", "seeds"), [(5, (2,)), (6, (1, 2))])
def test_F7_registering_again_gains_at_most_a_standard_error(days: int, seeds: Sequence[int]) -> None:
    found = gain(SHEDDER, days=days, seeds=seeds)

    print(found)
    assert found.points <= found.error


def test_F7_a_new_bot_begins_at_the_lowest_recent_rating_of_its_owners_bots_here() -> None:
    lost, won = RatingState(START - 90 * MICRO, 40, last_day=1_000), RatingState(START + 90 * MICRO, 40, last_day=1_000)
    replay = RatingReplay({"lost": lost, "won": won, "other": lost._replace(value=0)}, day=1_000 + INHERITANCE_DAYS)
    replay.bots_of["ada"] |= {"lost", "won"}
    replay.bots_of["bob"] |= {"other"}

    assert replay.first_rating("new", "ada") == START - 90 * MICRO
    replay.begin_day(1_001 + INHERITANCE_DAYS)
    assert replay.first_rating("new", "ada") == START
    assert replay.first_rating("new", "cy") == START


def test_a_new_version_has_the_stake_of_any_other() -> None:
    settled = RatingState(START, 500, version="1")
    replay = RatingReplay({"one": settled, "other": settled})

    replay.apply_result(RatedSeats(["one", "other"], [1, 2], [True] * 2, ["ada", "bob"], ["2", "1"], [None] * 2))

    assert replay.ratings["one"].value == START + 10 * MICRO  # half of K 20
    assert replay.ratings["one"].version == "2"


@pytest.mark.parametrize(("days", "seeds"), [(4, (1,)), pytest.param(6, (1, 2), marks=pytest.mark.long)])
def test_F6_losing_on_purpose_lowers_the_best_rating_by_at_most_a_standard_error(
    days: int, seeds: Sequence[int]
) -> None:
    found = gain(LOSER, days=days, seeds=seeds)

    print(found)
    assert found.points <= found.error
