"""Live data over HTTP: visible rows, and decisions and verification once the log is open."""

import hashlib
import json
from typing import Any

import pytest
from sqlalchemy import delete
from werkzeug.test import TestResponse

from api.matches import log_replay
from referee.match.chance import CommittedChance
from referee.match.match import Answer, Match
from referee.matches.logs import logs
from referee.matches.tables import MatchLog, SignedLog
from referee.protocol.messages import Questions
from referee.tournaments.tables import Tournament
from referee.workflows.voids import match_cancellation
from tests.api.conftest import API, Service
from tests.api.playing import Playing, begin
from tests.api.streaming import Message, messages
from tests.database import tournaments
from tests.database.world import World
from tests.match.playing import public_items
from tests.surroundings import MASTER_KEY


def begun(world: World, **plan: Any) -> Playing:
    """Return a match of which two answers are recorded."""
    playing = begin(world, **plan)
    playing.receive(2)
    playing.record()
    return playing


def ended(world: World, **plan: Any) -> str:
    return world.play(world.bots(2), options={"rounds": 2}, choice=1, **plan).match_id


def get(service: Service, path: str) -> Any:
    answer = service.anonymous().get(API + path)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return answer.get_json()


def test_the_rows_of_a_friendly_match_are_told_masked_page_by_page(service: Service, world: World) -> None:
    playing = begun(world, rated=False)
    path = f"/matches/{playing.id}/rows"

    whole, first = get(service, path), get(service, f"{path}?limit=2")
    rest = get(service, f"{path}?after={first['next_after']}")
    end = get(service, f"{path}?after={rest['next_after']}")

    assert whole["items"] == public_items(playing.match.log.rows) == first["items"] + rest["items"]
    assert (whole["status"], whole["open"], whole["delayed"], whole["placements"]) == ("running", False, False, None)
    assert whole["rows"] == len(whole["items"])
    assert (end["items"], end["next_after"]) == ([], rest["next_after"])


def test_a_rated_match_tells_no_more_than_its_round(service: Service, world: World) -> None:
    playing = begun(world, rated=True)

    told, rows = get(service, f"/matches/{playing.id}/rows"), playing.match.log.rows

    assert (told["delayed"], told["pace"], told["items"]) == (True, "rounds", public_items(rows[:2]))
    assert told["rows"] == len(told["items"]) < len(public_items(rows))


def test_a_match_that_is_over_shows_what_each_bot_was_asked(service: Service, world: World) -> None:
    match_id = ended(world, rated=True)
    rows = map(json.loads, service.anonymous().get(f"{API}/matches/{match_id}/log").data.splitlines())
    decision = [row for row in rows if row.get("source") == "bot"][5]
    n, seat = decision["n"], decision["seat"]

    shown = get(service, f"/matches/{match_id}/decisions/{decision['row']}")
    placements = [seat["placement"] for seat in get(service, f"/matches/{match_id}")["seats"]]

    loaded = world.load(match_id)
    match = Match(loaded.header, CommittedChance(loaded.seed, loaded.group_id, loaded.nonces or []))
    match.begin()
    while match.n < n:
        match.receive(Answer(match.requests()[0].seat, choice=1))
    (asked,) = (request for request in match.requests() if request.seat == seat)
    question = json.loads(Questions(loaded.header, seat, loaded.aliases).encode(asked)[1])
    assert get(service, f"/matches/{match_id}/rows")["placements"] == placements
    assert shown == {"row": decision["row"], "n": n, "seat": seat, "question": question, "decision": decision}


def test_a_closed_log_shows_no_decision_and_a_row_that_is_none_is_not_found(service: Service, world: World) -> None:
    running, over = begun(world).id, ended(world)
    client = service.anonymous()

    for path in ("decisions/2", "verification"):
        refused = client.get(f"{API}/matches/{running}/{path}")
        assert (refused.status_code, refused.get_json()["code"]) == (409, "log_not_ready")
    rows = len(client.get(f"{API}/matches/{over}/log").data.splitlines()) - 1  # without the signature
    for row in (0, 1, rows, 10**6, 10**30):
        assert client.get(f"{API}/matches/{over}/decisions/{row}").status_code == 404
    for path in ("rows", "stream", "decisions/2", "verification"):
        assert client.get(f"{API}/matches/mat_{'0' * 26}/{path}").status_code == 404
    never = world.match()
    with world.database.write() as session:
        match_cancellation.cancel_match(session, never, master_key=MASTER_KEY)
    assert client.get(f"{API}/matches/{never}/verification").status_code == 404
    assert get(service, f"/matches/{never}/rows")["items"] == []


