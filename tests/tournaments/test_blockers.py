"""Stuck matches block their round and tournament until somebody decides what to do, and all concerned are notified."""

import threading
import time

import pytest
from sqlalchemy import select, text, update

from referee.bots import house_bots
from referee.errors import Conflict
from referee.events import Event, TournamentHeldUp
from referee.ladders.tables import Rating
from referee.matches.logs.recording import MatchUpdate
from referee.matches.tables import MatchSeat, Result, StoredMatch
from referee.tournaments import entries, lifecycle
from referee.tournaments.tables import Tournament, TournamentRound
from referee.workflows.ending import match_end, match_retry
from referee.workflows.voids import tournament_cancellation
from tests.database import scripted
from tests.database.tournaments import begun, go_on, progress_of, status_of
from tests.database.world import World
from tests.surroundings import MASTER_KEY


def make_stuck(world: World, match_id: str) -> None:
    world.execute(update(StoredMatch).where(StoredMatch.id == match_id).values(status="stuck"))


def due(world: World, event: str) -> list[str]:
    query = select(StoredMatch.id).where(StoredMatch.tournament_id == event, StoredMatch.status == "due")
    return world.scalars(query)


def test_the_round_and_the_event_wait_for_a_decision_on_stuck_matches_and_say_so(
    world: World, reported_events: list[Event]
) -> None:
    event, _ = begun(world, 4, format="swiss", format_options={"rounds": 2})
    stuck, other = due(world, event)
    make_stuck(world, stuck)
    scripted.play(world.database, other)

    assert (go_on(world.database, event), go_on(world.database, event)) == (["blockers reported"], [])

    with world.database.read() as session:
        assert [session.get_one(Tournament, event).status, session.get_one(TournamentRound, (event, 1)).ended_at] == [
            "running",
            None,
        ]
        assert session.scalars(select(Rating)).all() == []  # they share their cards
    assert stuck in str(status_of(world, event)[1])
    assert [told.reason for told in reported_events if isinstance(told, TournamentHeldUp)] == [
        status_of(world, event)[1]
    ]
    assert progress_of(world, event).done == 1

    # the operator retries it, during a pause
    world.write(lifecycle.pause, event)
    assert world.write(match_retry.retry_match, stuck).status == "waiting"
    world.write(lifecycle.resume, event)
    assert go_on(world.database, event) == ["blockers reported"]
    assert status_of(world, event)[1] is None

    # it gets stuck again and has a rematch
    make_stuck(world, stuck)
    assert go_on(world.database, event) == ["blockers reported"]
    (again,) = world.void(stuck, rematch=True).rematches
    assert go_on(world.database, event) == ["blockers reported"]
    scripted.play(world.database, again)
    assert go_on(world.database, event)[:2] == ["round over", "paired"]

    # and is voided without a rematch
    last, other = due(world, event)
    scripted.play(world.database, other)
    make_stuck(world, last)
    world.void(last)
    assert go_on(world.database, event)[-1] == "finished"
    make_stuck(world, last)
    with world.database.write() as session, pytest.raises(Conflict, match="finished"):
        match_retry.retry_match(session, last)


def test_a_replay_is_rated_when_the_stand_in_is_gone(world: World) -> None:
    event, _ = begun(world, 2)
    (match_id,) = due(world, event)
    world.execute(update(StoredMatch).where(StoredMatch.id == match_id).values(rated=False))  # as with a substitute
    scripted.play(world.database, match_id)

    (again,) = world.void(match_id, rematch=True).rematches
    scripted.play(world.database, again)

    results = {one.match_id: one.ladder_id for one in world.scalars(select(Result))}
    assert (results[match_id], results[again] is not None) == (None, True)


def test_a_match_of_a_bot_that_left_is_not_played_again(world: World) -> None:
    event, seated = begun(world, 2)
    (match_id,) = due(world, event)
    scripted.play(world.database, match_id)
    world.write(entries.withdraw_bot, event, seated[0])

    with pytest.raises(Conflict, match=f"No bot can play for {seated[0]}"):
        world.void(match_id, rematch=True)


def test_a_match_that_ends_while_its_event_is_cancelled_keeps_its_result(world: World) -> None:
    event, _ = begun(world, 2)
    (claim,) = world.claim(1)
    cancelling = threading.Thread(
        target=world.write, args=(tournament_cancellation.cancel_tournament, event), kwargs={"master_key": MASTER_KEY}
    )
    outcome = match_end.MatchResult([1, 2], [1, -1], [1, -1], [0, 0])
    with world.database.write() as session:
        match_end.finish_match(session, MatchUpdate(*claim, 0, [scripted.LINE]), outcome, master_key=MASTER_KEY)
        cancelling.start()
        until_it_waits(world)  # it has seen the match in progress
    cancelling.join(30)

    with world.database.read() as session:
        states = session.get_one(StoredMatch, claim.match_id).status, session.get_one(Tournament, event).status
    assert states == ("finished", "cancelled")


def test_nobody_sits_in_any_more_for_who_left(world: World) -> None:
    event, (left, *_) = begun(world, 2)
    with world.database.write() as session:
        seat = update(MatchSeat).where(MatchSeat.bot_id == left)
        session.execute(
            seat.values(bot_id=house_bots.get_or_create_house_bot(session, "sound").id, entrant_id=left, rated=False)
        )
        entries.withdraw_bot(session, event, left)

    assert due(world, event) == []


def until_it_waits(world: World) -> None:
    """Wait until another transaction waits for a lock; on SQLite it cannot begin before this one ends."""
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    deadline = time.monotonic() + 20
    while not world.database.is_sqlite and time.monotonic() < deadline:
        with world.database.read() as session:
            if session.scalar(waiting):
                return
        time.sleep(0.01)
