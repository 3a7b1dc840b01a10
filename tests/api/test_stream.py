"""Streams of tournaments and matches, under gunicorn with fewer threads than viewers, and without gunicorn."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from api.streams.endpoints import LAST_EVENT_ID
from api.streams.stream import StreamViewer
from api.streams.stream_writer import (
    HEARTBEAT,
    LAST_CHUNK,
    MAX_BEHIND_BYTES,
    StreamConnection,
    StreamConnections,
    chunk,
)
from referee.match.log import opens_round
from referee.matches.tables import Result, StoredMatch
from referee.tournaments import disqualification, tournaments
from referee.workflows.voids import voiding
from tests.api.conftest import API, Service, fields_of
from tests.api.playing import Playing, begin
from tests.api.streaming import (
    PATIENCE_S,
    THREADS,
    VIEWERS,
    VIEWERS_AN_ADDRESS,
    Message,
    Server,
    Watching,
    messages,
    serving,
)
from tests.database import tournaments as events
from tests.database.world import World
from tests.end_to_end.processes import until
from tests.machine import require
from tests.match.playing import public_items
from tests.surroundings import MASTER_KEY

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "watching.md").read_text()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("streaming")) as running:
        yield running


def watch(port: int, event: str, last_id: str | None = None, address: str = "192.0.2.1") -> Watching:
    return Watching(port, f"/tournaments/{event}/stream", last_id, address)


def play(world: World, count: int = 1) -> None:
    for claim in world.claim(count):
        world.finish(claim)


def play_to_the_end(world: World, event: str) -> None:
    while status(world, event) == "running":
        play(world, 10)
        events.go_on(world.database, event)


def status(world: World, event: str) -> str:
    with world.database.read() as session:
        return tournaments.get_tournament(session, event).status


def seqs(told: list[Message]) -> list[int]:
    return [message.data["seq"] for message in told if message.name == "match"]


def is_match(message: Message) -> bool:
    return message.name == "match"


def test_a_disqualification_reaches_viewers(server: Server) -> None:
    event, seated = events.begun(server.world, 4)
    viewer = watch(server.port, event)
    first = viewer.until(lambda message: message.name == "standings")

    with server.world.database.write() as session:
        disqualification.disqualify_bot(session, event, seated[0], "Two names.")
    told = viewer.until(lambda message: any(row["disqualification"] for row in message.data.get("items", ())))

    assert first[0].data["entries"]["disqualified"] == 0
    assert next(message for message in told if message.name == "progress").data["entries"]["disqualified"] == 1
    assert [row["bot"] for row in told[-1].data["items"] if row["disqualification"] == "Two names."] == [seated[0]]
    viewer.leave()
    play_to_the_end(server.world, event)  # the next test plays what is due


def test_viewers_get_every_message_of_a_tournament_exactly_once_also_after_reconnecting(server: Server) -> None:
    world, port = server.world, server.port
    event, _ = events.begun(world, 4)
    staying = [watch(port, event) for _ in range(THREADS + 2)]  # more than there are threads
    first = [viewer.until(lambda message: message.name == "standings") for viewer in staying]
    leaving = watch(port, event)
    play(world, 1)
    begun = leaving.until(is_match)
    leaving.leave()

    play(world, 2)
    back = watch(port, event, begun[-1].id, address="192.0.2.2")
    missed = back.until(lambda message: message.name == "standings")
    play_to_the_end(world, event)
    later = list(back)
    whole = [[*told, *viewer] for told, viewer in zip(first, staying, strict=True)]

    every = [message.data["seq"] for message in whole[0] if is_match(message)]
    assert len(every) == 6
    assert every == sorted(set(every))
    assert all(seqs(told) == every for told in whole)
    assert [*seqs(begun), *seqs(missed), *seqs(later)] == every
    assert [told[0].name for told in first] == ["progress"] * len(first)
    assert later[-1].name == "end"
    assert later[-1].data["status"] == "finished"
    last_table = [message for message in later if message.name == "standings"][-1]
    assert last_table.data["as_of_seq"] == every[-1]
    assert [int(message.id.removesuffix(".end")) for message in whole[0]] == sorted(
        int(message.id.removesuffix(".end")) for message in whole[0]
    )
    assert watch(port, event, later[-1].id).answer.status == 204
    for viewer in (back, *staying):
        viewer.leave()


def test_viewers_above_the_limits_are_told_to_come_back(server: Server) -> None:
    event, _ = events.begun(server.world, 2)
    with contextlib.ExitStack() as stack:

        def viewer(address: str) -> Watching:
            one = watch(server.port, event, address=address)
            stack.callback(one.leave)
            return one

        here = [viewer(f"2001:db8:0:7::{n}") for n in range(VIEWERS_AN_ADDRESS)]  # one network, one caller
        refused = viewer("2001:db8:0:7:6::6")
        elsewhere = [viewer("192.0.2.8") for _ in range(VIEWERS - VIEWERS_AN_ADDRESS)]
        full = viewer("192.0.2.9")

        assert [one.answer.status for one in (*here, *elsewhere)] == [200] * VIEWERS
        for one in (refused, full):
            assert (one.answer.status, one.answer.headers["Retry-After"]) == (503, "10")
            assert json.loads(one.answer.read())["code"] == "unavailable"
        here[0].until(lambda message: message.name == "standings")
        here[0].leave()  # its place is free again as soon as the server sees it
        until(lambda: viewer("2001:db8:0:7::7").answer.status == 200, "a place is free", PATIENCE_S)


def test_the_commands_of_the_page_do_what_it_says(server: Server, tmp_path: Path) -> None:
    event, _ = events.begun(server.world, 4)
    play_to_the_end(server.world, event)
    with server.world.database.read() as session:
        query = select(Result.match_id, Result.ladder_id).join(StoredMatch, StoredMatch.id == Result.match_id)
        match, ladder = session.execute(query.where(StoredMatch.tournament_id == event).limit(1)).one()
    (tmp_path / "verify_log.py").write_bytes((DOCS / "verify_log.py").read_bytes())
    bash, _ = (require(tool, "the commands of the page") for tool in ("bash", "curl"))
    variables = {"EVENT": event, "LADDER": str(ladder), "MATCH": match, "URL": f"http://127.0.0.1:{server.port}"}
    variables["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

    told = []
    for block in re.findall(r"<!-- run by tests/api/test_stream.py -->\n```sh\n(.*?)```", PAGE, re.DOTALL):
        ran = subprocess.run([bash, "-ec", block], cwd=tmp_path, env=variables, capture_output=True, text=True)
        assert ran.returncode == 0, f"{block}\n{ran.stdout}\n{ran.stderr}"
        told.append(ran.stdout)

    stream, again, rows, page, shown, logs, verified, *_ = told
    assert [one.name for one in messages(iter(stream.encode().splitlines()))] == ["progress", "standings", "end"]
    assert [one.name for one in messages(iter(rows.encode().splitlines()))] == ["rows", "state", "end"]
    assert json.loads(page)["items"][0]["number"] == 0
    assert '"observation"' in shown
    assert '"ok":true' in shown.replace(" ", "")
    assert (again.strip(), logs.strip()) == ("204", "6")
    assert "12 of 12 logs are valid" in verified
    assert verified.endswith("none failed\n")
    assert (tmp_path / "told.txt").read_text().count("event: match") == 6
    assert len((tmp_path / "results.csv").read_text().splitlines()) == 1 + 6 * 2
    assert (tmp_path / "ladder.csv").read_text().count(f",{event},") == 6 * 2


def rows(told: list[Message]) -> list[int]:
    return [item["number"] for message in told if message.name == "rows" for item in message.data["items"]]


def has_row(number: int) -> Callable[[Message], bool]:
    return lambda message: message.name == "rows" and message.data["items"][-1]["number"] >= number


def answer_until_round(playing: Playing, count: int) -> int:
    """Answer until the round begins and return the number of the last public row of its first log row."""
    log = playing.match.log
    while len(openings := [row["row"] for row in log.rows if opens_round(row, playing.match.header)]) < count:
        playing.answer()
    return playing.last_public(int(openings[count - 1]) + 1)


def test_viewers_see_a_rated_match_round_by_round_and_miss_and_double_nothing(server: Server) -> None:
    playing = begin(server.world, rated=True, options={"rounds": 4})
    path = f"/matches/{playing.id}/stream"
    staying = [Watching(server.port, path) for _ in range(THREADS + 2)]  # more than there are threads
    told = [viewer.until(lambda message: message.name == "state") for viewer in staying]
    second = answer_until_round(playing, 2)
    for viewer, before in zip(staying, told, strict=True):
        before += viewer.until(has_row(second))
        viewer.leave()
    playing.answer()

    third = answer_until_round(playing, 3)
    back = [Watching(server.port, path, before[-1].id) for before in told]
    for viewer, before in zip(back, told, strict=True):
        before += viewer.until(has_row(third))
    playing.end()
    for viewer, before in zip(back, told, strict=True):
        before += viewer
        viewer.leave()

    masked = public_items(playing.match.log.rows)
    groups = [rows([message])[-1] for message in told[0] if message.name == "rows"]
    assert all(list(chain(*(one.data["items"] for one in every if one.name == "rows"))) == masked for every in told)
    assert groups[:2] == [playing.last_public(2), second]  # nothing in between
    states = [message.data for message in told[0] if message.name == "state"]
    assert states[0] == {"status": "running", "reason": None, "open": False, "delayed": True, "pace": "rounds"}
    ended = {"status": "finished", "open": True, "delayed": False, "pace": "at_once"}
    assert states[-1] == {**states[0], **ended, "placements": playing.match.state.placements()}
    assert (told[0][-1].name, told[0][-1].id) == ("end", f"{len(masked) - 1}.end")
    assert Watching(server.port, path, told[0][-1].id).answer.status == 204
    assert "time" not in str([message.data for message in told[0]])


def test_viewers_see_a_friendly_match_row_by_row_from_where_their_page_is(server: Server) -> None:
    playing = begin(server.world, rated=False)
    viewer = Watching(server.port, f"/matches/{playing.id}/stream?after=1")
    told = viewer.until(lambda message: message.name == "state")
    for _ in range(3):
        playing.answer()
        told += viewer.until(has_row(playing.last_public()))
    viewer.leave()

    assert rows(told) == list(range(2, playing.last_public() + 1))


def test_a_stop_ends_all_streams_in_good_order(server: Server) -> None:
    event, _ = events.begun(server.world, 2)
    viewers = [watch(server.port, event) for _ in range(4)]
    for viewer in viewers:
        viewer.until(lambda message: message.name == "standings")

    server.process.send_signal(signal.SIGTERM)

    assert server.process.wait(PATIENCE_S) == 0
    assert [list(viewer) for viewer in viewers] == [[]] * 4  # the last chunk came: else reading would raise


# -- through the application, where the thread of the request stays with the viewer --


def test_an_event_that_is_over_is_told_whole_as_its_pages_tell_it(service: Service, world: World) -> None:
    event, _ = events.begun(world, 3)
    play_to_the_end(world, event)
    client, path = service.anonymous(), f"{API}/tournaments/{event}"
    with service.database.write() as session:
        first = client.get(f"{path}/matches").get_json()["items"][-1]["id"]
        voiding.void_match(session, first, "a bug", created_by=None, master_key=MASTER_KEY)

    answer = client.get(f"{path}/stream", headers={"Last-Event-ID": "0"})
    *told, progress, table, end = messages(iter(answer.data.splitlines()))

    assert answer.headers["Content-Type"].startswith("text/event-stream")
    assert (answer.headers["Cache-Control"], answer.headers["X-Accel-Buffering"]) == ("no-store", "no")
    shown = {match["id"]: match for match in client.get(f"{path}/matches").get_json()["items"]}
    assert {one.data["id"]: one.data["status"] for one in told} == {id: one["status"] for id, one in shown.items()}
    for one in told:
        match = shown[one.data["id"]]
        assert all(
            one.data[name] == match[name] for name in ("tournament_round", "table", "leg", "reason", "finished_at")
        )
        assert one.data["placements"] == [seat["placement"] for seat in match["seats"]]
        assert one.data["returns"] == [seat["returns"] for seat in match["seats"]]
        assert one.data["entrants"] == [seat["entrant"] for seat in match["seats"]]
    whole = client.get(path).get_json()
    assert progress.data == {"status": "finished", "reason": None, **whole["progress"], "entries": whole["entries"]}
    page = client.get(f"{path}/standings").get_json()
    unsure = ("points_per_match", "error_bar")
    assert [without(row, unsure) for row in table.data["items"]] == [without(row, unsure) for row in page["items"]]
    assert (table.data["results"], end.data["status"]) == (2, "finished")
    assert client.get(f"{path}/stream", headers={"Last-Event-ID": end.id}).status_code == 204


def without(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def test_what_is_no_id_or_no_event_is_refused_and_a_head_holds_no_place(service: Service, world: World) -> None:
    path = f"{API}/tournaments/{events.create(world)}/stream"
    client, documented = service.anonymous(), LAST_EVENT_ID["schema"]["pattern"]

    assert client.get(f"{API}/tournaments/trn_{'0' * 26}/stream").status_code == 404
    assert client.head(path, headers={"Last-Event-ID": ""}).status_code == 200
    assert re.search(documented, "")
    for bad in ("-1", "x", "1.begin", "9" * 19, "١"):
        answer = client.get(path, headers={"Last-Event-ID": bad})
        assert (answer.status_code, fields_of(answer)) == (422, {"Last-Event-ID"})
        assert not re.search(documented, bad)
    for _ in range(40):
        assert client.head(path).status_code == 200


def test_a_number_the_record_does_not_know_is_told_how_things_stand(service: Service) -> None:
    event, _ = events.begun(World(service.database), 2)
    play_to_the_end(World(service.database), event)

    answer = service.anonymous().get(f"{API}/tournaments/{event}/stream", headers={"Last-Event-ID": "999"})

    assert [one.name for one in messages(iter(answer.data.splitlines()))] == ["progress", "standings", "end"]


# -- connections --


@pytest.fixture
def lines() -> Iterator[StreamConnections]:
    made = StreamConnections(heartbeat_s=0.05)
    yield made
    made.stop()


def connected(lines: StreamConnections, text: bytes) -> tuple[socket.socket, threading.Event]:
    theirs, ours = socket.socketpair()
    ours.setblocking(False)
    theirs.settimeout(PATIENCE_S)
    gone = threading.Event()
    lines.add(StreamConnection("it", ours, True, gone.set), text)
    return theirs, gone


def received(viewer: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        found += viewer.recv(count - len(found))
    return found


def test_a_connection_gets_what_is_told_and_a_sign_of_life(lines: StreamConnections) -> None:
    viewer, gone = connected(lines, b"first\n\n")
    lines.send("another", b"not this\n\n")

    assert received(viewer, len(chunk(b"first\n\n"))) == chunk(b"first\n\n")
    assert received(viewer, len(chunk(HEARTBEAT))) == chunk(HEARTBEAT)
    lines.send("it", b"last\n\n", last=True)
    rest = b"".join(iter(lambda: viewer.recv(4096), b""))
    assert rest.endswith(chunk(b"last\n\n") + LAST_CHUNK)
    assert gone.wait(PATIENCE_S)


def test_who_hangs_up_or_reads_too_slowly_is_let_go(lines: StreamConnections) -> None:
    hanging_up, gone_first = connected(lines, b"first\n\n")
    reading_nothing, gone_later = connected(lines, b"first\n\n")
    hanging_up.close()

    assert gone_first.wait(PATIENCE_S)
    for _ in range(16):
        lines.send("it", b"x" * (MAX_BEHIND_BYTES // 8))
    assert gone_later.wait(PATIENCE_S)
    reading_nothing.close()


def test_a_viewer_with_a_thread_is_ended_when_it_lags_too_far_behind() -> None:
    viewer = StreamViewer()
    for _ in range(9):
        viewer.put(b"x" * (MAX_BEHIND_BYTES // 8), last=False)

    assert viewer.get() == (b"", True)
    assert viewer.get(0.01) == (HEARTBEAT, False)
