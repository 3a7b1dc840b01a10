"""A decision in rated play changes nothing that anyone can read before the round is over."""

import re

from flask.testing import FlaskClient
from sqlalchemy import select

from referee.bots.tables import Bot
from referee.match.match import Answer
from referee.matches.logs.recording import FaultReport, PendingAnswer
from referee.matches.tables import MatchSeat
from tests.api.conftest import API, Service
from tests.api.playing import Playing
from tests.database import tournaments
from tests.database.world import World

CHANGES_BY_ITSELF = ("Date", "X-Request-Id", "X-RateLimit-Remaining", "X-RateLimit-Reset")


def all_there_is_to_read(
    client: FlaskClient, playing: Playing, bots: dict[str, str], event: str
) -> dict[str, tuple[int, dict[str, str], bytes]]:
    """Return status, headers and body of every resource that may show the match."""
    tabs = ("rounds", "rounds/1", "matches", "entries", "downloads")
    paths = ["/", "/matches", f"/matches/{playing.id}", f"/matches?tournament={event}", f"/tournaments/{event}"]
    paths += [f"/tournaments/{event}/{tab}" for tab in tabs]
    paths += [f"{API}/matches/{playing.id}{rest}" for rest in ("", "/rows", "/log", "/verification", "/decisions/2")]
    paths += [f"{API}/{rest}" for rest in ("now", "matches", "matches?status=running", "ladders")]
    paths += [f"{API}/tournaments/{event}{rest}" for rest in ("", "/standings", "/rounds", "/rounds/1", "/results.csv")]
    for bot in list(bots)[:1]:
        paths += [f"/bots/{bot}", f"{API}/bots/{bot}", f"{API}/matches?bot={bot}", f"/matches?bot={bot}"]
    client.application.extensions.pop("referee.now", None)  # what it kept is two seconds old
    found = {}
    for path in paths:
        answer = client.get(path)
        headers = {name: text for name, text in answer.headers.items() if name not in CHANGES_BY_ITSELF}
        found[path] = answer.status_code, headers, re.sub(rb"req_[0-9a-f]+", b"", answer.data)
    return found


def test_D1_D2_a_decision_of_rated_play_changes_nothing_that_anybody_may_read(service: Service) -> None:
    world, client = World(service.database), service.anonymous()
    event, _ = tournaments.begun(world, 4, game="pool-nap", seats=2)
    claim, _ = world.claim(2)
    match = world.resumed(claim.match_id)
    playing = Playing(world, claim, match)
    with world.database.read() as session:
        query = select(Bot.id, Bot.name).join(MatchSeat, MatchSeat.bot_id == Bot.id)
        bots = dict(session.execute(query.where(MatchSeat.match_id == playing.id)).all())

    def answer() -> None:
        request = match.requests()[0]
        match.receive(Answer(request.seat, choice=len(request.legal_actions) - 1, note="a note to myself"))

    before = all_there_is_to_read(client, playing, bots, event)
    answer()
    playing.record()
    answer()
    n, seat = match.n, match.requests()[0].seat
    evidence = [FaultReport(n, seat, next(iter(bots)), "deadline", "too late", b"{}", None, {"total_ms": 777})]
    playing.record(sealed=[PendingAnswer(n, seat, {"seat": seat, "choice": 0})], fault_reports=evidence)
    after = all_there_is_to_read(client, playing, bots, event)

    assert playing.recorded > 3
    assert {path: seen for path, seen in after.items() if seen != before[path]} == {}
    assert {status for status, _, _ in before.values()} == {200, 409}  # 409: the log is closed
    told = b"".join(before[path][2] for path in before if playing.id in path)
    assert len(told) > 2000
    assert not [name for known in bots.items() for name in known if name.encode() in told]
