"""What goes on now, over HTTP: rows as they may be told, decisions and verification once the log is open."""

import json
from typing import Any

import pytest

from referee.bots.wire import Questions
from referee.chance import CommittedChance
from referee.match import Answer, Match
from referee.matchlog import visible
from referee.rows import parsed
from referee.store.play.recording import Record, record_batch
from tests.api.conftest import API, Service
from tests.store.world import World


@pytest.fixture
def world(service: Service) -> World:
    return World(service.database)


def begun(world: World, **plan: Any) -> tuple[str, Match]:
    """A match of which the first rows are recorded."""
    match_id = world.match(**plan)
    (claim,) = world.claim(match_id=match_id)
    match = world.resumed(match_id)
    match.receive(Answer(0, choice=0))
    match.receive(Answer(1, choice=0))
    with world.database.write() as session:
        assert not record_batch(session, [Record(match_id, claim.epoch, 0, match.lines)])
    return match_id, match


def ended(world: World, **plan: Any) -> str:
    match_id = world.match(**plan)
    (claim,) = world.claim(match_id=match_id)
    world.finish(claim, choice=1)
    return match_id


def get(service: Service, path: str) -> Any:
    answer = service.anonymous().get(API + path)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return answer.get_json()


def test_the_rows_of_a_friendly_match_are_told_masked_page_by_page(service: Service, world: World) -> None:
    match_id, match = begun(world, rated=False)

    whole = get(service, f"/matches/{match_id}/rows")
    first = get(service, f"/matches/{match_id}/rows?limit=2")
    rest = get(service, f"/matches/{match_id}/rows?after={first['next_after']}")
    end = get(service, f"/matches/{match_id}/rows?after={rest['next_after']}")

    rows = [parsed(line) for line in match.lines]
    assert whole["items"] == [visible(row, rows[0], None, group_over=False) for row in rows]
    assert (whole["status"], whole["open"], whole["held_back"], whole["placements"]) == ("running", False, False, None)
    assert whole["rows"] == len(rows)
    assert first["items"] + rest["items"] == whole["items"]
    assert (end["items"], end["next_after"]) == ([], rest["next_after"])


def test_a_rated_match_tells_no_more_than_its_round(service: Service, world: World) -> None:
    match_id, _ = begun(world, rated=True)

    told = get(service, f"/matches/{match_id}/rows")

    assert (told["held_back"], told["rows"], len(told["items"])) == (True, 2, 2)
    assert set(told["items"][0]) == {"row", "events"}


def test_a_match_that_is_over_shows_what_each_bot_was_asked(service: Service, world: World) -> None:
    match_id = ended(world, rated=True)
    log = service.anonymous().get(f"{API}/matches/{match_id}/log").get_data().splitlines()
    rows = [json.loads(line) for line in log]
    decision = next(row for row in rows if row["type"] == "decision" and (row["n"], row["seat"]) == (3, 1))

    shown = get(service, f"/matches/{match_id}/decisions/{decision['row']}")

    loaded = world.load(match_id)
    match = Match(loaded.header, CommittedChance(loaded.seed, loaded.group_id, loaded.nonces or []))
    match.begin()
    while match.n < 3:
        match.receive(Answer(match.requests()[0].seat, choice=1))
    asked = {request.seat: request for request in match.requests()}
    sent = Questions(loaded.header, 1, ids=loaded.aliases, names=loaded.names).ask(asked[1])[1]
    assert shown["question"] == json.loads(sent)
    assert (shown["row"], shown["n"], shown["seat"]) == (decision["row"], 3, 1)
    assert shown["decision"] == decision
