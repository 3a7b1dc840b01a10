"""Official ladders on which owners issue new versions of the same program, for the matches that these play immediately.

Tables, pace, immediate matches and ratings are those of the service, as in ``official_ladder``.
``python -m tests.ratings.new_versions`` prints a table; a short form is among the tests.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from statistics import fmean, stdev

from referee.ladders import members, new_versions
from referee.ladders.kinds import LadderPlay
from referee.ladders.tables import LadderMember, LadderPlayer
from referee.pairing.official import VERSIONS_A_DAY, OfficialTable
from tests.ratings.official_ladder import BEGIN, SPREAD, OfficialLadder, SimulatedBot, Terms

STRENGTHS, NEVER = 8, 4  # each strength has one bot whose owner issues versions, and four whose owners never do
SETTLING_DAYS = 3  # before ratings are measured
MIDDLE = 1500.0
STOPS = range(0, 100, 10)  # points above its strength at which an owner may stop a bot

EVENING = 0.75  # part of a day after which an owner tries to raise the rating at its end

Policy = Callable[[float, float], bool]  # whether to issue a version, by error of the rating and time in days
POLICIES: dict[str, Policy] = {
    "whenever they play immediately": lambda error, at: True,
    "when unlucky": lambda error, at: error < 0,
    "when unlucky, in the evening": lambda error, at: error < 0 and at % 1 > EVENING,
}


class VersionLadder(OfficialLadder):
    """An official ladder on which some owners issue a version as soon as it plays immediately and ``policy`` says so.

    ``errors_of`` has by how much the rating of each bot exceeds its strength, after each match, with its time in days.
    """

    def __init__(self, policy: Policy, *, days: int, seed: int) -> None:
        self.policy = policy
        self.issued: defaultdict[str, list[datetime]] = defaultdict(list)
        self.errors_of: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        super().__init__(Terms(STRENGTHS * (1 + NEVER), days, MIDDLE, seed))

    def draw_bots(self) -> Iterator[SimulatedBot]:
        dice = Random(self.terms.seed)
        for number in range(STRENGTHS):
            strength = dice.gauss(MIDDLE, SPREAD)
            for name in ("issues", *(f"never {other}" for other in range(NEVER))):
                bot_id = f"{name}, {number}"
                member = LadderMember(**members.new_member(bot_id, self.ladder, BEGIN))
                player = LadderPlayer(bot_id=bot_id, play=LadderPlay.ON, daily_maximum=None)
                yield SimulatedBot(member, player, f"owner of {bot_id}", strength)

    def _rate(self, table: OfficialTable, ended: datetime) -> None:
        super()._rate(table, ended)
        for bot in (self.bots[bot_id] for bot_id in table.candidates):
            bot_id, at = bot.member.bot_id, (ended - BEGIN) / timedelta(days=1)
            error = self.points(bot_id) - bot.strength
            self.errors_of[bot_id].append((at, error))
            if bot_id.startswith("issues") and self.policy(error, at):
                self._issue(bot, ended)

    def _issue(self, bot: SimulatedBot, moment: datetime) -> None:
        """Issue a version, unless an earlier one still plays immediately or this one would not."""
        issued, member = self.issued[bot.member.bot_id], bot.member
        recent = [earlier for earlier in issued if earlier > moment - timedelta(days=1)]
        if member.matches < member.immediate_until or len(recent) >= VERSIONS_A_DAY:
            return
        issued.append(moment)
        bot.version += 1
        new_versions.let_play_immediately(member, self.ladder)
        member.due_at = members.next_due(member, self.ladder, bot.player, moment)


@dataclass(frozen=True, slots=True)
class Luck:
    """Hold mean ratings over the strength, in points, of bots in periods of some days, or differences of these.

    ``at_end`` of the period; ``stopped`` as soon as the rating reaches a height, at the best one of ``STOPS``, else at
    the end; ``best`` is the highest rating of the period, which an owner would get who knew the future.
    """

    at_end: float
    stopped: float
    best: float

    def __iter__(self) -> Iterator[float]:
        return iter((self.at_end, self.stopped, self.best))


def play_seasons(policy: Policy, *, days: int, seeds: Iterable[int]) -> list[VersionLadder]:
    """Play one season with each seed, ``days`` long after the settling days."""
    seasons = [VersionLadder(policy, days=SETTLING_DAYS + days, seed=seed) for seed in seeds]
    for season in seasons:
        season.play()
    return seasons


def measure(seasons: Sequence[VersionLadder], name: str, days: int) -> Luck:
    """Return the luck of the bots whose names begin with ``name`` in periods of ``days`` of all seasons together."""
    periods = [
        [error for at, error in errors if first <= at < first + days]
        for season in seasons
        for bot_id, errors in season.errors_of.items()
        if bot_id.startswith(name)
        for first in range(SETTLING_DAYS, season.terms.days - days + 1, days)
    ]
    stopped = (
        fmean(next((error for error in errors if error >= height), errors[-1]) for errors in periods)
        for height in STOPS
    )
    return Luck(fmean(errors[-1] for errors in periods), max(stopped), fmean(map(max, periods)))


def measure_gain(seasons: Sequence[VersionLadder], days: int) -> Luck:
    """Return by how much owners who issue versions are luckier in periods of ``days`` than those of equal bots."""
    issues, never = measure(seasons, "issues", days), measure(seasons, "never", days)
    return Luck(*(one - other for one, other in zip(issues, never, strict=True)))


def measure_errors(seasons: Sequence[VersionLadder], days: int) -> Luck:
    """Return the standard error of each figure of ``measure_gain``, by the jackknife over at least three seasons."""
    without = [measure_gain([*seasons[:index], *seasons[index + 1 :]], days) for index in range(len(seasons))]
    scale = (len(seasons) - 1) / len(seasons) ** 0.5
    return Luck(*(stdev(figures) * scale for figures in zip(*without, strict=True)))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.ratings.new_versions", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the first season of each line")
    parser.add_argument("--seasons", type=int, default=6, help="3 or more")
    parser.add_argument("--periods", type=int, nargs="+", default=[1, 5, 20], help="days after which ratings count")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.seasons)
    print("| versions are issued | days | gain at the end | gain when stopped | gain of the best rating |")
    print("| --- | --- | --- | --- | --- |")
    for name, policy in POLICIES.items():
        seasons = play_seasons(policy, days=max(options.periods), seeds=seeds)
        for days in options.periods:
            figures = zip(measure_gain(seasons, days), measure_errors(seasons, days), strict=True)
            gains = " | ".join(f"{gain:+.0f} ± {error:.0f}" for gain, error in figures)
            print(f"| {name} | {days} | {gains} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
