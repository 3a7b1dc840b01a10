"""The metrics of a service that plays: what is counted, what is read, and who may see it."""

import asyncio
import logging
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from aiohttp import web
from flask import Flask
from redis import Redis

from api import create_app, request_log
from referee.accounts import accounts
from referee.bots import bots
from referee.bots.bots import Quotas
from referee.db.engine import Database
from referee.match.log import parse_row
from referee.metrics import shared
from referee.metrics.database import DatabaseFigures, DatabaseReader
from referee.settings import ListenAddress
from tests.metrics.conftest import scrape, serving, value
from tests.surroundings import settings_for
from tests.workers.conftest import Scripted, World
from workers.metrics_server import MetricsServer

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def world(tmp_path: Path, database: Database, redis_url: str) -> World:
    return World(database, replace(settings_for(tmp_path), redis_url=redis_url))


@pytest.fixture
def app(tmp_path: Path, database: Database, redis_url: str) -> Iterator[Flask]:
    found = create_app(replace(settings_for(tmp_path), redis_url=redis_url))
    yield found
    request_log.close(found)
    found.extensions["referee.database"].dispose()


def test_E28_matches_decisions_and_faults_are_counted(world: World, redis_url: str) -> None:
    async def fail(request: web.Request) -> web.Response:
        return web.Response(status=500)

    async def story() -> tuple[str, DatabaseFigures]:
        async with world.houses("first", Scripted(fail)):
            world.arrange("saint-poker", world.bot_ids, rated=False, options={"rounds": 2})
            match_id = world.arrange("saint-poker", world.bot_ids, options={"rounds": 2})
            before = DatabaseReader(world.database).read()
            await world.run()
            return match_id, before

    match_id, before = asyncio.run(story())

    with serving(world.database, redis_url) as server:
        found = scrape(server)
    rows = [parse_row(line) for line in world.lines(match_id)]
    asked = [row for row in rows if row["type"] == "decision" and row["source"] != "forced"]
    assert (
        value(found, "referee_faults_total", code="bad_status")
        >= sum(row.get("fault") is not None for row in asked)
        > 0
    )
    assert value(found, "referee_matches", state="finished", kind="organised") >= 1
    assert value(found, "referee_matches_ended_total", kind="organised", outcome="finished") == 1
    assert value(found, "referee_matches_ended_total", kind="organised", outcome="failed") == 0  # so that it can rise
    assert value(found, "referee_matches_ended_total", kind="friendly", outcome="finished") == 1
    assert value(found, "referee_decisions_total", player="bot") == value(found, "referee_decision_bot_seconds_count")
    assert value(found, "referee_decisions_total", player="bot") >= len(asked)
    assert value(found, "referee_results_total") == 2
    assert value(found, "referee_runner_cpu_seconds_total") > 0
    assert value(found, "referee_transaction_seconds_count", access="write") > 0
    assert before.matches["due", "organised"] == 1
    assert before.oldest_due_s > 0
    stored = str([series.labels for series in shared.read_counts(Redis.from_url(redis_url))])
    assert not any(name in stored for name in (*world.bot_ids, "Bot", "127.0.0.1"))  # what has many values
    jobs = value(found, "referee_transaction_jobs_total", access="write")
    assert jobs >= value(found, "referee_transaction_seconds_count", access="write")


def test_E28_requests_are_counted_by_area_and_not_by_address(app: Flask, database: Database, redis_url: str) -> None:
    client = app.test_client()
    for number in range(5):
        assert client.get(f"/api/v1/bots/bot_{number:026}").status_code == 404
    client.get("/nowhere/at/all?token=ref_x")
    client.open("/api/v1/games", method="BREW")
    request_log.close(app)

    with serving(database, redis_url) as server:
        found = scrape(server)

    assert value(found, "referee_http_requests_total", area="bots", method="GET", status="4xx") == 5
    assert value(found, "referee_http_requests_total", area="none", method="GET", status="4xx") == 1
    assert value(found, "referee_http_request_seconds_count", kind="api") == 6
    assert not [labels for name, labels in found if "ref_x" in str(labels) or "BREW" in str(labels)]


