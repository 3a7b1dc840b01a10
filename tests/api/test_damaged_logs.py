"""A stored log that was changed is never served, nor called valid, not even if it was valid a moment ago."""

import gzip
from collections.abc import Callable

import pytest
from sqlalchemy import update

from referee.match.canonical import dumps
from referee.match.log import parse_row
from referee.matches.tables import MatchLog
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


@pytest.mark.parametrize("damage", [change_a_time, drop_a_row, drop_the_result, flip_a_byte])
def test_K18_a_changed_log_is_not_served(service: Service, damage: Callable[[bytes], bytes]) -> None:
    world, client = World(service.database), service.anonymous()
    match_id = world.play(world.bots(2)).match_id
    paths = [f"{API}/matches/{match_id}/{what}" for what in ("log", "verification", "decisions/2")]
    before = [client.get(path) for path in paths]
    with world.database.write() as session:
        packed = session.get_one(MatchLog, match_id).gzip_log
        session.execute(update(MatchLog).where(MatchLog.match_id == match_id).values(gzip_log=damage(packed)))

    after = [client.get(path) for path in paths]

    assert [answer.status_code for answer in before] == [200, 200, 200]
    assert before[1].get_json()["ok"]
    assert [(answer.status_code, answer.get_json()["code"]) for answer in after] == [(409, "log_damaged")] * 3
    assert all("the stored log is damaged" in answer.get_json()["detail"] for answer in after)
    assert client.get(f"/matches/{match_id}").status_code == 200


def test_K18_a_changed_reveal_is_not_served(service: Service) -> None:
    world, client = World(service.database), service.anonymous()
    match_id = world.play(world.bots(2)).match_id
    with world.database.write() as session:
        reveal = parse_row(session.get_one(MatchLog, match_id).reveal_line or b"")
        changed = dumps({**reveal, "prev": "0" * 64})
        session.execute(update(MatchLog).where(MatchLog.match_id == match_id).values(reveal_line=changed))

    assert client.get(f"{API}/matches/{match_id}/log").get_json()["code"] == "log_damaged"