def test_a_log_is_verified_once_few_at_a_time(service: Service, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_replay, "SLOT_TIMEOUT_S", 0.0)
    match_id = ended(world)
    *log, signature = service.anonymous().get(f"{API}/matches/{match_id}/log").get_data().splitlines()
    path = f"/matches/{match_id}/verification"

    with log_replay.limit_replays(), log_replay.limit_replays():
        refused = service.anonymous().get(API + path)
    found = get(service, path)
    with log_replay.limit_replays(), log_replay.limit_replays():
        again = get(service, path)

    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
    assert found == again
    assert (found["ok"], found["revealed"], found["rows"], found["match"]) == (True, True, len(log), match_id)
    assert found["digest"] == hashlib.sha256(log[-2]).hexdigest()
    assert found["signature"]["digest"] == hashlib.sha256(signature).hexdigest()


def test_K18_the_service_says_what_a_log_cut_short_lacks(service: Service, world: World) -> None:
    match_id = ended(world)
    with service.database.write() as session:
        *lines, _, _ = logs.log_lines(session, match_id)
        session.execute(delete(MatchLog).where(MatchLog.match_id == match_id))
        session.execute(delete(SignedLog).where(SignedLog.match_id == match_id))  # or nothing would be served
        logs.pack_log(session, match_id, lines)

    found = get(service, f"/matches/{match_id}/verification")

    assert (found["ok"], found["row"]) == (False, len(lines))
    assert found["reason"] == "the log ends before the match is over: expected the result row here"


def test_anyone_can_read_the_overview(service: Service, world: World) -> None:
    tournament_id = tournaments.create(world)
    begun(world, tournament_id=tournament_id)

    for anonymous in (True, False):
        with world.database.write() as session:
            session.get_one(Tournament, tournament_id).anonymous = anonymous
        service.app.extensions.pop("referee.now", None)  # drop the overview that is cached for two seconds
        now = get(service, "/now")
        ((first, second),) = (match["seats"] for match in now["matches"])
        assert [seat["name"] is None for seat in (first, second)] == [anonymous] * 2
    assert now["counts"] == {"running": 1, "waiting": 0, "results": 0, "tournaments": 0, "open": 1}
    assert now["tournaments"] == []


def test_a_match_that_is_over_is_told_whole_or_from_where_somebody_was(service: Service, world: World) -> None:
    match_id = ended(world)
    client, path = service.anonymous(), f"{API}/matches/{match_id}/stream"
    last = get(service, f"/matches/{match_id}/rows")["next_after"]

    whole = told(client.get(path))
    back = told(client.get(path, headers={"Last-Event-ID": "10"}))
    beside = told(client.get(f"{path}?after=10"))
    both = told(client.get(f"{path}?after=3", headers={"Last-Event-ID": "10"}))
    beyond = told(client.get(path, headers={"Last-Event-ID": "999"}))

    assert [message.name for message in whole] == ["rows", "state", "end"]
    assert whole[0].data["items"] == get(service, f"/matches/{match_id}/rows")["items"]
    assert back[0].data["items"] == whole[0].data["items"][11:]
    assert back == beside == both
    assert [message.name for message in beyond] == ["state", "end"]
    assert client.get(path, headers={"Last-Event-ID": whole[-1].id}).status_code == 204
    assert whole[-1].id == f"{last}.end"
    assert client.get(path, headers={"Last-Event-ID": "x"}).status_code == 422
    assert client.get(f"{path}?after=-1").status_code == 422


def told(answer: TestResponse) -> list[Message]:
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    return list(messages(iter(answer.data.splitlines())))
