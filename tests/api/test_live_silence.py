"""A decision in rated play changes nothing that anyone can read before the round is over."""

import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from referee.bots.tables import Bot
from referee.match.match import Answer, Match
from referee.matches.logs.recording import FaultReport, MatchUpdate, PendingAnswer, record_batch
from referee.matches.queue.claims import Claim
from referee.matches.tables import MatchSeat
from tests.api.conftest import API, Service
from tests.database import tournaments
from tests.database.world import World

CHANGES_BY_ITSELF = ("Date", "X-Request-Id", "X-RateLimit-Remaining", "X-RateLimit-Reset")


@pytest.fixture
def world(service: Service) -> World:
    return World(service.database)


class Table:
    """A match of a tournament in progress."""

    def __init__(self, world: World, claim: Claim) -> None:
        self.world, self.claim = world, claim
        self.match: Match = world.resumed(claim.match_id)
        self.recorded = 0
        with world.database.read() as session:
            query = select(Bot.id, Bot.name).join(MatchSeat, MatchSeat.bot_id == Bot.id)
            self.bots = dict(session.execute(query.where(MatchSeat.match_id == claim.match_id)).all())

    def record(self, **more: Any) -> None:
        with self.world.database.write() as session:
            tail = self.match.lines[self.recorded :]
            assert not record_batch(
                session, [MatchUpdate(self.claim.match_id, self.claim.epoch, self.recorded, tail, **more)]
            )
        self.recorded = len(self.match.lines)

    def answer(self) -> None:
        request = self.match.requests()[0]
        self.match.receive(Answer(request.seat, choice=len(request.legal_actions) - 1, note="a note to myself"))


def all_there_is_to_read(client: FlaskClient, table: Table, event: str) -> dict[str, tuple[int, dict[str, str], bytes]]:
    """Return status, headers and body of every resource that may show the match."""
    match, bots = table.claim.match_id, list(table.bots)
    paths = ["/", "/matches", f"/matches/{match}", f"/matches?tournament={event}", f"/tournaments/{event}"]
    paths += [
        f"/tournaments/{event}/{tab}" for tab in ("rounds", "rounds/1", "matches", "entries", "luck", "downloads")
    ]
    paths += [f"{API}/matches/{match}{rest}" for rest in ("", "/rows", "/log", "/verification", "/decisions/2")]
    paths += [f"{API}/{rest}" for rest in ("now", "matches", "matches?status=running", "ladders")]
    paths += [f"{API}/tournaments/{event}{rest}" for rest in ("", "/standings", "/rounds", "/rounds/1", "/results.csv")]
    for bot in bots:
        paths += [f"/bots/{bot}", f"{API}/bots/{bot}", f"{API}/matches?bot={bot}", f"/matches?bot={bot}"]
    client.application.extensions.pop("referee.now", None)  # what it kept is two seconds old
    found = {}
    for path in paths:
        answer = client.get(path)
        headers = {name: text for name, text in answer.headers.items() if name not in CHANGES_BY_ITSELF}
        found[path] = answer.status_code, headers, re.sub(rb"req_[0-9a-f]+", b"", answer.data)
    return found


def test_D1_D2_a_decision_of_rated_play_changes_nothing_that_anybody_may_read(service: Service, world: World) -> None:
    event, _ = tournaments.begun(world, 4, game="pool-nap", seats=2)
    table = Table(world, world.claim(2)[0])
    table.record()
    client = service.anonymous()

    before = all_there_is_to_read(client, table, event)
    table.answer()
    table.record()
    table.answer()
    seat = table.match.requests()[0].seat
    bot = next(iter(table.bots))
    evidence = [FaultReport(table.match.n, seat, bot, "deadline", "too late", b"{}", None, {"total_ms": 777})]
    table.record(sealed=[PendingAnswer(table.match.n, seat, {"seat": seat, "choice": 0})], fault_reports=evidence)
    after = all_there_is_to_read(client, table, event)

    assert table.recorded > 3
    assert {path: seen for path, seen in after.items() if seen != before[path]} == {}
    assert {status for status, _, _ in before.values()} == {200, 409}  # 409: the log is closed
    told = b"".join(before[path][2] for path in before if table.claim.match_id in path)
    assert len(told) > 2000
    assert not [name for known in table.bots.items() for name in known if name.encode() in told]
