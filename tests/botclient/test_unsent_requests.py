"""The rest of a request that was abandoned is never sent, however long the network was cut off."""

import asyncio
import socket
import subprocess
import time
from ipaddress import ip_address

import pytest

from referee.botclient import connection
from referee.botclient.address_guard import Policy, parse_url
from referee.botclient.connection import ExchangeFailed, dial
from tools.hosts.lan import Host, Lan, why_unavailable

REQUEST = b"POST /decide HTTP/1.1\r\n\r\n" + bytes(8_000_000)  # more than the buffers of both sides take
SMALL = 4096
PATIENCE_S = 60.0


def test_K1_the_rest_of_an_abandoned_request_never_arrives() -> None:
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)  # as if the network took no more
        server.bind(("127.0.0.1", 0))
        server.listen()
        asyncio.run(abandon_request(server.getsockname()[1]))

        received, _ = server.accept()
        with received, pytest.raises(ConnectionResetError):
            read_to_end(received)


def read_to_end(line: socket.socket) -> None:
    while line.recv(SMALL):
        pass


async def abandon_request(port: int) -> None:
    policy = Policy.parse("127.0.0.1/32:1024-65535", allow_http=True)
    endpoint = parse_url(f"http://127.0.0.1:{port}/", policy)
    loop = asyncio.get_running_loop()
    connection = await dial(endpoint, [ip_address("127.0.0.1")], policy, lambda: loop.time() + 10)
    due = loop.time() + 0.2
    with pytest.raises(ExchangeFailed, match="no complete answer in time"):
        await connection.exchange(REQUEST, lambda: due)


def test_K1_what_is_not_acknowledged_does_not_arrive_later(monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := why_unavailable():
        pytest.skip(f"a network that is cut off NOT RUN: {reason}")
    monkeypatch.setattr(connection, "UNACKNOWLEDGED_S", 1.0)
    with Lan(["worker", "bot"]) as lan:
        worker, bot = lan["worker"], lan["bot"]
        with bot.enter_network(), socket.create_server((bot.address, 8000)) as server:
            with worker.enter_network():
                asyncio.run(ask_while_cut_off(worker, bot))
                socket.create_connection((bot.address, 8000), PATIENCE_S).close()

            first, _ = server.accept()
            server.accept()[0].close()  # what was sent after the end of the cut has arrived
            with first, pytest.raises(BlockingIOError):
                first.recv(SMALL, socket.MSG_DONTWAIT)


async def ask_while_cut_off(worker: Host, bot: Host) -> None:
    """Connect, lose the network, ask until the kernel gives up, and get the network back."""
    policy, loop = Policy.parse(f"{bot.address}/32:8000", allow_http=True), asyncio.get_running_loop()
    endpoint = parse_url(f"http://{bot.address}:8000/", policy)
    connected = await dial(endpoint, [ip_address(bot.address)], policy, lambda: loop.time() + PATIENCE_S)
    worker.cut()
    try:
        with pytest.raises(ExchangeFailed, match="the connection broke") as failed:
            await connected.exchange(b"POST /decide HTTP/1.1\r\n\r\n", lambda: loop.time() + PATIENCE_S)
        wait_until_nothing_is_queued(bot.address)
    finally:
        worker.mend()
    assert failed.value.is_retryable


def wait_until_nothing_is_queued(address: str) -> None:
    """Wait until the kernel has dropped the packets that it keeps while it looks for the neighbour."""
    end = time.monotonic() + PATIENCE_S
    show = ["ip", "neighbor", "show", address, "nud", "incomplete"]
    while subprocess.run(show, check=True, capture_output=True).stdout:
        assert time.monotonic() < end
        time.sleep(0.05)
