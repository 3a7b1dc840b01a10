"""Streams of matches, and failures behind them, which delay the viewers concerned for a moment, and no others."""

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
from referee.match.log import PublicView, opens_round
from referee.workflows.publishing import visibility
from tests.api.playing import Playing, begin
from tests.api.streaming import Message, messages
from tests.database.world import World
from tests.match.playing import public_items

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
            assert last == (b"event: end" in text), f"it ended after {told}"
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


def is_state(message: Message) -> bool:
    return message.name == "state"


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


def answer_until_round(playing: Playing, count: int) -> int:
    """Answer until the round begins and return the number of the last public row of its first log row."""
    log = playing.match.log
    while len(openings := [row["row"] for row in log.rows if opens_round(row, playing.match.header)]) < count:
        playing.answer()
    return playing.last_public(int(openings[count - 1]) + 1)


def test_a_rated_match_is_seen_round_by_round_also_at_another_process(
    world: World, watched: MatchStream, connections: StreamConnections
) -> None:
    playing = begin(world, rated=True, options={"rounds": 4})
    viewer = Viewer(watched, playing.id)
    told = viewer.until(is_state)
    second = answer_until_round(playing, 2)
    told += viewer.until(lambda message: message.name == "rows" and numbers([message])[-1] >= second)
    playing.answer()
    answer_until_round(playing, 3)

    with closing(MatchStream(world.database, connections)) as other:
        viewer = Viewer(other, playing.id, int(told[-1].id))
        told += viewer.until(is_state)
        playing.end()
        told += viewer.until(is_end)

    masked = public_items(playing.match.log.rows)
    groups = [message.data["items"] for message in told if message.name == "rows"]
    states = [message.data for message in told if message.name == "state"]
    assert [item for group in groups for item in group] == masked
    assert [group[-1]["number"] for group in groups][:2] == [playing.last_public(2), second]  # nothing in between
    assert states[0] == {"status": "running", "reason": None, "open": False, "delayed": True, "pace": "rounds"}
    ended = {"status": "finished", "open": True, "delayed": False, "pace": "at_once"}
    assert states[-1] == {**states[0], **ended, "placements": playing.match.state.placements()}
    assert (told[-1].name, told[-1].id) == ("end", f"{len(masked) - 1}.end")
    assert "time" not in str([message.data for message in told])


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
    assert watched._feeds[broken.id].viewers == 0
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
