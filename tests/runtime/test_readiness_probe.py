"""What `referee up` says that is missing, while it waits for `/readyz`."""

import socket

import pytest

from referee.runtime.readiness_probe import ReadinessProbe
from tests.cli.running import comes_true


@pytest.mark.parametrize(
    ("body", "answered"),
    [
        (b"", "/readyz answered 503"),
        (b"[]", "/readyz answered 503"),
        (b'{"database": "unwritable"}', "/readyz answered 503 (database: unwritable)"),
    ],
)
def test_the_last_answer_is_said_while_the_next_request_is_open(body: bytes, answered: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        probe = ReadinessProbe(*listener.getsockname())
        assert probe.find_missing() == "no answer at /readyz yet"
        client, _ = listener.accept()
        with client:
            client.recv(4096)
            client.sendall(b"HTTP/1.1 503 X\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

        assert comes_true(lambda: probe.find_missing() == answered)
        assert probe.find_missing() == answered  # a request that nobody has accepted

        client, _ = listener.accept()
        with client:
            client.recv(4096)
        hung_up = "no answer at /readyz yet (Remote end closed connection without response)"
        assert comes_true(lambda: probe.find_missing() == hung_up)
        probe.close()
