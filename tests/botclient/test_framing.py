"""Parsing one HTTP response: what is accepted and refused, however the bytes are split."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.botclient.framing import BadResponse, Response

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ONE_CHUNK = b"7\r\n" + b'{"a":1}' + b"\r\n0\r\n\r\n"


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
    pytest.param(OK + b"Content-Length: 7\r\n\r\n" + b'{"a":1}', id="length"),
    pytest.param(CHUNKED + ONE_CHUNK, id="one chunk"),
    pytest.param(CHUNKED + b'3;x=y\r\n{"a\r\n04\r\n":1}\r\n000\r\nA: b\r\n\r\n', id="chunks, extension, trailer"),
    pytest.param(OK + b"\r\n" + b'{"a":1}', id="until the end"),
    pytest.param(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + b'{"a":1}', id="HTTP/1.0"),
    pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 7\r\n\r\n" + b'{"a":1}', id="interim"),
    pytest.param(OK.replace(b" OK", b"") + b"Content-Length:7\r\n\r\n" + b'{"a":1}', id="no reason"),
    pytest.param(
        OK + b"X:\r\nX: a\tb\r\nX: \xe4\r\nContent-Length: \t7 \r\n\r\n" + b'{"a":1}', id="odd but right fields"
    ),
]

BAD = [
    pytest.param(OK + b"Content-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n" + ONE_CHUNK, id="length and chunks"),
    pytest.param(OK + b"Transfer-Encoding: chunked\r\nContent-Length: 7\r\n\r\n" + ONE_CHUNK, id="chunks and length"),
    pytest.param(OK + b"Content-Length: 7\r\nContent-Length: 8\r\n\r\n" + b'{"a":1}', id="two lengths"),
    pytest.param(OK + b"Content-Length: 7\r\nContent-Length: 7\r\n\r\n" + b'{"a":1}', id="twice the same length"),
    pytest.param(OK + b"Content-Length: 7, 7\r\n\r\n" + b'{"a":1}', id="a list of lengths"),
    pytest.param(OK + b"Content-Length: -7\r\n\r\n" + b'{"a":1}', id="negative"),
    pytest.param(OK + b"Content-Length: +7\r\n\r\n" + b'{"a":1}', id="signed"),
    pytest.param(OK + b"Content-Length: 0x7\r\n\r\n" + b'{"a":1}', id="hexadecimal"),
    pytest.param(OK + b"Content-Length: 7_0\r\n\r\n" + b'{"a":1}', id="underscore"),
    pytest.param(OK + b"Content-Length: \xb2\r\n\r\n" + b'{"a":1}', id="superscript"),
    pytest.param(OK + b"Content-Length: \r\n\r\n" + b'{"a":1}', id="empty length"),
    pytest.param(OK + b"Content-Length: 9\r\n\r\n" + b'{"a":1}', id="short body"),
    pytest.param(OK.replace(b"\r\n", b"\n") + b"Content-Length: 7\n\n" + b'{"a":1}', id="bare line feeds"),
    pytest.param(OK + b"X: a\nContent-Length: 7\r\n\r\n" + b'{"a":1}', id="one bare line feed"),
    pytest.param(OK + b"X: a\rY: b\r\nContent-Length: 7\r\n\r\n" + b'{"a":1}', id="a bare carriage return"),
    pytest.param(OK + b"X: a\0b\r\nContent-Length: 7\r\n\r\n" + b'{"a":1}', id="NUL"),
    pytest.param(OK + b"X: a\r\n b\r\nContent-Length: 7\r\n\r\n" + b'{"a":1}', id="folded"),
    pytest.param(OK + b"Content-Length : 7\r\n\r\n" + b'{"a":1}', id="a blank before the colon"),
    pytest.param(OK + b" X: a\r\nContent-Length: 7\r\n\r\n" + b'{"a":1}', id="a blank before the name"),
    pytest.param(OK + b"no colon\r\nContent-Length: 7\r\n\r\n" + b'{"a":1}', id="no colon"),
    pytest.param(OK + b": x\r\nContent-Length: 7\r\n\r\n" + b'{"a":1}', id="no name"),
    pytest.param(b'{"a":1}', id="HTTP/0.9"),
    pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="HTTP/2 preface"),
    pytest.param(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00", id="HTTP/2 settings"),
    pytest.param(OK.replace(b"1.1", b"3.7") + b"Content-Length: 7\r\n\r\n" + b'{"a":1}', id="HTTP/3.7"),
    pytest.param(OK.replace(b"1.1", b"1.2") + b"Content-Length: 7\r\n\r\n" + b'{"a":1}', id="HTTP/1.2"),
    pytest.param(OK.replace(b"200", b"20") + b"Content-Length: 7\r\n\r\n" + b'{"a":1}', id="two digits of status"),
    pytest.param(OK.replace(b"200", b"2000") + b"Content-Length: 7\r\n\r\n" + b'{"a":1}', id="four digits of status"),
    pytest.param(b"\r\n" + OK + b"Content-Length: 7\r\n\r\n" + b'{"a":1}', id="an empty line first"),
    pytest.param(OK + b"Transfer-Encoding: x\r\n\r\n" + b'{"a":1}', id="unknown transfer encoding"),
    pytest.param(OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + ONE_CHUNK, id="packed chunks"),
    pytest.param(OK + b"Transfer-Encoding: \x0bchunked\r\n\r\n" + ONE_CHUNK, id="a control character"),
    pytest.param(
        OK + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + ONE_CHUNK, id="two encodings"
    ),
    pytest.param(OK.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n" + ONE_CHUNK, id="chunks in 1.0"),
    pytest.param(CHUNKED + b"7 \r\n" + b'{"a":1}' + b"\r\n0\r\n\r\n", id="a blank after the size"),
    pytest.param(CHUNKED + b"7\n" + b'{"a":1}' + b"\n0\n\n", id="bare line feeds between chunks"),
    pytest.param(CHUNKED + b"-7\r\n" + b'{"a":1}' + b"\r\n0\r\n\r\n", id="a negative chunk"),
    pytest.param(CHUNKED + b"0x7\r\n" + b'{"a":1}' + b"\r\n0\r\n\r\n", id="0x"),
    pytest.param(CHUNKED + b"\r\n", id="no size"),
    pytest.param(CHUNKED + b"7\r\n" + b'{"a":1}x' + b"\r\n0\r\n\r\n", id="a chunk longer than its size"),
    pytest.param(CHUNKED + b"7\r\n" + b'{"a":1}' + b"\r\n0\r\n", id="no end of trailers"),
    pytest.param(CHUNKED + b"7;" + b"x" * 300 + b"\r\n" + b'{"a":1}' + b"\r\n0\r\n\r\n", id="a long extension"),
    pytest.param(CHUNKED + (b"1;" + b"x" * 250 + b"\r\n \r\n") * 400 + b"0\r\n\r\n", id="many extensions"),
    pytest.param(CHUNKED + b"0\r\n" + b"A: b\r\n" * 20_000 + b"\r\n", id="many trailers"),
    pytest.param(OK + b"Content-Length: 7\r\n\r\n" + b'{"a":1}' + b"x", id="surplus"),
    pytest.param(CHUNKED + ONE_CHUNK + b"\r\n", id="surplus after chunks"),
    pytest.param(b"", id="nothing"),
    pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n", id="only an interim answer"),
]


@pytest.mark.parametrize("raw", GOOD)
@pytest.mark.parametrize("pieces", [None, 1, 2, 7])
def test_well_formed_responses_are_taken_in_any_pieces(raw: bytes, pieces: int | None) -> None:
    assert read(raw, pieces=pieces) == ("", b'{"a":1}')


@pytest.mark.parametrize("raw", BAD)
@pytest.mark.parametrize("pieces", [None, 1, 1000])
def test_B9_what_is_not_plainly_well_formed_is_refused(raw: bytes, pieces: int | None) -> None:
    assert read(raw, pieces=pieces)[0] == "bad_http"


@given(st.binary(max_size=200))
def test_B9_no_bytes_raise_anything_but_a_fault(noise: bytes) -> None:
    for beginning in (b"", OK, OK + b"Content-Length: 50\r\n\r\n", CHUNKED):
        read(beginning + noise)


@given(st.sampled_from([param.values[0] for param in GOOD + BAD]), st.lists(st.integers(0, 400), max_size=6))
def test_the_cut_between_pieces_never_matters(raw: object, cuts: list[int]) -> None:
    assert isinstance(raw, bytes)
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
