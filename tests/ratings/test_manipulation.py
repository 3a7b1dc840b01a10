"""Nobody gains more than 60 points over honest play: with anchors, accomplices, new bots or new versions.

With 60 points more, a bot beats an equal one in 59 of 100 games. Honest ratings fluctuate by less.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random
from statistics import fmean

import pytest

from referee.ladders.rating_replay import RatedSeats, RatingReplay, RatingState
from referee.ratings.elo import MICRO, START

FIELD = 12  # honest bots, apart from those of the scenario
SPREAD = 200.0  # standard deviation of their strengths, in points around the starting rating
NEAREST = 6  # rivals are drawn from this many bots of the field, nearest in rating
ANCHOR_POINTS = -300.0  # rating of the weak anchor, relative to the starting rating
NEW_BOT = 0.02  # probability of a new bot before a match against the anchor, in one of the scenarios
HORIZON = 5  # days before the season is measured
LIMIT = 60.0  # points that a manipulator may gain
SEEDS = 12  # seasons of a scenario


@dataclass(frozen=True, slots=True)
class Scenario:
    """Describe what the manipulator does in ``share`` of its ``per_day`` matches.

    ``strength`` is that of the manipulator's bots, in points relative to the starting rating.
    """

    name: str
    per_day: int
    share: float
    strength: float = 0.0


@dataclass
class Season:
    """A ladder in progress: ratings, true strengths, owners, and the bot that the manipulator plays with."""

    dice: Random
    replay: RatingReplay = field(default_factory=RatingReplay)
    strength: dict[str, float] = field(default_factory=dict)
    owner: dict[str, str] = field(default_factory=dict)
    subject: str = ""
    registered: int = 0
    version: int = 1  # of the subject

    def register(self, owner: str, strength: float) -> str:
        self.registered += 1
        bot = f"bot {self.registered}"
        self.strength[bot], self.owner[bot] = strength, owner
        return bot

    def points(self, bot: str) -> float:
        return (self.replay.ratings.get(bot, RatingState()).value - START) / MICRO

    def play(self, one: str, other: str) -> None:
        chance = 1 / (1 + 10 ** ((self.strength[other] - self.strength[one]) / 400))
        self.enter([one, other], first_wins=self.dice.random() < chance)

    def enter(self, bots: Sequence[str], *, first_wins: bool, anchor: bool = False) -> None:
        """Enter a result of two bots, the second of which may be the anchor."""
        placements = [1, 2] if first_wins else [2, 1]
        owners = [self.owner[bots[0]], None if anchor else self.owner[bots[1]]]
        anchors = [None, START + round(ANCHOR_POINTS * MICRO) if anchor else None]
        versions = [str(self.version) if bot == self.subject else "1" for bot in bots]
        self.replay.apply_result(RatedSeats(bots, placements, [True, not anchor], owners, versions, anchors))

    def rival(self, bot: str, rivals: Sequence[str]) -> str:
        nearest = sorted(rivals, key=lambda rival: abs(self.points(rival) - self.points(bot)))
        return self.dice.choice(nearest[:NEAREST])


Deed = Callable[[Season, str, Scenario], None]


def farm(season: Season, accomplice: str, scenario: Scenario) -> None:
    """Beat the weak anchor, always: more often than its rating says."""
    season.enter([season.subject, "anchor"], first_wins=True, anchor=True)


def collude(season: Season, accomplice: str, scenario: Scenario) -> None:
    """Let an accomplice, whose strength is the same, lose."""
    season.enter([season.subject, accomplice], first_wins=True)


def shed(season: Season, accomplice: str, scenario: Scenario) -> None:
    """Register another bot, and play on with the new bot."""
    season.subject = season.register("manipulator", scenario.strength)


def farm_with_new_bots(season: Season, accomplice: str, scenario: Scenario) -> None:
    """Beat the weak anchor, and sometimes register another bot, whose gains from anchors have no limit at first."""
    if season.dice.random() < NEW_BOT:
        shed(season, accomplice, scenario)
    farm(season, accomplice, scenario)


def renew(season: Season, accomplice: str, scenario: Scenario) -> None:
    """Publish the same program as a new version, whose K factor is greater, if the rating is below the strength."""
    if season.points(season.subject) < scenario.strength:
        season.version += 1


SCENARIOS: tuple[tuple[Scenario, Deed], ...] = (
    (Scenario("farmer", 100, 0.5), farm),
    (Scenario("farmer with new bots", 100, 0.5), farm_with_new_bots),
    (Scenario("two colluding owners", 100, 0.5), collude),
    (Scenario("shedder", 20, 0.05, -150.0), shed),
    (Scenario("new versions until lucky", 100, 0.5), renew),
)


@cache
def ratings_of(scenario: Scenario, deed: Deed | None, days: int, seed: int) -> list[float]:
    """Return the error of the rating of the manipulator's bot after each day from ``HORIZON`` on.

    Without a deed, the bot is honest. The error is relative to the mean error of the field, because what raises
    everybody alike, such as points won from anchors, is no gain.
    """
    season = Season(Random(seed))
    rivals = [season.register(f"owner {number}", season.dice.gauss(0, SPREAD)) for number in range(FIELD)]
    season.subject = season.register("manipulator", scenario.strength)
    accomplice = season.register("accomplice", scenario.strength)
    found = []
    for day in range(days):
        season.replay.begin_day(1_000 + day)
        for _ in range(scenario.per_day):
            if deed is not None and season.dice.random() < scenario.share:
                deed(season, accomplice, scenario)
            else:
                season.play(season.subject, season.rival(season.subject, rivals))
            season.play(accomplice, season.rival(accomplice, rivals))
            season.dice.shuffle(rivals)
            for one, other in zip(rivals[::2], rivals[1::2], strict=True):
                season.play(one, other)
        if day >= HORIZON:
            deviation = fmean(season.points(rival) - season.strength[rival] for rival in rivals)
            found.append(season.points(season.subject) - scenario.strength - deviation)
    return found


@pytest.mark.parametrize(("scenario", "deed"), SCENARIOS, ids=[scenario.name for scenario, _ in SCENARIOS])
def test_C12_F5_F7_manipulators_gain_at_most_60_points(scenario: Scenario, deed: Deed) -> None:
    plain = replace(scenario, name="honest play", share=0.0)  # scenarios share the honest seasons of equal bots

    honest, manipulated = (
        fmean(rating for seed in range(SEEDS) for rating in ratings_of(played, done, days=12, seed=seed))
        for played, done in ((plain, None), (scenario, deed))
    )

    print(f"{scenario.name}: {manipulated - honest:+.0f} points")
    assert manipulated - honest <= LIMIT
