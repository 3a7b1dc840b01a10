"""Streams of tournaments, without gunicorn: their messages, the page about them, and their connections."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from api.streams import connections
from api.streams.endpoints import LAST_EVENT_ID
from api.streams.stream import StreamViewer
from api.streams.stream_writer import (
    HEARTBEAT,
    LAST_CHUNK,
    MAX_BEHIND_BYTES,
    StreamConnection,
    StreamConnections,
    chunk,
    take_over,
)
from referee.matches.tables import Result
from referee.tournaments import disqualification
from tests.api.conftest import API, Service, fields_of
from tests.api.in_thread import api_in_thread
from tests.api.streaming import PATIENCE_S, for_a_while, messages
from tests.api.tournaments import play
from tests.database import tournaments as events
from tests.database.world import World
from tests.machine import require

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "watching.md").read_text()


@pytest.fixture
def api(tmp_path: Path) -> Iterator[tuple[str, World]]:
    with api_in_thread(tmp_path / "served") as served:
        yield served


def test_the_commands_of_the_page_do_what_it_says(api: tuple[str, World], tmp_path: Path) -> None:
    url, world = api
    event, _ = events.begun(world, 4)
    play(world, event)
    with world.database.read() as session:
        match, ladder = session.execute(select(Result.match_id, Result.ladder_id).limit(1)).one()
    (tmp_path / "verify_log.py").write_bytes((DOCS / "verify_log.py").read_bytes())
    bash, _ = (require(tool, "the commands of the page") for tool in ("bash", "curl"))
    variables = {"EVENT": event, "LADDER": str(ladder), "MATCH": match, "URL": url}
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


# -- through the application, where the thread of the request stays with the viewer --


def test_a_disqualification_reaches_viewers(service: Service, world: World) -> None:
    event, seated = events.begun(world, 4)
    answer = service.anonymous().get(f"{API}/tournaments/{event}/stream")
    told = messages(for_a_while(line for piece in answer.iter_encoded() for line in piece.splitlines()))
    first = next(told)

    world.write(disqualification.disqualify_bot, event, seated[0], "Two names.")
    later = next(message for message in told if any(row["disqualification"] for row in message.data.get("items", ())))

    assert (first.name, first.data["entries"]["disqualified"]) == ("progress", 0)
    assert [row["bot"] for row in later.data["items"] if row["disqualification"] == "Two names."] == [seated[0]]
    connections.close(service.app)  # other tests have other tournaments
    assert "end" not in [message.name for message in told]


def test_an_event_that_is_over_is_told_whole_as_its_pages_tell_it(service: Service, world: World) -> None:
    event, _ = events.begun(world, 3)
    play(service, event)
    client, path = service.anonymous(), f"{API}/tournaments/{event}"
    world.void(client.get(f"{path}/matches").get_json()["items"][-1]["id"], "a bug")

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


def test_a_number_the_record_does_not_know_is_told_how_things_stand(service: Service, world: World) -> None:
    event, _ = events.begun(world, 2)
    events.play_all(world, event)

    answer = service.anonymous().get(f"{API}/tournaments/{event}/stream", headers={"Last-Event-ID": "999"})

    assert [one.name for one in messages(iter(answer.data.splitlines()))] == ["progress", "standings", "end"]


# -- connections --


@pytest.fixture
def lines() -> Iterator[StreamConnections]:
    made = StreamConnections(heartbeat_s=0.05)
    yield made
    made.stop()


def connected(lines: StreamConnections, text: bytes) -> tuple[socket.socket, threading.Event]:
    theirs, accepted = socket.socketpair()
    ours = take_over(accepted)
    accepted.close()  # as the server does
    assert not ours.getblocking()
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
