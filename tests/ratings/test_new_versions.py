"""Owners who issue versions of the same program for the luckiest moment gain at most 10 points."""

from collections.abc import Sequence

import pytest

from referee.ladders.rating_replay import RatedSeats, RatingReplay, RatingState
from referee.pairing.official import VERSION_MATCHES, VERSIONS_A_DAY
from referee.ratings.elo import MICRO, START
from tests.ratings.new_versions import POLICIES, VersionLadder, measure_gain, play_seasons

MOST = 10.0  # points

# `python -m tests.ratings.new_versions` prints a table of many seasons.


def test_a_new_version_has_the_stake_of_any_other() -> None:
    settled = RatingState(START, 500, version="1")
    replay = RatingReplay({"one": settled, "other": settled})

    replay.apply_result(RatedSeats(["one", "other"], [1, 2], [True] * 2, ["ada", "bob"], ["2", "1"], [None] * 2))

    assert replay.ratings["one"].value == START + 10 * MICRO  # half of K 20
    assert replay.ratings["one"].version == "2"


# In the short season, the gain would be 20 points with the stake of a new bot.
@pytest.mark.parametrize(
    ("policy", "days", "seeds"),
    [
        ("when unlucky, in the evening", 5, (1,)),
        *(pytest.param(policy, 20, range(1, 7), marks=pytest.mark.long) for policy in POLICIES),
    ],
)
def test_versions_of_the_same_program_gain_at_most_10_points(policy: str, days: int, seeds: Sequence[int]) -> None:
    seasons = play_seasons(POLICIES[policy], days=days, seeds=seeds)

    for period in (1, 5, 20):
        if period <= days:
            gain = measure_gain(seasons, period)
            print(period, gain)
            assert max(gain) <= MOST


def test_issuers_play_more_matches_and_everybody_else_keeps_theirs() -> None:
    ladder = VersionLadder(POLICIES["whenever they play immediately"], days=2, seed=1)
    ladder.play()

    of_second_day = {bot_id: sum(1 <= at < 2 for at, _ in errors) for bot_id, errors in ladder.errors_of.items()}
    pace = ladder.ladder.daily_matches or 0
    issuers = [count for bot_id, count in of_second_day.items() if bot_id.startswith("issues")]
    others = [count for bot_id, count in of_second_day.items() if bot_id.startswith("never")]
    assert min(issuers) >= pace + VERSIONS_A_DAY * VERSION_MATCHES - 1
    assert min(others) >= pace - 1  # the last one may end after midnight
