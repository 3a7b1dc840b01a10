"""A simulated official ladder: ratings agree with the strengths of the bots, which play at their pace."""

from statistics import median

import pytest

from referee.ladders.official import load_official_ladders
from referee.pairing.official import ANCHOR_GAP, PARTNER_WAIT_S
from tests.ratings.official_ladder import DAILY_MAXIMUM, GAME, Report, Terms, simulate

PACE = next(ladder.daily_matches for ladder in load_official_ladders() if ladder.game == GAME)


@pytest.fixture(scope="module")
def report() -> Report:
    return simulate(Terms(bots=24, days=6, seed=3))


def test_ratings_order_the_bots_by_strength(report: Report) -> None:
    assert report.established == 24
    assert report.tau > 0.85
    assert report.rho > 0.95


def test_ratings_stay_on_the_scale_of_the_anchors(report: Report) -> None:
    assert report.error < 40
    assert abs(report.drift) < 40


def test_a_new_bot_plays_within_half_a_minute_and_ten_matches_within_a_quarter_of_an_hour(report: Report) -> None:
    assert report.first_match[-1] <= PARTNER_WAIT_S + 1
    assert median(report.tenth_match) < 10 * 60
    assert report.tenth_match[-1] < 30 * 60


def test_no_bot_exceeds_its_pace_or_daily_maximum(report: Report) -> None:
    assert report.busiest_day <= PACE
    assert report.busiest_limited_day <= DAILY_MAXIMUM
    assert 0.95 * PACE <= report.pace <= PACE


def test_an_owners_only_bot_meets_house_players_in_some_matches_but_at_most_a_third(report: Report) -> None:
    # Bots of an owner with several meet more of them, because the meetings of others with their owner are limited.
    assert 1 / (ANCHOR_GAP + 2) < report.house < 1 / 3
    assert report.most_house <= (PACE // 3 + 1) / PACE