def test_E28_a_hundred_bots_add_no_series(database: Database, redis_url: str) -> None:
    with serving(database, redis_url) as server:
        before = scrape(server).keys()
    with database.write() as session:
        many = Quotas(per_owner=200, per_host=200, per_group=200)
        owner = accounts.create_account(session, "Somebody")
        for number in range(100):
            bots.register(session, owner.id, f"Bot {number}", f"https://b{number}.example.org/", quotas=many)

    with serving(database, redis_url) as server:
        assert scrape(server).keys() == before


def test_E28_the_public_address_has_no_metrics(app: Flask) -> None:
    for path in ("/metrics", "/metrics/", "/api/v1/metrics"):
        assert app.test_client().get(path).status_code == 404
    proxy = (ROOT / "deploy/nginx.conf").read_text()
    assert "9464" not in proxy
    assert "location = /metrics {\n            return 404;" in proxy
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]


def test_an_address_in_use_is_tried_again(database: Database, redis_url: str, caplog: pytest.LogCaptureFixture) -> None:
    with serving(database, redis_url) as server:
        assert server.port is not None
        second = MetricsServer(ListenAddress("127.0.0.1", server.port), database, redis_url)
        with caplog.at_level(logging.WARNING):
            assert second.step() == second.step() == 30.0
        assert [record.message for record in caplog.records] == ["metrics_not_served"]

    second.step()

    assert second.port is not None
    second.stop()


MALFORMED = {
    "garbage": "1",
    '["referee_faults", ["timeout"], ""]': "x",
    '["referee_faults", 7, ""]': "1",
    '[["referee_faults"], [], ""]': "1",
    '["referee_faults", [["timeout"]], ""]': "1",
    "[1, 2]": "1",
    '["referee_faults", ["timeout"], "x"]': "1",
}


def test_what_is_malformed_in_Redis_hides_nothing_else(database: Database, redis_url: str) -> None:
    with Redis.from_url(redis_url) as redis:
        redis.hset(shared._COUNTS_KEY, mapping={**MALFORMED, '["referee_leases_expired", [], ""]': "3"})
        redis.hset(shared._STATES_KEY, mapping={"a": "garbage", "b": '{"x": 1}', "c": "[]", "d": '{"at": "now"}'})

        with serving(database, redis_url) as server:
            samples = scrape(server)

        assert value(samples, "referee_up", part="redis") == 1
        assert value(samples, "referee_leases_expired_total") == 3
        assert redis.hlen(shared._STATES_KEY) == 0


def test_a_client_that_hangs_up_writes_no_traceback_of_its_own(
    database: Database, redis_url: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with serving(database, redis_url) as server:
        assert server.port is not None
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", server.port)) as client:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                client.sendall(b"GET /metrics HTTP/1.1\r\nConn")  # and a reset in place of the rest
        assert scrape(server)
        deadline = time.monotonic() + 10
        while "metrics_request_failed" not in caplog.text and time.monotonic() < deadline:
            time.sleep(0.01)

    assert "metrics_request_failed" in caplog.text
    assert "Traceback" not in capfd.readouterr().err


def test_without_redis_or_a_database_the_rest_is_there(database: Database, redis_url: str, tmp_path: Path) -> None:
    with serving(database, "redis://127.0.0.1:1/0") as server:
        found = scrape(server)
    assert (value(found, "referee_up", part="redis"), value(found, "referee_up", part="database")) == (0, 1)
    assert ("referee_workers", ()) not in found
    assert value(found, "referee_matches", state="due", kind="organised") == 0

    with serving(Database(f"sqlite:///{tmp_path / 'none' / 'referee.db'}"), redis_url) as server:
        found = scrape(server)
    assert (value(found, "referee_up", part="redis"), value(found, "referee_up", part="database")) == (1, 0)
    assert value(found, "referee_leases_expired_total") == 0


def test_often_asked_the_database_is_read_seldom(database: Database) -> None:
    clock = [0.0]
    reader = DatabaseReader(database, lambda: clock[0])
    first = reader.read()
    clock[0] = 4.9
    assert reader.read() is first
    clock[0] = 5.0
    assert reader.read() is not first
