"""Official ladders on which somebody arranges results, compared with honest play by the same bots.

Tables, pace, meetings and ratings are those of the service, as in ``official_ladder``. ``manipulation`` gives its
manipulators a share of their matches instead. ``python -m tests.ratings.arrangements`` prints a table; a short form is
among the tests.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cache
from math import inf
from random import Random
from statistics import fmean, stdev

from referee.ladders import members
from referee.ladders.kinds import LadderPlay
from referee.ladders.tables import LadderMember, LadderPlayer
from referee.pairing.official import OfficialTable
from tests.ratings.official_ladder import BEGIN, SPREAD, OfficialLadder, SimulatedBot, Terms

FIELD, OWNERS = 40, 30  # honest bots and their owners
HORIZON = 3  # days before ratings are measured
SUBJECT = "subject"  # the bot that shall gain
PATIENCE = 30.0  # points below its strength at which the bot of a shedder is registered again
MIDDLE = 1500.0


@dataclass(frozen=True, slots=True)
class Scenario:
    """Describe the bots of those who arrange results, and how: ``arrange`` changes the placements at a table.

    The subject's owner has ``siblings`` more bots, and another owner ``accomplices``. ``registers_again`` lets the
    subject's owner register another bot each evening when the rating is too low. With ``measures_best``, the gain is by
    how much the best rating since the first measurement is lower than the rating of honest play.
    """

    name: str
    arrange: "Callable[[ArrangedLadder, Sequence[str], list[int]], list[int]] | None" = None
    strength: float = MIDDLE
    siblings: int = 0
    accomplices: int = 0
    registers_again: bool = False
    measures_best: bool = False


def lose_to_subject(ladder: "ArrangedLadder", bots: Sequence[str], placements: list[int]) -> list[int]:
    """Place the accomplices behind everybody else when the subject sits at their table."""
    return _put(bots, placements, last=ladder.bots_of("accomplice")) if ladder.subject in bots else placements


def throw_tables(ladder: "ArrangedLadder", bots: Sequence[str], placements: list[int]) -> list[int]:
    """Let the subject win every table at which an accomplice helps, who is placed last."""
    helpers = ladder.bots_of("accomplice") & {*bots}
    return _put(bots, placements, first={ladder.subject}, last=helpers) if helpers else placements


def lose_to_each_other(ladder: "ArrangedLadder", bots: Sequence[str], placements: list[int]) -> list[int]:
    """Let the bots of two owners lose to the best bot of the other: what one owner gains, the other gets back."""
    placements = lose_to_subject(ladder, bots, placements)
    if "accomplice 0" in bots and ladder.subject not in bots:
        placements = _put(bots, placements, last=ladder.bots_of("manipulator"))
    return placements


def lose_always(ladder: "ArrangedLadder", bots: Sequence[str], placements: list[int]) -> list[int]:
    """Place the subject last against everybody, after some days of honest play."""
    return _put(bots, placements, last={ladder.subject}) if len(ladder.drift) > HORIZON else placements


def _put(
    bots: Sequence[str], placements: list[int], *, first: set[str] | None = None, last: set[str] | None = None
) -> list[int]:
    def key(seat: int) -> tuple[int, int]:
        return (bots[seat] in (last or ())) - (bots[seat] in (first or ())), placements[seat]

    order = sorted(range(len(bots)), key=key)
    return [order.index(seat) + 1 for seat in range(len(bots))]


SCENARIOS = (
    Scenario("farmer, 10 accomplices that lose", lose_to_subject, accomplices=10),
    Scenario("farmer, 10 accomplices that give away the table", throw_tables, accomplices=10),
    Scenario("two colluding owners with 10 bots each", lose_to_each_other, siblings=9, accomplices=10),
    Scenario("shedder that registers again", strength=MIDDLE - 150, registers_again=True),
    Scenario("loser on purpose", lose_always, measures_best=True),
)


@dataclass
class Measured:
    """Hold errors of honest bots, and of the subject errors, ratings, the best one so far, and meetings of each day."""

    honest: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    ratings: list[float] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    meetings: Counter[date] = field(default_factory=Counter)


class ArrangedLadder(OfficialLadder):
    """An official ladder with an honest field and the bots of a scenario, honest unless it is ``arranged``."""

    def __init__(self, scenario: Scenario, *, days: int, seed: int, arranged: bool, limited: bool = True) -> None:
        self.scenario, self.arranged, self.subject = scenario, arranged, SUBJECT
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
        for name, count in (("manipulator", self.scenario.siblings), ("accomplice", self.scenario.accomplices)):
            for number in range(count):
                yield self._new_bot(f"{name} {number}", name, self.scenario.strength)

    def draw_placements(self, bots: Sequence[str], strengths: Sequence[float]) -> list[int]:
        placements = super().draw_placements(bots, strengths)
        if not self.arranged or self.scenario.arrange is None:
            return placements
        return self.scenario.arrange(self, bots, placements)

    def bots_of(self, owner: str) -> set[str]:
        return {bot_id for bot_id, bot in self.bots.items() if bot.owner == owner}

    def end_day(self) -> None:
        day = len(self.drift)
        own = self.points(self.subject)
        if day > HORIZON:
            errors = [self.points(bot) - self.bots[bot].strength for bot in self.bots if bot.startswith("bot")]
            self.measured.honest += [error - fmean(errors) for error in errors]
            self.measured.errors.append(own - self.scenario.strength - fmean(errors))
            self._best = max(self._best, own)
            self.measured.ratings.append(own)
            self.measured.best.append(self._best)
        if self.arranged and self.scenario.registers_again and own < self.scenario.strength - PATIENCE:
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

    ``uncertain`` is the standard error of the gain itself, infinite after one season. ``meetings`` is the most often
    that the subject met bots of the accomplice in a day after the first.
    """

    points: float
    error: float
    uncertain: float
    meetings: int


