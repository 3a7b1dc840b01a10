"""A simulated official ladder: ratings agree with the strengths of the bots, which play at their pace."""

from collections import Counter
from datetime import date, timedelta
from statistics import fmean, median

import pytest

from referee.ladders.official import load_official_ladders
from referee.pairing.official import ANCHOR_GAP, PARTNER_WAIT_S
from referee.ratings.elo import PROVISIONAL_GAMES
from tests.ratings.official_ladder import GAME, OfficialLadder, SimulatedBot, Terms
from tests.ratings.truth import kendall

PACE = next(ladder.daily_matches for ladder in load_official_ladders() if ladder.game == GAME)


@pytest.fixture(scope="module")
def ladder() -> OfficialLadder:
    played = OfficialLadder(Terms(bots=24, days=6, seed=3))
    played.play()
    return played


def test_ratings_agree_with_the_strengths_of_the_bots_on_the_scale_of_the_anchors(ladder: OfficialLadder) -> None:
    truth = {bot.member.bot_id: bot.strength for bot in ladder.established()}
    found = {bot_id: ladder.points(bot_id) for bot_id in truth}

    assert len(truth) == 24
    assert kendall(truth, found) > 0.85
    assert fmean(abs(found[bot_id] - truth[bot_id]) for bot_id in truth) < 40


def waits(ladder: OfficialLadder, number: int) -> list[float]:
    """Return the seconds from joining to the match with this number, of each bot, in order."""
    return sorted((bot.begun[number - 1] - bot.member.joined_at).total_seconds() for bot in ladder.bots.values())


def test_a_new_bot_plays_within_half_a_minute_and_ten_matches_within_a_quarter_of_an_hour(
    ladder: OfficialLadder,
) -> None:
    assert waits(ladder, 1)[-1] <= PARTNER_WAIT_S + 1
    assert median(waits(ladder, 10)) < 10 * 60
    assert waits(ladder, 10)[-1] < 30 * 60


def test_no_bot_exceeds_its_pace_or_daily_maximum(ladder: OfficialLadder) -> None:
    for bot in ladder.bots.values():
        most = bot.player.daily_maximum or PACE
        assert max(days_of(bot).values()) <= most
        # Each whole day after the first matches, a bot plays at its pace.
        settled = bot.begun[PROVISIONAL_GAMES - 1].date() + timedelta(days=1)
        assert all(count >= 0.95 * most for day, count in days_of(bot).items() if settled <= day < max(days_of(bot)))


def days_of(bot: SimulatedBot) -> Counter[date]:
    return Counter(moment.date() for moment in bot.begun)


def test_an_owners_only_bot_meets_house_players_in_some_matches_but_at_most_a_third(ladder: OfficialLadder) -> None:
    # Bots of an owner with several meet more of them, because the meetings of others with their owner are limited.
    bots_of = Counter(bot.owner for bot in ladder.bots.values())

    assert 1 / (ANCHOR_GAP + 2) < fmean(met for bot in ladder.bots.values() for met in bot.house) < 1 / 3
    most = max(fmean(bot.house) for bot in ladder.bots.values() if bots_of[bot.owner] == 1)
    assert most <= (PACE // 3 + 1) / PACE
