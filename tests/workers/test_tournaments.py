"""Tournaments advanced by the scheduler: started in time, in turn, and unaffected by errors of others."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from referee.db.engine import Database
from referee.events import Event, TournamentEvent, TournamentFinished, TournamentStarted
from referee.matches.tables import StoredMatch
from referee.tournaments.tables import Tournament
from tests.database import scripted
from tests.database.checks import on_one_database
from tests.database.fixtures import world as world
from tests.database.tournaments import answer_handshakes, create, enter, entered, start
from tests.database.world import World
from tests.surroundings import MASTER_KEY
from tests.workers.conftest import Clock
from workers.tournaments import ERROR_PAUSE_S, TournamentAdvancer

pytestmark = on_one_database


def status_of(world: World, tournament_id: str) -> str:
    return world.get_one(Tournament, tournament_id).status


def test_an_event_goes_on_from_its_hour_to_its_end_and_all_are_told(world: World, reported_events: list[Event]) -> None:
    organiser, owner = world.account("organiser"), world.account()
    hour = world.clock.moment + timedelta(hours=1)
    tournament_id = create(world, format="knockout", starts_at=hour, created_by=organiser)
    enter(world, tournament_id, world.bot(owner), *world.bots(3))
    events = TournamentAdvancer(world.database, MASTER_KEY, Clock())

    assert not events.advance_all()
    assert status_of(world, tournament_id) == "open"
    world.clock.moment = hour
    assert not events.advance_all()  # started, and the preflight is in progress
    answer_handshakes(world.database)
    while status_of(world, tournament_id) == "running":
        assert events.advance_all()
        scripted.play_due(world.database, tournament_id)

    told = [event for event in reported_events if isinstance(event, TournamentEvent)]
    assert [(type(event), event.status) for event in told] == [
        (TournamentStarted, "running"),
        (TournamentFinished, "finished"),
    ]
    assert all({organiser, owner} <= set(event.accounts) for event in told)


class Overtaken(Database):
    """A database that runs ``meanwhile`` after the first read, as a concurrent process would."""

    meanwhile: Callable[[], object] | None = None

    @contextmanager
    def read(self, *, idle_s: float | None = None) -> Iterator[Session]:
        with super().read(idle_s=idle_s) as session:
            yield session
        happens, self.meanwhile = self.meanwhile, None
        if happens is not None:
            happens()


def test_an_event_that_another_starts_in_time_goes_on_at_once(world: World, caplog: pytest.LogCaptureFixture) -> None:
    tournament_id, _ = entered(world, 2, starts_at=world.clock.moment + timedelta(hours=1))
    world.clock.moment += timedelta(hours=1)
    overtaken = Overtaken(world.database.url.render_as_string(), clock=world.clock)
    overtaken.meanwhile = lambda: start(world, tournament_id)
    events = TournamentAdvancer(overtaken, MASTER_KEY, Clock())

    events.advance_all()
    answer_handshakes(world.database)

    assert events.advance_all()
    assert not [one for one in caplog.records if one.levelname == "ERROR"]
    overtaken.dispose()


def test_what_goes_wrong_in_one_event_does_not_stop_the_others(world: World, caplog: pytest.LogCaptureFixture) -> None:
    troubled, sound = (entered(world, 2)[0] for _ in range(2))
    for event in (troubled, sound):
        start(world, event)
    answer_handshakes(world.database)
    world.execute(update(Tournament).where(Tournament.id == troubled).values(options={"no": "such"}))
    seconds = Clock()
    events = TournamentAdvancer(world.database, MASTER_KEY, seconds)

    events.advance_all()
    events.advance_all()
    complaints = [one for one in caplog.records if one.levelname == "ERROR"]
    seconds.now_s += ERROR_PAUSE_S
    events.advance_all()

    assert set(world.scalars(select(StoredMatch.tournament_id))) == {sound}
    assert len(complaints) == 1
    assert len([one for one in caplog.records if one.levelname == "ERROR"]) == 2