@cache
def measure_honest(strength: float, siblings: int, accomplices: int, days: int, seed: int, limited: bool) -> Measured:
    """Return what a season shows in which all bots play honestly; scenarios with the same bots share it."""
    plain = Scenario("honest play", None, strength, siblings, accomplices)
    return measure(plain, days=days, seed=seed, arranged=False, limited=limited)


def measure(scenario: Scenario, *, days: int, seed: int, arranged: bool, limited: bool) -> Measured:
    ladder = ArrangedLadder(scenario, days=days, seed=seed, arranged=arranged, limited=limited)
    ladder.play()
    return ladder.measured


def gain(scenario: Scenario, *, days: int, seeds: Sequence[int], limited: bool = True) -> Gain:
    """Return the gain of a scenario, whose seasons have the same strengths with and without the arrangement."""
    of_bots = scenario.strength, scenario.siblings, scenario.accomplices
    honest = [measure_honest(*of_bots, days, seed, limited) for seed in seeds]
    arranged = [measure(scenario, days=days, seed=seed, arranged=True, limited=limited) for seed in seeds]
    if scenario.measures_best:
        gains = [fmean(plain.ratings) - lost.best[-1] for plain, lost in zip(honest, arranged, strict=True)]
    else:
        gains = [fmean(won.errors) - fmean(plain.errors) for plain, won in zip(honest, arranged, strict=True)]
    first = BEGIN.date()
    meetings = max((count for won in arranged for day, count in won.meetings.items() if day > first), default=0)
    error = stdev(error for plain in honest for error in plain.honest)
    uncertain = stdev(gains) / len(gains) ** 0.5 if len(gains) > 1 else inf
    return Gain(fmean(gains), error, uncertain, meetings)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.ratings.arrangements", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the first season of each line")
    parser.add_argument("--seasons", type=int, default=4)
    parser.add_argument("--days", type=int, default=8)
    parser.add_argument("--unlimited", action="store_true", help="do not limit the meetings of a bot with an owner")
    options = parser.parse_args()
    print("| arrangement | gain | standard error of a rating | meetings a day |")
    print("| --- | --- | --- | --- |")
    seeds = range(options.seed, options.seed + options.seasons)
    for scenario in SCENARIOS:
        found = gain(scenario, days=options.days, seeds=seeds, limited=not options.unlimited)
        gained = f"{found.points:+.0f} ± {found.uncertain:.0f}"
        print(f"| {scenario.name} | {gained} | {found.error:.0f} | {found.meetings} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
