"""Replace our HTTP parser with h11, for comparison only, with the same interface and the checks that h11 allows.

The rest of our client is unchanged: deadlines, the address policy, and the closing of connections when bytes arrive
that were not requested. Only the parsing of HTTP differs.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import h11

from referee.botclient import connection
from referee.botclient.framing import MAX_BODY_BYTES, MAX_HEAD_BYTES, BadResponse


class H11Response:
    """Parse a response with h11. The interface is that of ``referee.botclient.framing.Response``."""

    def __init__(self, *, bodiless: bool = False) -> None:
        self.status = 0
        self.fault = self.detail = ""
        self.body = bytearray()
        self.complete = self.begun = self.keep_alive = False
        self._h11 = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
        method = "HEAD" if bodiless else "POST"
        self._h11.send(h11.Request(method=method, target="/", headers=[("Host", "a"), ("Content-Length", "0")]))
        self._h11.send(h11.EndOfMessage())

    def feed(self, received: bytes | memoryview) -> None:
        self.begun = True
        self._read(bytes(received))

    def end(self) -> None:
        if not self.complete:
            self._read(b"")

    @property
    def raw(self) -> bytes:
        return bytes(self.body)

    def _read(self, received: bytes) -> None:
        try:
            self._h11.receive_data(received)
            while not self.complete:
                event = self._h11.next_event()
                if event in (h11.NEED_DATA, h11.PAUSED):
                    return
                self._handle(event)
        except h11.RemoteProtocolError as error:
            raise BadResponse("bad_http", str(error)) from error

    def _handle(self, event: object) -> None:
        match event:
            case h11.Response():
                self._check_head(event)
            case h11.Data():
                self.body += event.data
                if len(self.body) > MAX_BODY_BYTES:
                    raise BadResponse("response_too_large", "the body is too large")
            case h11.EndOfMessage():
                if self._h11.trailing_data[0]:
                    raise BadResponse("bad_http", "bytes follow the answer")
                self.keep_alive = self._h11.their_state is h11.DONE
                self.complete = True
            case h11.ConnectionClosed():
                raise BadResponse("bad_http", "the connection ended before the answer")

    def _check_head(self, response: h11.Response) -> None:
        headers = dict(response.headers)
        self.status = response.status_code
        if self.status != 200:
            self.fault, self.detail = "bad_status", str(self.status)
        elif b"content-encoding" in headers:
            raise BadResponse("encoding_refused", "Content-Encoding")
        elif headers.get(b"content-type", b"").lower() != b"application/json":
            self.fault, self.detail = "bad_content_type", "not application/json"


@contextmanager
def replace_framing() -> Iterator[None]:
    """Make our client parse responses with h11 while the block runs."""
    with mock.patch.object(connection, "Response", H11Response):
        yield
