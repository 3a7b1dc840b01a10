"""An official ladder in simulated time: bots of known strength, tables and pace as in the service, and its ratings.

Only the database, the matches and the clock are simulated. ``python -m tests.ratings.official_ladder`` plays a month.
"""

import argparse
import heapq
from collections import namedtuple
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from statistics import fmean
from types import SimpleNamespace
from typing import TypeVar, cast

from sqlalchemy import inspect

from referee.house.calibration import load_ratings
from referee.ladders import members, official_matches
from referee.ladders.kinds import LadderPlay
from referee.ladders.official import load_official_ladders
from referee.ladders.rating_replay import RatedSeats, RatingReplay, RatingState, utc_day
from referee.ladders.tables import Ladder, LadderMember, LadderPlayer
from referee.pairing.official import PARTNER_WAIT_S, Filler, OfficialState, OfficialTable, choose_tables
from referee.ratings.elo import MICRO, PROVISIONAL_GAMES
from tests.ratings.truth import draw_placements, kendall

GAME = "pool-nap"
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
SPREAD = 200.0  # standard deviation of the true strengths, in points
AT_ONCE = 0.5  # share of the bots that join at the beginning; the others join in the first two thirds of the time
SEVERAL = 0.3  # probability that a bot belongs to an owner who has another one
DAILY_MAXIMUM, LIMITED = 12, 10  # every tenth bot has a daily maximum
MATCH_S = (20.0, 90.0)  # duration of a match, in seconds
SECOND = timedelta(seconds=1)

Row = TypeVar("Row", LadderMember, LadderPlayer, Ladder)
PoolRow = namedtuple(  # as ``official_matches`` reads it from the database
    "PoolRow", "LadderMember LadderPlayer owner_id can_play games rating free_since last_ladder matches_of_day"
)


@dataclass(frozen=True, slots=True)
class Terms:
    """Number of bots and days, and the mean of the true strengths in points."""

    bots: int
    days: int
    mean: float = 1500.0
    seed: int = 1


def plain(row: Row) -> Row:
    """Return the values of a row in an object of its own: a season reads millions, and those of the ORM are slow."""
    values = {column.key: getattr(row, column.key) for column in inspect(type(row)).column_attrs}
    return cast(Row, SimpleNamespace(**values))


@dataclass(slots=True)
class SimulatedBot:
    """A bot with its membership. ``begun`` has the times of its matches, ``house`` whether house players sat there."""

    member: LadderMember
    player: LadderPlayer
    owner: str
    strength: float
    playing: bool = False
    free_since: datetime | None = None
    begun: list[datetime] = field(default_factory=list)
    house: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.member, self.player = plain(self.member), plain(self.player)

    @property
    def due_at(self) -> datetime:
        assert self.member.due_at is not None
        return self.member.due_at

    @property
    def is_established(self) -> bool:
        return self.member.matches >= PROVISIONAL_GAMES

    def waits_until(self, moment: datetime) -> datetime | None:
        """Return the next time at which the bot may get a table, or None if that depends on others."""
        if self.due_at > moment:
            return self.due_at
        since = max(self.due_at, self.free_since or self.due_at) + timedelta(seconds=PARTNER_WAIT_S)
        return since if since > moment else None


