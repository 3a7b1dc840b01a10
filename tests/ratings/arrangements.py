"""Official ladders on which somebody arranges results, compared with honest play by the same bots.

Tables, pace, meetings and ratings are those of the service, as in ``official_ladder``. ``test_manipulation`` gives its
manipulators a share of their matches instead.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cache
from random import Random
from statistics import fmean, stdev

from referee.ladders import members
from referee.ladders.kinds import LadderPlay
from referee.ladders.tables import LadderMember, LadderPlayer
from referee.pairing.official import OfficialTable
from tests.ratings.official_ladder import BEGIN, SPREAD, OfficialLadder, SimulatedBot, Terms

FIELD, OWNERS = 24, 18  # honest bots and their owners
HORIZON = 2  # days before ratings are measured
SUBJECT = "subject"  # the bot that shall gain
PATIENCE = 30.0  # points below its strength at which the bot of a shedder is registered again
MIDDLE = 1500.0


@dataclass(frozen=True, slots=True)
class Scenario:
    """Describe the bots of those who arrange results, and how: ``arrange`` changes the placements at a table.

    Another owner than the subject's has ``accomplices``. ``registers_again`` lets the subject's owner register another
    bot each evening when the rating is too low. With ``measures_best``, the gain is by how much the best rating since
    the first measurement is lower than the rating of honest play.
    """

    arrange: "Callable[[ArrangedLadder, Sequence[str], list[int]], list[int]] | None" = None
    strength: float = MIDDLE
    accomplices: int = 0
    registers_again: bool = False
    measures_best: bool = False


def lose_to_subject(ladder: "ArrangedLadder", bots: Sequence[str], placements: list[int]) -> list[int]:
    """Place the accomplices behind everybody else when the subject sits at their table."""
    return _put(bots, placements, last=ladder.bots_of("accomplice")) if ladder.subject in bots else placements


def lose_always(ladder: "ArrangedLadder", bots: Sequence[str], placements: list[int]) -> list[int]:
    """Place the subject last against everybody, after some days of honest play."""
    return _put(bots, placements, last={ladder.subject}) if ladder.days_played > HORIZON else placements


def _put(bots: Sequence[str], placements: list[int], *, last: set[str]) -> list[int]:
    order = sorted(range(len(bots)), key=lambda seat: (bots[seat] in last, placements[seat]))
    return [order.index(seat) + 1 for seat in range(len(bots))]


ACCOMPLICES = 6
FARMER = Scenario(lose_to_subject, accomplices=ACCOMPLICES)
SHEDDER = Scenario(strength=MIDDLE - 150, registers_again=True)
LOSER = Scenario(lose_always, accomplices=ACCOMPLICES, measures_best=True)  # shares the farmer's honest season


@dataclass
class Measured:
    """Hold errors of honest bots, and of the subject errors, ratings, the best one so far, and meetings of each day."""

    honest: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    ratings: list[float] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    meetings: Counter[date] = field(default_factory=Counter)


class ArrangedLadder(OfficialLadder):
    """An official ladder with an honest field and the bots of a scenario."""

    def __init__(self, scenario: Scenario, *, days: int, seed: int, limited: bool = True) -> None:
        self.scenario, self.subject = scenario, SUBJECT
        self.measured = Measured()
        self._best = 0.0
        super().__init__(Terms(FIELD, days, MIDDLE, seed))
        self.limits_meetings = limited

    def draw_bots(self) -> Iterator[SimulatedBot]:
        dice = Random(self.terms.seed)
        for number in range(FIELD):
            owner = number if number < OWNERS else dice.randrange(OWNERS)
            yield self._new_bot(f"bot {number:02}", f"owner {owner:02}", dice.gauss(MIDDLE, SPREAD))
        yield self._new_bot(SUBJECT, "manipulator", self.scenario.strength)
        for number in range(self.scenario.accomplices):
            yield self._new_bot(f"accomplice {number}", "accomplice", self.scenario.strength)

    def draw_placements(self, bots: Sequence[str], strengths: Sequence[float]) -> list[int]:
        placements = super().draw_placements(bots, strengths)
        if self.scenario.arrange is None:
            return placements
        return self.scenario.arrange(self, bots, placements)

    def bots_of(self, owner: str) -> set[str]:
        return {bot_id for bot_id, bot in self.bots.items() if bot.owner == owner}

    def end_day(self) -> None:
        day = self.days_played
        own = self.points(self.subject)
        if day > HORIZON:
            errors = [self.points(bot) - self.bots[bot].strength for bot in self.bots if bot.startswith("bot")]
            self.measured.honest += [error - fmean(errors) for error in errors]
            self.measured.errors.append(own - self.scenario.strength - fmean(errors))
            self._best = max(self._best, own)
            self.measured.ratings.append(own)
            self.measured.best.append(self._best)
        if self.scenario.registers_again and own < self.scenario.strength - PATIENCE:
            self._register_again(day)

    def _register_again(self, day: int) -> None:
        old = self.bots[self.subject]
        if old.playing:
            return
        del self.bots[self.subject]
        self.subject = f"{SUBJECT} of day {day}"
        self.bots[self.subject] = self._new_bot(self.subject, "manipulator", self.scenario.strength, day)

    def _begin_match(self, table: OfficialTable, moment: datetime) -> None:
        super()._begin_match(table, moment)
        if self.subject in table.candidates:
            self.measured.meetings[moment.date()] += table.owners.count("accomplice")

    def _new_bot(self, bot_id: str, owner: str, strength: float, day: int = 0) -> SimulatedBot:
        joins = BEGIN + timedelta(days=day)
        player = LadderPlayer(bot_id=bot_id, play=LadderPlay.ON, daily_maximum=None)
        return SimulatedBot(LadderMember(**members.new_member(bot_id, self.ladder, joins)), player, owner, strength)


@dataclass(frozen=True, slots=True)
class Gain:
    """Hold what is gained over honest play, and the standard error of an honest rating, in points.

    ``meetings`` is the most often that the subject met bots of the accomplice in a day after the first.
    """

    points: float
    error: float
    meetings: int


@cache
def measure(scenario: Scenario, days: int, seed: int) -> Measured:
    ladder = ArrangedLadder(scenario, days=days, seed=seed)
    ladder.play()
    return ladder.measured


def gain(scenario: Scenario, *, days: int, seeds: Sequence[int]) -> Gain:
    """Return the gain of a scenario, whose seasons have the same strengths with and without the arrangement."""
    nobody = Scenario(strength=scenario.strength, accomplices=scenario.accomplices)
    honest = [measure(nobody, days, seed) for seed in seeds]
    arranged = [measure(scenario, days, seed) for seed in seeds]
    if scenario.measures_best:
        gains = [fmean(plain.ratings) - lost.best[-1] for plain, lost in zip(honest, arranged, strict=True)]
    else:
        gains = [fmean(won.errors) - fmean(plain.errors) for plain, won in zip(honest, arranged, strict=True)]
    first = BEGIN.date()
    meetings = max((count for won in arranged for day, count in won.meetings.items() if day > first), default=0)
    error = stdev(error for plain in honest for error in plain.honest)
    return Gain(fmean(gains), error, meetings)
