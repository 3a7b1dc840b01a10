"""Parse HTTP/1.1 responses strictly, without a socket. Everything that is not well-formed is a fault.

Common HTTP clients tolerate bare line feeds, folded headers, unrequested encodings, endless interim responses and
bytes after the end. A hostile server uses these to make two parsers disagree, so this parser tolerates none of them.
"""

import re
from collections.abc import Sequence

MAX_HEAD_BYTES = 32 * 1024  # of all heads of one response, including interim responses
MAX_BODY_BYTES = 64 * 1024
MAX_INTERIM = 10
MAX_CHUNK_LINE = 256  # in bytes: the size of a chunk with its extensions, or a trailer
MAX_FRAMING_BYTES = 64 * 1024  # of a chunked body, not counting the content of the chunks

_START = b"HTTP/1."
_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: [^\r\n]*)?")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*", re.DOTALL)
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_LENGTH = re.compile(rb"[0-9]{1,18}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,16})(?:;[^\x00-\x08\x0a-\x1f\x7f]*)?")
_JSON_TYPE = re.compile(rb'application/json(?:[ \t]*;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?)?', re.IGNORECASE)
_REDIRECTS = frozenset([300, 301, 302, 303, 305, 306, 307, 308])


class BadResponse(Exception):
    """Report that the response cannot be used and that the connection must be closed."""

    def __init__(self, fault: str, detail: str) -> None:
        super().__init__(detail)
        self.fault = fault
        self.detail = detail


