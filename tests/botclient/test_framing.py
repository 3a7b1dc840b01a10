"""Parsing one HTTP response: what is accepted and refused, however the bytes are split."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from referee.botclient.framing import BadResponse, Response

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
BODY = b'{"a":1}'
MESSAGE = b"Content-Length: 7\r\n\r\n" + BODY
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ONE_CHUNK = b"7\r\n" + BODY + b"\r\n0\r\n\r\n"


def read(raw: bytes, *, pieces: int | None = None) -> tuple[str, bytes]:
    """Return the fault and the body after feeding pieces of this size and closing the connection."""
    response, size = Response(), pieces or len(raw) or 1
    try:
        for start in range(0, len(raw), size):
            response.feed(raw[start : start + size])
        response.end()
    except BadResponse as bad:
        return response.fault or bad.fault, b""
    return response.fault, bytes(response.body)


GOOD = [
    OK + MESSAGE,
    CHUNKED + ONE_CHUNK,
    CHUNKED + b'3;x=y\r\n{"a\r\n04\r\n":1}\r\n000\r\nA: b\r\n\r\n',  # chunks, extension, trailer
    OK + b"\r\n" + BODY,  # until the end
    b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + BODY,
    b"HTTP/1.1 100 Continue\r\n\r\n" + OK + MESSAGE,
    OK.replace(b" OK", b"") + b"Content-Length:7\r\n\r\n" + BODY,
    OK + b"X:\r\nX: a\tb\r\nX: \xe4\r\nContent-Length: \t7 \r\n\r\n" + BODY,
]

BAD_LENGTHS = [
    *(b"7\r\nContent-Length: 8", b"7\r\nContent-Length: 7", b"7, 7", b"-7", b"+7", b"0x7", b"7_0", b"\xb2", b"", b"9")
]
BAD_FIELDS = [
    *(b"X: a\nY: b", b"X: a\rY: b", b"X: a\0b", b"X: a\r\n b", b"Content-Length : 7", b" X: a", b"no colon", b": x")
]
BAD_LINES = [
    *(OK.replace(b"1.1", version) for version in (b"3.7", b"1.2")),
    *(OK.replace(b"200", status) for status in (b"20", b"2000")),
    b"\r\n" + OK,
]
BAD_ENCODINGS = [b"gzip, chunked", b"\x0bchunked", b"chunked\r\nTransfer-Encoding: chunked", b"x"]
BAD_SIZES = [b"7 ", b"-7", b"0x7"]
BAD = [
    OK + b"Content-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n" + ONE_CHUNK,
    OK + b"Transfer-Encoding: chunked\r\nContent-Length: 7\r\n\r\n" + ONE_CHUNK,
    OK.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n" + ONE_CHUNK,
    *(OK + b"Content-Length: " + length + b"\r\n\r\n" + BODY for length in BAD_LENGTHS),
    *(OK + field + b"\r\n" + MESSAGE for field in BAD_FIELDS),
    *(line + MESSAGE for line in BAD_LINES),
    *(OK + b"Transfer-Encoding: " + encoding + b"\r\n\r\n" + ONE_CHUNK for encoding in BAD_ENCODINGS),
    *(CHUNKED + size + b"\r\n" + BODY + b"\r\n0\r\n\r\n" for size in BAD_SIZES),
    OK.replace(b"\r\n", b"\n") + MESSAGE.replace(b"\r\n", b"\n"),
    *(BODY, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x00\x00\x12\x04\x00\x00\x00\x00\x00"),  # HTTP/0.9 and HTTP/2
    CHUNKED + b"7\n" + BODY + b"\n0\n\n",
    CHUNKED + b"\r\n",  # no size
    CHUNKED + b"7\r\n" + BODY + b"x\r\n0\r\n\r\n",
    CHUNKED + b"7\r\n" + BODY + b"\r\n0\r\n",  # no end of trailers
    CHUNKED + b"7;" + b"x" * 300 + b"\r\n" + BODY + b"\r\n0\r\n\r\n",
    CHUNKED + (b"1;" + b"x" * 250 + b"\r\n \r\n") * 400 + b"0\r\n\r\n",
    CHUNKED + b"0\r\n" + b"A: b\r\n" * 20_000 + b"\r\n",
    *(OK + MESSAGE + b"x", CHUNKED + ONE_CHUNK + b"\r\n"),  # surplus
    *(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
]


def test_B9_well_formed_responses_are_taken_in_any_pieces_and_everything_else_is_refused() -> None:
    for pieces in (None, 1, 2, 7):
        assert [raw for raw in GOOD if read(raw, pieces=pieces) != ("", BODY)] == []
    for pieces in (None, 1, 1000):
        assert [raw for raw in BAD if read(raw, pieces=pieces)[0] != "bad_http"] == []


@given(st.binary(max_size=200))
def test_B9_no_bytes_raise_anything_but_a_fault(noise: bytes) -> None:
    for beginning in (b"", OK, OK + b"Content-Length: 50\r\n\r\n", CHUNKED):
        read(beginning + noise)


@given(st.sampled_from(GOOD + BAD), st.lists(st.integers(0, 400), max_size=6))
def test_the_cut_between_pieces_never_matters(raw: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(raw)]
    response, found = Response(), ""
    try:
        for start, end in pairwise(edges):
            if end > start:
                response.feed(raw[start:end])
        response.end()
    except BadResponse as bad:
        found = response.fault or bad.fault

    assert found == read(raw)[0]


def test_a_long_trickled_head_is_looked_through_once() -> None:
    response = Response()
    for byte in OK + b"X: " + b"x" * 30_000:
        response.feed(bytes([byte]))

    assert response._scanned > 30_000


def test_an_answer_to_HEAD_ends_with_its_head() -> None:
    response = Response(bodiless=True)

    response.feed(OK + b"Content-Length: 7\r\n\r\n")

    assert response.complete
    assert response.keep_alive


def test_whether_the_connection_may_be_kept() -> None:
    def keeps(head: bytes) -> bool:
        response = Response()
        response.feed(head + b"Content-Length: 1\r\n\r\n1")
        return response.keep_alive

    assert keeps(OK)
    assert keeps(OK + b"Connection: keep-alive\r\n")
    assert not keeps(OK + b"Connection: Close\r\n")
    assert not keeps(OK + b"Connection: x, close\r\n")
    assert not keeps(OK.replace(b"1.1", b"1.0") + b"Connection: keep-alive\r\n")
