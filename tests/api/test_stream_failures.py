"""Failures behind streams delay the viewers concerned for a moment, and no others."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
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
from referee.match.match import Answer, Match
from referee.matches.logs.recording import MatchUpdate, record_batch
from referee.workflows.publishing import visibility
from tests.api.conftest import Service
from tests.api.streaming import Message, messages
from tests.database.world import World
from tests.match.playing import public_items

PATIENCE_S = 30.0


@pytest.fixture
def world(service: Service) -> World:
    return World(service.database)


@pytest.fixture
def connections() -> Iterator[StreamConnections]:
    opened = StreamConnections()
    yield opened
    opened.stop()


@pytest.fixture
def watched(world: World, connections: StreamConnections, monkeypatch: pytest.MonkeyPatch) -> Iterator[MatchStream]:
    monkeypatch.setattr(streams, "RETRY_S", 0.05)
    opened = MatchStream(world.database, connections)
    yield opened
    opened.close()


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


class Playing:
    """A friendly match, recorded answer by answer."""

    def __init__(self, world: World) -> None:
        self.world, self.id = world, world.match(rated=False, options={"rounds": 2})
        (self.claim,) = world.claim(match_id=self.id)
        self.match: Match = world.resumed(self.id)
        self.recorded = 0
        self.record()

    def record(self) -> None:
        with self.world.database.write() as session:
            tail = MatchUpdate(self.id, self.claim.epoch, self.recorded, self.match.lines[self.recorded :])
            assert not record_batch(session, [tail])
        self.recorded = len(self.match.lines)

    def answer(self) -> None:
        while len(self.match.lines) == self.recorded:
            self.match.receive(Answer(self.match.requests()[0].seat, choice=0))
        self.record()

    def last_public(self) -> int:
        """Return the number of the last public row."""
        return len(public_items(self.match.log.rows)) - 1

    def end(self) -> None:
        while not self.match.over:
            self.match.receive(Answer(self.match.requests()[0].seat, choice=0))
        self.world.ended(self.claim, self.match, self.recorded)


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
def test_failures_while_reading_a_match_lose_and_repeat_no_message(
    world: World, watched: MatchStream, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    playing = Playing(world)
    viewer = Viewer(watched, playing.id)
    playing.answer()
    failing = Failing(visibility.load_placements, error)
    monkeypatch.setattr(visibility, "load_placements", failing)
    playing.end()

    told = viewer.until(is_end)

    assert failing.failed == 2
    assert numbers(told) == list(range(playing.last_public() + 1))


def test_a_match_that_cannot_be_masked_is_retried_without_delaying_others(
    world: World, watched: MatchStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "RETRY_S", 1000.0)
    broken, sound = Playing(world), Playing(world)
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
    playing = Playing(world)
    playing.answer()
    rows = playing.match.log.rows
    view, whole = PublicView(rows[0]), PublicView(rows[0])
    monkeypatch.setattr(
        "referee.match.log.visible_events", Failing(log_rows.visible_events, RuntimeError("planted"), times=1)
    )

    with pytest.raises(RuntimeError):
        view.add(rows)

    assert view.add(rows) == whole.add(rows)


def test_viewers_with_an_id_beyond_the_last_hold_few_threads(
    world: World, watched: MatchStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MatchStream, "max_lag_s", PATIENCE_S)
    playing = Playing(world)
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


def test_a_long_match_is_handed_over_whole_unless_it_is_too_long(
    world: World, watched: MatchStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches, "ROWS_PER_MESSAGE", 3)
    playing = Playing(world)
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
