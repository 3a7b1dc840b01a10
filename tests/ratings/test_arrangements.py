"""On an official ladder with the service's own choice of tables, a bot gains at most 60 points with accomplices.

Tables, pace, meetings and ratings are those of the service, as in ``official_ladder``. ``test_manipulation`` gives its
manipulators a share of their matches instead.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from random import Random
from statistics import fmean

import pytest

from referee.ladders import members
from referee.ladders.kinds import LadderPlay
from referee.ladders.official import load_official_ladders
from referee.ladders.rating_replay import RatedSeats, RatingReplay, RatingState
from referee.ladders.tables import LadderMember, LadderPlayer
from referee.pairing.official import MEETING_SHARE, OfficialTable
from referee.ratings.elo import MICRO, START
from referee.ratings.exchange import INHERITANCE_DAYS
from tests.ratings.official_ladder import BEGIN, GAME, SPREAD, OfficialLadder, SimulatedBot, Terms

FIELD, OWNERS, ACCOMPLICES = 24, 18, 6  # honest bots and their owners; bots of one more owner, who lose on purpose
HORIZON = 2  # days before ratings are measured
LIMIT = 60.0  # points that the farmer may gain
MIDDLE = 1500.0
LADDER = next(ladder for ladder in load_official_ladders() if ladder.game == GAME)
# The honest owners, the accomplices' and the farmer's: an even share is that of 144 meetings with 19 others.
ALLOWED = MEETING_SHARE[0] * LADDER.daily_matches * (LADDER.seats - 1) / (MEETING_SHARE[1] * (OWNERS + 1))


class ArrangedLadder(OfficialLadder):
    """An official ladder with an honest field, a farmer and its accomplices, who are honest unless it is ``arranged``.

    ``gains`` has the errors of the farmer's rating after each day from ``HORIZON`` on, relative to the field, and
    ``meetings`` counts how often the farmer met its accomplices on each day.
    """

    def __init__(self, days: int, seed: int, *, arranged: bool, limited: bool = True) -> None:
        super().__init__(Terms(FIELD, days, MIDDLE, seed))
        self.arranged, self.limits_meetings = arranged, limited
        self.gains, self.meetings = list[float](), Counter[date]()
        self.play()

    def draw_bots(self) -> Iterator[SimulatedBot]:
        dice = Random(self.terms.seed)
        for number in range(FIELD):
            owner = number if number < OWNERS else dice.randrange(OWNERS)
            yield self._new_bot(f"bot {number:02}", f"owner {owner:02}", dice.gauss(MIDDLE, SPREAD))
        yield self._new_bot("farmer", "farmer", MIDDLE)
        for number in range(ACCOMPLICES):
            yield self._new_bot(f"accomplice {number}", "accomplice", MIDDLE)

    def draw_placements(self, bots: Sequence[str], strengths: Sequence[float]) -> list[int]:
        """Place the accomplices behind everybody else when the farmer sits at their table, if that is arranged."""
        placements = super().draw_placements(bots, strengths)
        if not self.arranged or "farmer" not in bots:
            return placements
        order = sorted(range(len(bots)), key=lambda seat: (bots[seat].startswith("accomplice"), placements[seat]))
        return [order.index(seat) + 1 for seat in range(len(bots))]

    def end_day(self) -> None:
        if self.days_played > HORIZON:
            errors = [self.points(bot) - self.bots[bot].strength for bot in self.bots if bot.startswith("bot")]
            self.gains.append(self.points("farmer") - MIDDLE - fmean(errors))

    def most_meetings(self) -> int:
        """Return how often the farmer met its accomplices in a day, the first one apart."""
        return max(count for day, count in self.meetings.items() if day > BEGIN.date())

    def _begin_match(self, table: OfficialTable, moment: datetime) -> None:
        super()._begin_match(table, moment)
        if "farmer" in table.candidates:
            self.meetings[moment.date()] += table.owners.count("accomplice")

    def _new_bot(self, bot_id: str, owner: str, strength: float) -> SimulatedBot:
        player = LadderPlayer(bot_id=bot_id, play=LadderPlay.ON, daily_maximum=None)
        return SimulatedBot(LadderMember(**members.new_member(bot_id, self.ladder, BEGIN)), player, owner, strength)


def test_F5_accomplices_of_one_owner_meet_a_bot_more_often_than_its_share_where_nothing_limits_them() -> None:
    ladder = ArrangedLadder(days=2, seed=1, arranged=True, limited=False)

    assert len(ladder.bots["farmer"].begun) == 2 * LADDER.daily_matches
    assert ladder.most_meetings() > 2 * ALLOWED


@pytest.mark.parametrize(("days", "seeds"), [(4, [1]), pytest.param(5, range(1, 6), marks=pytest.mark.long)])
def test_F5_C12_a_farmer_with_accomplices_gains_at_most_60_points(days: int, seeds: Sequence[int]) -> None:
    honest, arranged = ([ArrangedLadder(days, seed, arranged=arranged) for seed in seeds] for arranged in (False, True))

    gain = fmean(fmean(ladder.gains) for ladder in arranged) - fmean(fmean(ladder.gains) for ladder in honest)
    print(f"farmer with accomplices: {gain:+.0f} points in {len(seeds)} seasons of {days} days")
    assert gain <= LIMIT
    assert all(0 < ladder.most_meetings() <= ALLOWED for ladder in arranged)


def test_F7_a_new_bot_begins_at_the_lowest_recent_rating_of_its_owners_bots_here() -> None:
    lost, won = RatingState(START - 90 * MICRO, 40, last_day=1_000), RatingState(START + 90 * MICRO, 40, last_day=1_000)
    replay = RatingReplay({"lost": lost, "won": won, "other": lost._replace(value=0)}, day=1_000 + INHERITANCE_DAYS)
    replay.bots_of["ada"] |= {"lost", "won"}
    replay.bots_of["bob"] |= {"other"}

    assert replay.first_rating("new", "ada") == START - 90 * MICRO
    replay.begin_day(1_001 + INHERITANCE_DAYS)
    assert replay.first_rating("new", "ada") == START
    assert replay.first_rating("new", "cy") == START


def test_a_new_version_keeps_at_most_6_of_its_information_and_the_same_version_all() -> None:
    settled = RatingState(START, 500, information=136 * MICRO, version="1")
    young = settled._replace(information=4 * MICRO)
    replay = RatingReplay({"new": settled, "same": settled, "unnamed": settled, "young": young})

    for bots, versions in ((["new", "same"], ["2", "1"]), (["unnamed", "young"], [None, "2"])):
        replay.apply_result(RatedSeats(bots, [1, 2], [True] * 2, bots, versions, [None] * 2))

    # Each gains or loses half of its K: 695 / (6 + 3) = 77.222222 and 695 / (136 + 3) = 5, and has a match more.
    after = replay.ratings
    assert (after["new"].value - START, after["same"].value - START) == (38_611_111, -2_500_000)
    assert {bot: state.information for bot, state in after.items()} == {
        "new": 7 * MICRO,
        "same": 137 * MICRO,
        "unnamed": 137 * MICRO,
        "young": 5 * MICRO,
    }
    assert {bot: state.version for bot, state in after.items()} == {
        "new": "2",
        "same": "1",
        "unnamed": "1",
        "young": "2",
    }
