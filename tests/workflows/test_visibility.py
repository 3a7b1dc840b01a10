"""Visibility of rows: immediately, at the end of a round, or by age in steps of the clock."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from referee.match.canonical import Json
from referee.match.log import opens_round
from referee.match.match import Answer
from referee.matches.deals.deal_progress import DealGroupProgress
from referee.matches.logs.recording import MatchUpdate, record_batch
from referee.matches.tables import LogRow, StoredMatch
from referee.workflows.publishing import visibility
from referee.workflows.publishing.visibility import MatchFeed
from referee.workflows.voids import match_cancellation
from tests.database import tournaments
from tests.database.world import World
from tests.match.playing import public_items
from tests.surroundings import MASTER_KEY


class Playing:
    """A match that is recorded answer by answer, and its public rows."""

    def __init__(self, world: World, *, arranged: str | None = None, **plan: Any) -> None:
        self.world = world
        self.id = arranged or world.match(**{"rated": True, "options": {"rounds": 4}, **plan})
        (self.claim,) = world.claim(match_id=self.id)
        self.match = world.resumed(self.id)
        self.recorded = 0
        self.telling = MatchFeed(self.id, DealGroupProgress())
        self.record()

    def record(self) -> None:
        """Record all rows played so far."""
        with self.world.database.write() as session:
            tail = MatchUpdate(self.id, self.claim.epoch, self.recorded, self.match.lines[self.recorded :])
            assert not record_batch(session, [tail])
        self.recorded = len(self.match.lines)

    def answer(self) -> None:
        """Answer until new rows follow, and record them."""
        while len(self.match.lines) == self.recorded:
            self.match.receive(Answer(self.match.requests()[0].seat, choice=0))
        self.record()

    def answer_until_round(self, count: int) -> None:
        while len(self.openings()) < count:
            self.answer()

    def openings(self) -> list[int]:
        return [row["row"] for row in self.match.log.rows if opens_round(row, self.match.header)]

    def told(self) -> list[int]:
        """Look, and return the numbers of all public rows published so far."""
        with self.world.database.read() as session:
            self.telling.read_new_rows(session, visibility.load_visibility(session, self.id))
        return [item["number"] for item in self.telling.items]

    def answer_until_deal(self, count: int) -> int:
        """Answer until a deal begins; return the number of its first row."""
        while len(decks := self.decks()) < count:
            self.answer()
        return decks[count - 1]

    def decks(self) -> list[int]:
        return [row["row"] for row in self.match.log.rows if row.get("chance", {}).get("kind") == "deck"]

    def pace(self) -> str:
        return self.world.read(visibility.load_visibility, self.id).pace

    def end(self) -> None:
        start = self.recorded
        while not self.match.over:
            self.match.receive(Answer(self.match.requests()[0].seat, choice=0))
        self.world.ended(self.claim, self.match, start)

    def masked(self, rows: int | None = None) -> list[Json]:
        """Return what the public may read of the first rows of the log."""
        return public_items(self.match.log.rows[:rows])

    def numbers(self, rows: int) -> list[int]:
        """Return the numbers of the public rows of the first rows of the log."""
        return list(range(len(self.masked(rows))))


def test_of_unrated_play_rows_are_told_as_they_are_recorded(world: World) -> None:
    playing = Playing(world, rated=False)
    counts = [len(playing.told())]

    for _ in range(5):
        playing.answer()
        counts.append(len(playing.told()))

    assert counts[0] == len(playing.masked(2))  # the deal
    assert counts[-1] == len(playing.masked(playing.recorded))
    assert playing.telling.items == playing.masked()


def test_D2_of_rated_play_the_rows_of_a_round_are_told_when_the_next_begins(world: World) -> None:
    playing = Playing(world)
    told = [playing.told()]
    while len(playing.openings()) < 3:
        playing.answer()
        told.append(playing.told())

    ends = [len(rows) for rows in told]
    assert set(ends) == {len(playing.masked(number + 1)) for number in playing.openings()}  # nothing in between
    assert told[-1] == playing.numbers(playing.openings()[-1] + 1)
    assert playing.telling.items == playing.masked()[: len(told[-1])]


def test_D2_D4_of_rated_play_rows_are_told_by_age_in_steps_of_the_clock(world: World) -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    playing = Playing(world)
    first = len(playing.told())
    for second in (3, 8, 11):  # two in one step of the clock, one in the next
        world.clock.moment = noon + timedelta(seconds=second)
        playing.answer()
    told = {}
    for second in (62, 69, 70, 71, 79, 80):
        world.clock.moment = noon + timedelta(seconds=second)
        told[second] = len(playing.told()) - first

    assert playing.openings() == [1]
    up_to_8 = len(playing.masked(rows_up_to(playing, 8))) - first
    assert told == {62: 0, 69: 0, 70: up_to_8, 71: up_to_8, 79: up_to_8, 80: told[80]}
    assert told[80] == len(playing.masked(playing.recorded)) - first


def test_of_an_event_that_tells_who_sits_where_rows_are_told_at_once(world: World) -> None:
    playing = Playing(world)
    playing.answer()
    hidden = playing.told()
    event = tournaments.create(world, anonymous=False)
    world.execute(update(StoredMatch).where(StoredMatch.id == playing.id).values(tournament_id=event))

    assert hidden == playing.numbers(2)
    assert playing.told() == playing.numbers(playing.recorded)


def rows_up_to(playing: Playing, second: int) -> int:
    with playing.world.database.read() as session:
        query = select(LogRow.recorded_at).where(LogRow.match_id == playing.id)
        return sum(at is not None and at % 60 <= second + 0.5 for at in session.scalars(query))


@pytest.mark.parametrize("end", ["finish", "cancel"])
def test_all_rows_are_told_when_the_match_is_over(world: World, end: str) -> None:
    playing = Playing(world)
    playing.answer()
    held = playing.told()

    if end == "finish":
        playing.end()
    else:
        world.write(match_cancellation.cancel_match, playing.id, master_key=MASTER_KEY)

    assert len(held) < len(playing.masked(playing.recorded))
    assert playing.told() == playing.numbers(len(playing.match.lines) if end == "finish" else playing.recorded)
    assert playing.telling.items == playing.masked()[: len(playing.telling.items)]


def at_two_tables(world: World, **plan: Any) -> tuple[str, str]:
    """Return two due matches of different bots that share cards."""
    seated = world.bots(4)
    first, second = world.sharing([seated[:2], seated[2:]], options={"rounds": 4}, **plan)
    return first, second


def test_D1_D2_of_cards_that_others_play_too_nothing_is_told_that_they_could_use(world: World) -> None:
    here, there = at_two_tables(world, game="pool-nap")
    playing = Playing(world, arranged=here)
    third = playing.answer_until_deal(3)
    told = [playing.told()]  # before the other match has started
    other = Playing(world, arranged=there)
    other.answer()
    world.clock.moment += timedelta(seconds=200)
    told.append(playing.told())  # while they play the first deal
    ends = [playing.decks()[0]]
    for deal in (2, 3):
        other.answer_until_deal(deal)
        ends.append(playing.decks()[deal - 1])
        told.append(playing.told())
    playing.end()
    told.append(playing.told())  # although it is over, while they still play
    held = playing.pace()
    other.answer_until_deal(4)
    ends.append(playing.decks()[3])
    told.append(playing.told())
    other.end()

    assert third == ends[2]
    public = [len(playing.masked(end)) for end in ends]
    assert [len(rows) for rows in told] == [0, *public[:3], public[2], public[3]]
    assert held == "all_tables"
    assert playing.told() == playing.numbers(len(playing.match.lines))
    assert playing.telling.items == playing.masked()


def test_once_the_others_are_over_a_match_is_told_as_one_alone(world: World) -> None:
    here, there = at_two_tables(world)
    playing, other = Playing(world, arranged=here), Playing(world, arranged=there)
    playing.answer_until_round(3)
    before = playing.told(), playing.pace()
    world.execute(update(StoredMatch).where(StoredMatch.id == there).values(status="stuck"))
    stuck = playing.told(), playing.pace()
    world.execute(update(StoredMatch).where(StoredMatch.id == there).values(status="void"))

    assert before == stuck == ([], "all_tables")  # the cards of this game are dealt once, for all of its rounds
    assert playing.pace() == "rounds"
    assert playing.told() == playing.numbers(playing.openings()[-1] + 1)
    assert (other.told(), other.pace()) == ([], "all_tables")  # void, and its cards still played


def test_of_unrated_play_of_the_same_cards_rows_are_told_at_once(world: World) -> None:
    here, _ = at_two_tables(world, rated=False)
    playing = Playing(world, arranged=here)
    playing.answer()

    assert playing.told() == playing.numbers(playing.recorded)


def test_D3_a_forced_move_is_shown_after_its_delay(world: World) -> None:
    """Otherwise it would be shown together with the move before it, and a free one later."""
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    playing = Playing(world, rated=False)
    row = playing.recorded - 1
    count = len(playing.match.log.rows[row]["events"])
    with world.database.write() as session:
        delays = [0] * (count - 1) + [1500]
        session.execute(update(LogRow).where(LogRow.row == row).values(recorded_at=noon.timestamp(), delays_ms=delays))
    told, shown = {}, len(playing.masked())
    for ms in (0, 1000, 1500):
        world.clock.moment = noon + timedelta(milliseconds=ms)
        told[ms] = len(playing.told())
    playing.answer()

    assert count > 1
    assert told == {0: shown - 1, 1000: shown - 1, 1500: shown}
    assert playing.told() == playing.numbers(playing.recorded)
    assert playing.telling.items == playing.masked(playing.recorded)


def test_of_a_match_that_is_over_nothing_is_delayed(world: World) -> None:
    playing = Playing(world, rated=False)
    delays = [10**9] * len(playing.match.log.rows[1]["events"])
    world.execute(update(LogRow).where(LogRow.row == 1).values(delays_ms=delays))
    held = playing.told()
    playing.end()

    assert len(held) < len(playing.masked(2))
    assert playing.told() == playing.numbers(len(playing.match.lines))