class Response:
    """Parse bytes until the response is ``complete``. ``bodiless`` marks the response to a HEAD request.

    A wrong status or content type only sets ``fault``: parsing continues, so that the owner can see the body. For any
    other error, raise ``BadResponse``.
    """

    def __init__(self, *, bodiless: bool = False) -> None:
        self.status = 0
        self.fault = ""
        self.detail = ""
        self.date = ""  # the header of an answer with a bad status
        self.body = bytearray()
        self.complete = False
        self.begun = False  # a byte has arrived
        self.keep_alive = False
        self._pending = bytearray()
        self._head_bytes = 0
        self._scanned = 0  # bytes of the pending head already searched for line feeds
        self._interim = 0
        self._length: int | None = None  # of the body; None if it is chunked or lasts until the connection ends
        self._chunked = False
        self._chunk_left = 0
        self._chunk_state = "size"
        self._framing_bytes = 0
        self._in_body = False
        self._bodiless = bodiless

    def feed(self, received: bytes | memoryview) -> None:
        """Parse the next bytes; raise ``BadResponse`` at the first error."""
        self.begun = True
        self._pending += received
        while not self._in_body:
            if not self._read_head():
                return
        self._read_body()
        if self.complete:
            self._check_complete()

    def _check_complete(self) -> None:
        if self.status == 200 and not self.body:
            self.fault, self.detail = "bad_status", "200 without a body"
        if self._pending:
            raise BadResponse("bad_http", f"{len(self._pending)} bytes follow the response")

    def end(self) -> None:
        """Handle the end of the connection. Complete a body without a length; otherwise raise ``BadResponse``."""
        if self.complete:
            return
        if self._in_body and self._length is None and not self._chunked:
            self.complete = True
            self._check_complete()
            return
        raise BadResponse("bad_http", "the connection ended in the middle of the response")

    @property
    def raw(self) -> bytes:
        """Return the part of the body that arrived or, before the body, the beginning of the head."""
        return bytes(self.body or self._pending[:MAX_BODY_BYTES])

    # -- the head --

    def _read_head(self) -> bool:
        end = self._pending.find(b"\r\n\r\n", max(0, self._scanned - 3))
        size = end + 4 if end >= 0 else len(self._pending)
        if self._head_bytes + size > MAX_HEAD_BYTES:
            raise BadResponse("headers_too_large", f"the head is larger than {MAX_HEAD_BYTES} bytes")
        if end < 0:
            self._check_beginning()
            return False
        self._scanned = 0
        self._head_bytes += size
        head = bytes(self._pending[:end])
        del self._pending[:size]
        self._take_head(head.split(b"\r\n"))
        return True

    def _check_beginning(self) -> None:
        """Raise ``BadResponse`` if the incomplete head cannot become valid."""
        if not self._pending.startswith(_START[: len(self._pending)]):
            raise BadResponse("bad_http", "no HTTP/1.1 status line")
        line_end = self._pending.find(b"\n", self._scanned)
        while line_end >= 0:
            if line_end == 0 or self._pending[line_end - 1] != 0x0D:
                raise BadResponse("bad_http", "a bare line feed in the head")
            line_end = self._pending.find(b"\n", line_end + 1)
        self._scanned = len(self._pending)

    def _take_head(self, lines: list[bytes]) -> None:
        start = _STATUS_LINE.fullmatch(lines[0])
        if start is None:
            raise BadResponse("bad_http", "no HTTP/1.1 status line")
        fields = _fields(lines)
        self.status = int(start[2])
        if self.status == 101:
            raise BadResponse("bad_status", "101: the referee did not ask for an upgrade")
        if self.status < 200:
            self._interim += 1
            if self._interim > MAX_INTERIM:
                raise BadResponse("headers_too_large", f"more than {MAX_INTERIM} interim responses")
            return
        self._take_status(fields)
        self._take_framing(fields, http_1_1=start[1] == b"1")
        self._in_body = True

    def _take_status(self, fields: dict[bytes, bytes]) -> None:
        if self.status in _REDIRECTS:
            target = _printable(fields.get(b"location", b"an unknown place"))
            self.fault, self.detail = "redirect_refused", f"redirects to {target} ({self.status})"
        elif self.status != 200:
            self.fault, self.detail = "bad_status", f"{self.status}, expected 200"
            self.date = fields.get(b"date", b"").decode("latin-1")
        elif fields.get(b"content-encoding", b"identity").lower() != b"identity":
            raise BadResponse("encoding_refused", f"Content-Encoding {_printable(fields[b'content-encoding'])}")
        elif not _JSON_TYPE.fullmatch(fields.get(b"content-type", b"")):
            self.fault = "bad_content_type"
            self.detail = f"{_printable(fields.get(b'content-type', b'none'))}, expected application/json in UTF-8"

    def _take_framing(self, fields: dict[bytes, bytes], *, http_1_1: bool) -> None:
        length, transfer = fields.get(b"content-length"), fields.get(b"transfer-encoding")
        connection = {token.strip() for token in fields.get(b"connection", b"").lower().split(b",")}
        self.keep_alive = http_1_1 and b"close" not in connection
        if self._bodiless or self.status in (204, 304):
            self._length = 0
        elif transfer is not None:
            if length is not None or not http_1_1 or transfer.lower() != b"chunked":
                raise BadResponse("bad_http", "Transfer-Encoding must be chunked, without a Content-Length")
            self._chunked = True
        elif length is None:
            self.keep_alive = False
        elif not _LENGTH.fullmatch(length):
            raise BadResponse("bad_http", "Content-Length is not a number")
        else:
            self._length = int(length)
            if self._length > MAX_BODY_BYTES:
                raise BadResponse("response_too_large", f"Content-Length {self._length} exceeds {MAX_BODY_BYTES}")

    # -- the body --

    def _read_body(self) -> None:
        if self._chunked:
            while not self.complete and self._read_chunked():
                pass
        elif self._length is None:
            self._take(len(self._pending))
        else:
            self._take(min(len(self._pending), self._length - len(self.body)))
            self.complete = len(self.body) == self._length

    def _take(self, size: int) -> None:
        if len(self.body) + size > MAX_BODY_BYTES:
            raise BadResponse("response_too_large", f"the body exceeds {MAX_BODY_BYTES} bytes")
        self.body += self._pending[:size]
        del self._pending[:size]

    def _read_chunked(self) -> bool:
        """Parse the next part of a chunked body. Return False if it is incomplete; raise ``BadResponse`` if invalid."""
        if self._chunk_state == "bytes":
            size = min(len(self._pending), self._chunk_left)
            self._take(size)
            self._chunk_left -= size
            if self._chunk_left == 0:
                self._chunk_state = "line end"
            return size > 0 or self._chunk_left == 0
        line = self._line()
        if line is None:
            return False
        match self._chunk_state:
            case "line end":
                if line:
                    raise BadResponse("bad_http", "a chunk is longer than its size")
                self._chunk_state = "size"
            case "size":
                self._take_chunk_size(line)
            case _:  # trailers are discarded
                self.complete = not line
        return True

    def _take_chunk_size(self, line: bytes) -> None:
        size = _CHUNK.fullmatch(line)
        if size is None:
            raise BadResponse("bad_http", "a chunk's size is not a hexadecimal number")
        self._chunk_left = int(size[1], 16)
        if len(self.body) + self._chunk_left > MAX_BODY_BYTES:
            raise BadResponse("response_too_large", f"the body exceeds {MAX_BODY_BYTES} bytes")
        self._chunk_state = "bytes" if self._chunk_left else "trailers"

    def _line(self) -> bytes | None:
        end = self._pending.find(b"\r\n", 0, MAX_CHUNK_LINE + 2)
        if end < 0:
            if len(self._pending) > MAX_CHUNK_LINE + 1:
                raise BadResponse("bad_http", f"a line between chunks exceeds {MAX_CHUNK_LINE} bytes")
            return None
        line = bytes(self._pending[:end])
        del self._pending[: end + 2]
        self._framing_bytes += end + 2
        if self._framing_bytes > MAX_FRAMING_BYTES or _CONTROL.search(line):
            raise BadResponse("bad_http", "malformed lines between chunks")
        return line


def _fields(lines: Sequence[bytes]) -> dict[bytes, bytes]:
    """Return the header fields below the status line, keyed by lower-case name. Raise ``BadResponse`` for a bad one."""
    if _CONTROL.search(b"".join(lines)):
        raise BadResponse("bad_http", "a control character or a bare line end in the head")
    fields: dict[bytes, bytes] = {}
    for line in lines[1:]:
        field = _FIELD.fullmatch(line)
        if field is None:
            raise BadResponse("bad_http", f"not a header field: {_printable(line)}")
        name, value = field[1].lower(), field[2]
        fields[name] = fields[name] + b"," + value if name in fields else value  # two lengths give an invalid one
    return fields


def _printable(text: bytes) -> str:
    return ascii(text[:80].decode("latin-1"))
