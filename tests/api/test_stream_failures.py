"""Failures behind streams delay the viewers concerned for a moment, and no others."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from api.matches import stream as matches
from api.matches.stream import MatchStream
from api.streams import stream as streams
from api.streams.stream_writer import StreamConnection, StreamConnections, chunk
from referee.errors import Unavailable
from referee.match import log as log_rows
from referee.match.canonical import Json
from referee.match.log import PublicView
from referee.workflows.publishing import visibility
from tests.api.playing import begin
from tests.api.streaming import Message, messages
from tests.database.world import World

PATIENCE_S = 30.0


@pytest.fixture
def connections() -> Iterator[StreamConnections]:
    opened = StreamConnections()
    yield opened
    opened.stop()


@pytest.fixture
def watched(world: World, connections: StreamConnections, monkeypatch: pytest.MonkeyPatch) -> Iterator[MatchStream]:
    monkeypatch.setattr(streams, "RETRY_S", 0.05)
    with closing(MatchStream(world.database, connections)) as opened:
        yield opened


class Viewer:
    """A viewer of a match without a connection."""

    def __init__(self, watched: MatchStream, match_id: str, after: int | None = None) -> None:
        self.feed = watched.open(match_id)
        self.waiting = streams.StreamViewer()
        self.pieces = list(watched.catch_up(self.feed, after, self._accept))

    def _accept(self, text: bytes, last: bool) -> None:
        self.waiting.put(text, last=last)
        self.feed.waiting.add(self.waiting)

    def until(self, is_last: Callable[[Message], bool]) -> list[Message]:
        told: list[Message] = []
        while not (told and is_last(told[-1])):
            text, last = self.waiting.get(PATIENCE_S)
            assert b"event: " in text, f"nothing after {told}"
            assert not last or b"event: end" in text, f"it ended after {told}"
            told += messages(iter(text.splitlines()))
        return told


class Failing:
    """Raise ``error`` the first ``times`` times (when called with ``of``), then call the real function."""

    def __init__(self, real: Callable[..., Any], error: Exception, *, times: int = 2, of: Any = None) -> None:
        self.real, self.error, self.left, self.of = real, error, times, of
        self.failed = 0

    def __call__(self, *args: Any, **more: Any) -> Any:
        concerned = self.of is None or self.of in args
        if concerned and self.left > 0:
            self.left -= 1
            self.failed += 1
            raise self.error
        return self.real(*args, **more)


def numbers(told: list[Message]) -> list[int]:
    return [item["number"] for message in told if message.name == "rows" for item in message.data["items"]]


def is_end(message: Message) -> bool:
    return message.name == "end"


OUTAGE = OperationalError("SELECT", {}, Exception("database is locked"))


@pytest.mark.parametrize(
    "error", [RuntimeError("planted"), Unavailable("planted"), OUTAGE], ids=lambda it: type(it).__name__
)
def test_failures_lose_no_message(
    world: World, watched: MatchStream, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    playing = begin(world, rated=False, options={"rounds": 2})
    viewer = Viewer(watched, playing.id)
    playing.answer()
    failing = Failing(visibility.load_placements, error)
    monkeypatch.setattr(visibility, "load_placements", failing)
    playing.end()

    told = viewer.until(is_end)

    assert failing.failed == 2
    assert numbers(told) == list(range(playing.last_public() + 1))


def test_a_viewer_goes_on_at_another_process(
    world: World, watched: MatchStream, connections: StreamConnections
) -> None:
    playing = begin(world, rated=False, options={"rounds": 2})
    playing.answer()
    told = Viewer(watched, playing.id).until(lambda message: message.name == "state")
    playing.answer()

    with closing(MatchStream(world.database, connections)) as other:
        viewer = Viewer(other, playing.id, int(told[-1].id))
        playing.end()
        told += viewer.until(is_end)

    assert numbers(told) == list(range(playing.last_public() + 1))


def test_a_broken_match_delays_no_other(world: World, watched: MatchStream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "RETRY_S", 1000.0)
    broken, sound = (begin(world, rated=False, options={"rounds": 2}) for _ in range(2))
    tried: list[str] = []
    real = PublicView.add

    def add(view: PublicView, rows: list[Json]) -> list[Json]:
        if rows[0].get("match") == broken.id:
            tried.append(broken.id)
            raise RuntimeError("planted")
        return real(view, rows)

    monkeypatch.setattr(PublicView, "add", add)
    monkeypatch.setattr(streams, "READY_S", 0.0)
    with pytest.raises(Unavailable):
        watched.open(broken.id)
    monkeypatch.setattr(streams, "READY_S", PATIENCE_S)
    viewer = Viewer(watched, sound.id)
    for _ in range(3):
        sound.answer()
        viewer.until(lambda message: message.name == "rows" and numbers([message])[-1] == sound.last_public())

    assert len(tried) <= 1


def test_a_view_that_fails_adds_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    playing = begin(world, rated=False, options={"rounds": 2})
    playing.answer()
    rows = playing.match.log.rows
    view, whole = PublicView(rows[0]), PublicView(rows[0])
    monkeypatch.setattr(
        "referee.match.log.visible_events", Failing(log_rows.visible_events, RuntimeError("planted"), times=1)
    )

    with pytest.raises(RuntimeError):
        view.add(rows)

    assert view.add(rows) == whole.add(rows)


def test_viewers_ahead_hold_few_threads(world: World, watched: MatchStream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MatchStream, "max_lag_s", PATIENCE_S)
    playing = begin(world, rated=False, options={"rounds": 2})
    patient = [threading.Thread(target=Viewer, args=(watched, playing.id, 10**17)) for _ in range(streams.MAX_LAGGING)]
    for thread in patient:
        thread.start()
    while watched.lagging != streams.MAX_LAGGING:
        time.sleep(0.01)

    began = time.monotonic()
    sent_back = Viewer(watched, playing.id, 10**17)
    waited_s = time.monotonic() - began
    playing.end()  # over: nothing more to wait for
    for thread in patient:
        thread.join(PATIENCE_S)

    assert sent_back.waiting.get(0) == (streams.RECONNECT, True)
    assert waited_s < PATIENCE_S / 2
    assert watched.lagging == 0


def test_a_long_match_comes_in_pieces(world: World, watched: MatchStream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matches, "ROWS_PER_MESSAGE", 3)
    playing = begin(world, rated=False, options={"rounds": 2})
    playing.end()

    at_once = Viewer(watched, playing.id)
    monkeypatch.setattr(matches, "MAX_HANDED_OVER", 800)
    in_pieces = Viewer(watched, playing.id)

    whole = at_once.until(is_end)
    pieces = [message for piece in in_pieces.pieces for message in messages(iter(piece.splitlines()))]
    assert at_once.pieces == []
    assert len(pieces) > 2
    assert pieces + in_pieces.until(is_end) == whole


def test_a_connection_that_cannot_be_served_closes_no_other(connections: StreamConnections) -> None:
    def raises() -> None:
        raise RuntimeError("planted")

    ours, theirs = socket.socketpair()
    left, gone = socket.socketpair()
    connections.add(StreamConnection("match", left, chunked=False, on_close=raises), b"first ")
    closed = socket.socket()
    closed.close()
    connections.add(StreamConnection("match", closed, chunked=False, on_close=raises), b"first ")
    gone.close()
    ours.setblocking(False)
    connections.add(StreamConnection("match", ours, chunked=True, on_close=lambda: None), b"first ")
    connections.send("match", b"last", last=True)

    theirs.settimeout(PATIENCE_S)
    told = b""
    while piece := theirs.recv(4096):
        told += piece
    theirs.close()
    assert told == chunk(b"first ") + chunk(b"last") + b"0\r\n\r\n"
