"""More clients than the API has threads, under gunicorn: stalled ones, slow ones, and viewers of streams."""

import json
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from api.gunicorn_worker import set_timeout
from referee.db.engine import Database
from tests.api.serving import Server, read_reply, serving
from tests.api.streaming import Message, Watching
from tests.database import scripted
from tests.database import tournaments as events
from tests.database.world import World
from tests.end_to_end.processes import until

THREADS = 4
MORE_THAN_THREADS = THREADS + 2
VIEWERS, VIEWERS_AN_ADDRESS = 10, 8
# Six requests for 1.7 MB: one answer fits into the buffers of the system.
READ_LARGE = b"GET /static/swagger-ui/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n" * 6
GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /api/v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
PATIENCE_S = 60
SETTINGS = {
    "REFEREE_CONNECTION_TIMEOUT_S": "1",
    "REFEREE_REQUEST_TIMEOUT_S": "6",
    "REFEREE_TRUSTED_PROXIES": "1",
    "REFEREE_STREAMS": str(VIEWERS),
    "REFEREE_STREAMS_PER_ADDRESS": str(VIEWERS_AN_ADDRESS),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("many_clients")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with serving(folder, THREADS, graceful_s=300, **SETTINGS) as running:
        yield running


@pytest.fixture(scope="module")
def world(folder: Path, server: Server) -> Iterator[World]:
    """Return the database of the server, to which the tests write."""
    database = Database(f"sqlite:///{folder / 'referee.db'}")
    yield World(database)
    database.dispose()


def stalled(server: Server, stack: ExitStack, sent: bytes) -> list[socket.socket]:
    """Connect more clients than threads that send these bytes and then stall."""
    clients = []
    for _ in range(MORE_THAN_THREADS):
        client = stack.enter_context(socket.socket())
        client.settimeout(PATIENCE_S)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        client.connect(("127.0.0.1", server.port))
        client.sendall(sent)
        clients.append(client)
    return clients


def is_served(server: Server, threads: int = THREADS) -> bool:
    """Return whether this number of concurrent requests, by default that of all threads, is answered in time."""
    with ExitStack() as stack:
        others = [stack.enter_context(server.connect()) for _ in range(threads)]
        for other in others:
            other.settimeout(PATIENCE_S)
            other.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        return all(other.recv(12) == b"HTTP/1.1 200" for other in others)


def closed(server: Server) -> int:
    """Return the number of connections that were closed because they stalled or were slow, at least."""
    text = server.log.read_text()
    slow = re.findall(r'"event": "slow_connections_closed".*"count": (\d+)', text)
    return text.count("stalled_connection_closed") + sum(map(int, slow))


def test_E12_clients_that_read_no_answer_lose_their_connections(server: Server) -> None:
    before = closed(server)
    with ExitStack() as stack:
        stalled(server, stack, READ_LARGE)

        assert is_served(server)
        until(lambda: closed(server) >= before + MORE_THAN_THREADS, "all are closed", PATIENCE_S)

    assert "Traceback" not in server.log.read_text()


@pytest.mark.parametrize("sent", [GET[:-6], POST + b"20\r\n\r\n{"], ids=["head", "body"])
def test_E12_requests_sent_by_half_lose_their_connections(server: Server, sent: bytes) -> None:
    with ExitStack() as stack:
        clients = stalled(server, stack, sent)

        assert is_served(server)
        assert {read_reply(client).status for client in clients} <= {0, 400}

    assert "Traceback" not in server.log.read_text()


@pytest.mark.parametrize("sent", [GET + b"Connection: close\r\n\r\n", b"nonsense\r\n\r\n"], ids=["last", "bad"])
def test_E12_clients_that_do_not_close_after_their_last_answer_hold_up_nobody(server: Server, sent: bytes) -> None:
    with ExitStack() as stack:
        stalled(server, stack, sent)

        assert is_served(server)


def test_E12_a_slow_reader_that_goes_on_is_not_cut_off() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as reader:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        reader.connect(listener.getsockname())
        sender, _ = listener.accept()
        set_timeout(sender, 1)
        content, pieces = bytes(160_000), []
        with ThreadPoolExecutor(1) as threads:
            sending = threads.submit(send_all, sender, content)
            while piece := reader.recv(8000):
                pieces.append(piece)
                time.sleep(0.1)  # slow, as such readers are: in all twice the timeout and more
            sending.result()

    assert b"".join(pieces) == content
    assert len(pieces) >= 20


def send_all(sender: socket.socket, content: bytes) -> None:
    with sender:
        sender.sendall(content)


def test_E12_every_way_to_start_the_api_uses_this_worker() -> None:
    root = Path(__file__).parents[2]

    for name in ("Dockerfile", "docs/operations.md", "referee/runtime/supervisor.py"):
        text = (root / name).read_text()
        assert "gunicorn_worker.TimeoutWorker" in text
        assert "gthread" not in text


# -- clients that go on, a few bytes at a time --


@contextmanager
def repeating(clients: list[socket.socket], act: Callable[[socket.socket], object]) -> Iterator[None]:
    """Let each client act four times a second, for as long as the block runs."""
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(0.25):
            for client in clients:
                with suppress(OSError):
                    act(client)

    with ThreadPoolExecutor(1) as threads:
        acting = threads.submit(repeat)
        try:
            yield
        finally:
            over.set()
            acting.result()


@pytest.mark.parametrize(
    ("head", "piece"), [(GET + b"X-Slow: ", b"a"), (POST + b"2000\r\n\r\n", b" ")], ids=["head", "body"]
)
def test_E12_clients_that_send_slowly_occupy_half_of_the_threads(server: Server, head: bytes, piece: bytes) -> None:
    with ExitStack() as stack:
        clients = stalled(server, stack, head)
        stack.enter_context(repeating(clients, lambda client: client.sendall(piece)))
        assert is_served(server, THREADS // 2 - 1)
        for client in clients:
            with suppress(ConnectionError):
                while client.recv(4096):  # until the server closes it
                    pass

    assert "Traceback" not in server.log.read_text()


def test_E12_clients_that_read_a_little_at_a_time_occupy_half_of_the_threads(server: Server) -> None:
    with ExitStack() as stack:
        clients = stalled(server, stack, READ_LARGE)
        stack.enter_context(repeating(clients, lambda client: client.recv(64)))
        assert is_served(server, THREADS // 2 - 1)

    assert "Traceback" not in server.log.read_text()


# -- viewers of streams --


def watch(server: Server, event: str, last_id: str | None = None, address: str = "192.0.2.1") -> Watching:
    return Watching(server.port, f"/tournaments/{event}/stream", last_id, address)


def seqs(told: list[Message]) -> list[int]:
    return [message.data["seq"] for message in told if message.name == "match"]


def test_viewers_get_every_message_of_a_tournament_exactly_once_also_after_reconnecting(
    server: Server, world: World
) -> None:
    event, _ = events.begun(world, 4)
    staying = [watch(server, event) for _ in range(THREADS + 2)]  # more than there are threads
    first = [viewer.until(lambda message: message.name == "standings") for viewer in staying]
    leaving = watch(server, event)
    scripted.play_due(world.database, event, 1)
    begun = leaving.until(lambda message: message.name == "match")
    leaving.leave()

    scripted.play_due(world.database, event, 2)
    back = watch(server, event, begun[-1].id, address="192.0.2.2")
    missed = back.until(lambda message: message.name == "standings")
    events.play_all(world, event)
    later = list(back)
    whole = [[*told, *viewer] for told, viewer in zip(first, staying, strict=True)]

    every = seqs(whole[0])
    assert len(every) == 6
    assert every == sorted(set(every))
    assert all(seqs(told) == every for told in whole)
    assert [*seqs(begun), *seqs(missed), *seqs(later)] == every
    assert [told[0].name for told in first] == ["progress"] * len(first)
    assert later[-1].name == "end"
    assert later[-1].data["status"] == "finished"
    last_table = [message for message in later if message.name == "standings"][-1]
    assert last_table.data["as_of_seq"] == every[-1]
    ids = [int(message.id.removesuffix(".end")) for message in whole[0]]
    assert ids == sorted(ids)
    assert watch(server, event, later[-1].id).answer.status == 204
    for viewer in (back, *staying):
        viewer.leave()


def test_viewers_above_the_limits_are_told_to_come_back(server: Server, world: World) -> None:
    event, _ = events.begun(world, 2)
    with ExitStack() as stack:

        def viewer(address: str) -> Watching:
            one = watch(server, event, address=address)
            stack.callback(one.leave)
            return one

        here = [viewer(f"2001:db8:0:7::{n}") for n in range(VIEWERS_AN_ADDRESS)]  # one network, one caller
        refused = viewer("2001:db8:0:7:6::6")
        elsewhere = [viewer("192.0.2.8") for _ in range(VIEWERS - VIEWERS_AN_ADDRESS)]
        full = viewer("192.0.2.9")

        assert [one.answer.status for one in (*here, *elsewhere)] == [200] * VIEWERS
        for one in (refused, full):
            assert (one.answer.status, one.answer.headers["Retry-After"]) == (503, "10")
            assert json.loads(one.answer.read())["code"] == "unavailable"
        here[0].until(lambda message: message.name == "standings")
        here[0].leave()  # its place is free again as soon as the server sees it
        until(lambda: viewer("2001:db8:0:7::7").answer.status == 200, "a place is free", PATIENCE_S)


def test_a_stop_ends_all_streams_in_good_order(server: Server, world: World) -> None:
    event, _ = events.begun(world, 2)
    viewers = [watch(server, event) for _ in range(4)]
    for viewer in viewers:
        viewer.until(lambda message: message.name == "standings")

    server.process.send_signal(signal.SIGTERM)

    assert server.process.wait(PATIENCE_S) == 0
    assert [list(viewer) for viewer in viewers] == [[]] * 4  # the last chunk came: else reading would raise
