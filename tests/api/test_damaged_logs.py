"""A log that was changed is never served, nor called valid; one that is no longer kept has a clear answer."""

import gzip

import pytest
from sqlalchemy import update

from referee.match.canonical import dumps
from referee.match.log import parse_row
from referee.matches.logs import log_pruning
from referee.matches.tables import MatchLog, Result
from tests.api.conftest import Service
from tests.database.world import World

API = "/api/v1"


def change_a_time(packed: bytes) -> bytes:
    """Change one member of one row and pack the log again."""
    lines = gzip.decompress(packed).splitlines()
    number = next(number for number, line in enumerate(lines) if b'"type":"decision"' in line)
    row = parse_row(lines[number])
    lines[number] = dumps({**row, "ms": row["ms"] + 1})
    return gzip.compress(b"\n".join(lines) + b"\n")


def drop_a_row(packed: bytes) -> bytes:
    lines = gzip.decompress(packed).splitlines()
    return gzip.compress(b"\n".join([*lines[:3], *lines[4:]]) + b"\n")


def drop_the_result(packed: bytes) -> bytes:
    return gzip.compress(b"\n".join(gzip.decompress(packed).splitlines()[:-1]) + b"\n")


def flip_a_byte(packed: bytes) -> bytes:
    place = len(packed) // 2
    return packed[:place] + bytes([packed[place] ^ 0xFF]) + packed[place + 1 :]


def test_K18_a_changed_log_or_reveal_is_not_served(service: Service) -> None:
    world, client = World(service.database), service.anonymous()
    match_id = world.play(world.bots(2)).match_id
    paths = [f"{API}/matches/{match_id}/{what}" for what in ("log", "verification", "decisions/2")]
    before = [client.get(path) for path in paths]
    kept = world.get_one(MatchLog, match_id)
    of_match = update(MatchLog).where(MatchLog.match_id == match_id)

    assert [answer.status_code for answer in before] == [200, 200, 200]
    assert before[1].get_json()["ok"]
    assert client.get(f"{API}/matches/{match_id}").get_json()["log_deleted_at"] is None
    for damage in (change_a_time, drop_a_row, drop_the_result, flip_a_byte):
        world.execute(of_match.values(gzip_log=damage(kept.gzip_log)))
        after = [client.get(path) for path in paths]
        assert [(answer.status_code, answer.get_json()["code"]) for answer in after] == [(409, "log_damaged")] * 3
        assert all("the stored log is damaged" in answer.get_json()["detail"] for answer in after)
        assert client.get(f"/matches/{match_id}").status_code == 200
    changed = dumps({**parse_row(kept.reveal_line or b""), "prev": "0" * 64})
    world.execute(of_match.values(gzip_log=kept.gzip_log, reveal_line=changed))
    assert client.get(paths[0]).get_json()["code"] == "log_damaged"


HTML = {"Accept": "text/html"}


@pytest.fixture
def deleted(service: Service) -> Result:
    """Return the result of a match whose log was deleted."""
    result = service.played(service.person(), service.person())
    with service.database.write() as session:
        log_pruning.delete_logs(session, [result.match_id], "logs of official ladders are kept for 7 days")
    return result


def test_the_log_is_gone_and_the_answer_and_the_match_say_why_and_when(service: Service, deleted: Result) -> None:
    client = service.anonymous()
    for path in ("log", "verification", "decisions/3"):
        answer = client.get(f"{API}/matches/{deleted.match_id}/{path}")
        assert (answer.status_code, answer.get_json()["code"]) == (410, "log_deleted")
        why = "the time for which this service keeps logs (logs of official ladders are kept for 7 days)"
        assert f"after {why}" in answer.get_json()["detail"]

    match = client.get(f"{API}/matches/{deleted.match_id}").get_json()
    page = client.get(f"/matches/{deleted.match_id}", headers=HTML).get_data(as_text=True)

    assert match["log_deleted_at"] is not None
    assert [seat["placement"] for seat in match["seats"]] == deleted.placements
    assert "The log was deleted on" in page
    for left_out in ('id="viewer"', "match.js", f"{deleted.match_id}/log"):
        assert left_out not in page
    assert all(seat["name"] in page for seat in match["seats"])
