"""The rest of a request that was abandoned is never sent, however long the network was cut off."""

import asyncio
import socket
from ipaddress import ip_address

import pytest

from referee.botclient.address_guard import Policy, parse_url
from referee.botclient.connection import ExchangeFailed, dial

REQUEST = b"POST /decide HTTP/1.1\r\n\r\n" + bytes(8_000_000)  # more than the buffers of both sides take
SMALL = 4096


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