class OfficialLadder:
    """An official ladder, its bots and their ratings."""

    def __init__(self, terms: Terms) -> None:
        official = next(ladder for ladder in load_official_ladders() if ladder.game == GAME)
        self.ladder = plain(Ladder(id="ladder", game=GAME, seats=official.seats, daily_matches=official.daily_matches))
        self.anchors = {
            f"house:{found.level}": found.rating * MICRO
            for found in load_ratings()
            if (found.game, found.seats) == (GAME, official.seats)
        }
        self.terms, self.dice, self.replay = terms, Random(terms.seed), RatingReplay()
        self.limits_meetings = True
        self.bots: dict[str, SimulatedBot] = {}
        self.tables = 0
        self.days_played = 0
        self._to_join = sorted(self.draw_bots(), key=lambda bot: bot.due_at, reverse=True)
        self._running: list[tuple[datetime, int, OfficialTable]] = []

    def play(self) -> None:
        """Play until the end of the last day."""
        moment = BEGIN
        for day in range(1, self.terms.days + 1):
            while moment < BEGIN + timedelta(days=day):
                self._end_matches(moment)
                while self._to_join and self._to_join[-1].due_at <= moment:
                    bot = self._to_join.pop()
                    self.bots[bot.member.bot_id] = bot
                moment = self._next_moment(moment, made=self._make_matches(moment))
            self.days_played += 1
            self.end_day()

    def end_day(self) -> None:
        """Do what happens after each day: nothing on an honest ladder."""

    def draw_placements(self, bots: Sequence[str], strengths: Sequence[float]) -> list[int]:
        """Return the placements of these seats, some of which may be house players."""
        return draw_placements(strengths, self.dice)

    def points(self, bot_id: str) -> float:
        return self.replay.ratings.get(bot_id, RatingState()).value / MICRO

    def established(self) -> list[SimulatedBot]:
        return [bot for bot in self.bots.values() if bot.is_established]

    def draw_bots(self) -> Iterator[SimulatedBot]:
        owners = 0
        for number in range(self.terms.bots):
            is_sibling = number > 0 and self.dice.random() < SEVERAL
            owners += not is_sibling
            owner = self.dice.randint(1, owners) if is_sibling else owners
            share = 0.0 if self.dice.random() < AT_ONCE else self.dice.random() * 2 / 3
            joins = BEGIN + timedelta(seconds=int(share * self.terms.days * 86_400))
            bot_id = f"bot {number:04}"
            yield SimulatedBot(
                LadderMember(**members.new_member(bot_id, self.ladder, joins)),
                LadderPlayer(
                    bot_id=bot_id, play=LadderPlay.ON, daily_maximum=None if number % LIMITED else DAILY_MAXIMUM
                ),
                f"owner {owner:04}",
                self.dice.gauss(self.terms.mean, SPREAD),
            )

    # -- the scheduler --

    def _make_matches(self, moment: datetime) -> bool:
        """Make the matches that are due, as one sweep does. Return whether there were any."""
        by_due = sorted(self.bots.values(), key=lambda bot: (bot.due_at, bot.member.bot_id))
        free = [bot for bot in by_due if not bot.playing][: official_matches.MAX_POOL]
        if not free or free[0].due_at > moment:
            return False
        rows = {bot.member.bot_id: self._row(bot, moment) for bot in by_due}
        everybody = len({bot.owner for bot in self.bots.values()}) if self.limits_meetings else 0
        pool, postponed = official_matches.select_candidates(
            [rows[bot.member.bot_id] for bot in free], self.ladder, moment, everybody
        )
        for bot_id, later in postponed.items():
            self.bots[bot_id].member.due_at = later
        left = [row.owner_id for row in rows.values() if official_matches.has_matches_left(row, self.ladder, moment)]
        owners = len({*left[: official_matches.MAX_POOL]})
        fillers = [Filler(bot_id, rating) for bot_id, rating in self.anchors.items()]
        state = OfficialState(self.ladder.seats, owners, fillers)
        tables = choose_tables(
            pool, state, want=official_matches.MAX_TABLES, draw_key=bytes(32), serial=moment.isoformat()
        )
        for table in tables:
            self._begin_match(table, moment)
        return bool(tables)

    def _row(self, bot: SimulatedBot, moment: datetime) -> PoolRow:
        of_day = bot.member.matches_of_day if bot.member.day == moment.date() else 0
        state = self.replay.ratings.get(bot.member.bot_id, RatingState())
        last_ladder = self.ladder.id if bot.free_since else None
        return PoolRow(
            bot.member, bot.player, bot.owner, True, [GAME], state.value, bot.free_since, last_ladder, of_day
        )

    def _begin_match(self, table: OfficialTable, moment: datetime) -> None:
        self.tables += 1
        seated = [self.bots[bot_id] for bot_id in table.candidates]
        found = [(bot.member, bot.player) for bot in seated]
        official_matches.record_match(found, self.ladder, table, str(self.tables), moment)
        for bot in seated:
            assert not bot.playing, "a bot plays two matches at a time"
            bot.playing = True
            bot.begun.append(moment)
            bot.house.append(table.has_house)
        ends = moment + timedelta(seconds=self.dice.uniform(*MATCH_S))
        heapq.heappush(self._running, (ends, self.tables, table))

    def _end_matches(self, moment: datetime) -> None:
        while self._running and self._running[0][0] <= moment:
            ended, _, table = heapq.heappop(self._running)
            self._rate(table, ended)
            for bot_id in table.candidates:
                self.bots[bot_id].playing, self.bots[bot_id].free_since = False, ended

    def _rate(self, table: OfficialTable, ended: datetime) -> None:
        seated = [self.bots.get(bot_id) for bot_id in table.seats]
        strengths = [
            self.anchors[bot_id] / MICRO if bot is None else bot.strength
            for bot_id, bot in zip(table.seats, seated, strict=True)
        ]
        self.replay.begin_day(utc_day(ended))
        self.replay.apply_result(
            RatedSeats(
                bots=table.seats,
                placements=self.draw_placements(table.seats, strengths),
                rated=[bot is not None for bot in seated],
                owners=[None if bot is None else bot.owner for bot in seated],
                versions=["1" if bot else None for bot in seated],
                anchors=[self.anchors.get(bot_id) for bot_id in table.seats],
            )
        )

    def _next_moment(self, moment: datetime, *, made: bool) -> datetime:
        """Return the next whole second at which a sweep may make a match."""
        if made:
            return moment + SECOND
        moments = [bot.waits_until(moment) for bot in self.bots.values() if not bot.playing]
        moments += [self._running[0][0] if self._running else None, self._to_join[-1].due_at if self._to_join else None]
        seconds = (min(filter(None, moments)) - BEGIN) / SECOND
        return max(moment + SECOND, BEGIN + SECOND * -int(-seconds // 1))


def main() -> int:
    """Print how well the ratings agree with the strengths, how soon bots play, and the share of house players."""
    parser = argparse.ArgumentParser(prog="python -m tests.ratings.official_ladder", description=__doc__)
    parser.add_argument("--bots", type=int, default=200)
    parser.add_argument("--days", type=int, default=30)
    options = parser.parse_args()
    ladder = OfficialLadder(Terms(options.bots, options.days))
    ladder.play()
    truth = {bot.member.bot_id: bot.strength for bot in ladder.established()}
    found = {bot_id: ladder.points(bot_id) for bot_id in truth}
    print(f"rank correlation {kendall(truth, found):.2f}")
    print(f"mean absolute error {fmean(abs(found[bot_id] - truth[bot_id]) for bot_id in truth):.0f} points")
    for number in (1, 10):
        waits = [(bot.begun[number - 1] - bot.member.joined_at) / SECOND for bot in ladder.bots.values()]
        print(f"longest wait for match {number}: {max(waits):.0f} s")
    print(f"matches with house players {fmean(met for bot in ladder.bots.values() for met in bot.house):.0%}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
