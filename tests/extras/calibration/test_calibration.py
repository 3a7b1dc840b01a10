"""Comparisons of levels over duplicate deals, and the ratings that follow from them."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from referee.cli import main
from referee.house.calibration import LevelRating, load_ratings
from referee.house.resampling import RESAMPLE
from referee_extras.calibration.comparison import (
    Comparison,
    DealResult,
    Pairing,
    compare_placements,
    play_deal,
)
from referee_extras.calibration.comparison import play_deals as play
from referee_extras.calibration.level_ratings import rate_levels, rating_difference, store_ratings

SAINT_POKER = Pairing("saint-poker", 2, "house:2", "house:1")


def result(share: float, *, player: str = "house:2", rival: str = "house:1", error: float = 0.02) -> Comparison:
    return Comparison(Pairing("saint-poker", 2, player, rival), 100, share, error, 1.0)


def test_a_rating_follows_from_the_share_by_the_formula_of_elo() -> None:
    # 400 · log10(0.75 / 0.25) = 190.8; its derivative there is 400 / ln 10 / (0.75 · 0.25) = 926.5.
    assert rating_difference(result(0.75)) == pytest.approx((190.8, 18.5), abs=0.1)
    points, error = rating_difference(result(1.0, error=0.0))
    assert 900 < points < 1000
    assert error > 50


def test_levels_are_rated_around_level_3_and_errors_add_up() -> None:
    compared = [
        result(0.75),
        result(0.75, player="house:3", rival="house:2"),
        result(0.5, player="house:4", rival="house:3"),
    ]

    rated = [(rating.level, rating.rating, rating.error) for rating in rate_levels(compared)]

    assert rated == [(1, 1118, 26), (2, 1309, 19), (3, 1500, 0), (4, 1500, 14)]


def test_stored_ratings_are_read_back_and_those_of_other_games_stay(tmp_path: Path) -> None:
    path = tmp_path / "ratings.toml"
    one, other, newer = (
        LevelRating(name, 3, 1500, error, 2, 10, "1.0", 1) for name, error in [("b", 0), ("a", 0), ("b", 1)]
    )

    store_ratings([one], path)
    store_ratings([other], path)
    store_ratings([newer], path)

    assert load_ratings(path) == [other, newer]
    assert load_ratings(tmp_path / "none.toml") == []


def test_a_deal_is_the_same_whenever_it_is_played_and_another_deal_is_not() -> None:
    shares = [[result.share for result in play(SAINT_POKER, 12, processes)] for processes in (1, 2)]

    assert shares[0] == shares[1]
    assert len(set(shares[0])) > 1


def test_a_player_is_exactly_as_good_as_itself_if_it_does_not_toss_coins() -> None:
    pairing = Pairing("saint-poker", 2, "house:3", "house:3")

    assert [play_deal(pairing, deal).share for deal in range(5)] == [0.5] * 5


def test_a_better_placement_is_a_lower_number() -> None:
    assert [compare_placements(1, 2), compare_placements(2, 2), compare_placements(3, 1)] == [1, 0.5, 0]


def test_an_error_is_that_of_the_mean() -> None:
    # Deviation of 0, 1: sqrt(1/2); by the square root of two values: 1/2.
    compared = Comparison.summarize(SAINT_POKER, [DealResult(0.0, 10, 0.01), DealResult(1.0, 10, 0.01)])

    assert [compared.share, compared.error, compared.cpu_ms] == pytest.approx([0.5, 0.5, 1.0])


def test_the_command_prints_shares_and_writes_the_ratings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(RESAMPLE, "saint-poker")  # house:4 does not search
    path = tmp_path / "ratings.toml"
    options = ["--game", "saint-poker", "--deals", "2", "--processes", "1", "--out", str(path)]

    done = CliRunner().invoke(main, ["house", "calibrate", *options])

    assert done.exit_code == 0, done.output
    assert done.output.startswith("saint-poker, 2 seats\n  house:2 against house:1: ")
    assert [rating.deals for rating in load_ratings(path)] == [2] * 4
