"""A real API process is killed while it handles a POST; the request is repeated with its key."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.serving import Server, serving
from tests.end_to_end.processes import children, until

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("served")
    with serving(folder, 4, app="tests.api.dying_app:app", PYTHONPATH=str(ROOT)) as running:
        yield running


@pytest.mark.parametrize(("dies", "replayed"), [("before", ""), ("after", "true")])
def test_K6_a_post_whose_process_was_killed_has_one_effect_and_one_response(
    server: Server, dies: str, replayed: str
) -> None:
    opened = server.ask(
        "POST", "/api/v1/accounts", ["Content-Type: application/json"], b'{"name":"%s"}' % dies.encode()
    )
    headers = [f"Authorization: Bearer {opened.json()['token']['token']}", "Content-Type: application/json"]
    headers.append(f"Idempotency-Key: {dies}")
    body = json.dumps({"name": f"killed {dies}", "url": "https://bot.example.org/"}).encode()
    (before,) = children(server.pid)

    lost = server.ask("POST", "/api/v1/bots", [*headers, f"X-Dies: {dies}"], body)
    until(lambda: (now := children(server.pid)) and before not in now, "another process", 30)
    first, second = (server.ask("POST", "/api/v1/bots", headers, body) for _ in range(2))

    assert (lost.status, lost.body) == (0, b"")  # neither status nor body arrived
    assert (first.status, first.headers.get("idempotency-replayed", "")) == (201, replayed)
    assert (second.status, second.headers["idempotency-replayed"], second.body) == (201, "true", first.body)
    own = server.ask("GET", f"/api/v1/bots?owner={opened.json()['id']}").json()["items"]
    assert [bot["id"] for bot in own] == [first.json()["id"]]
