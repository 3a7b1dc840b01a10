"""Streams of matches under gunicorn, which is killed and restarted."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import pytest

from referee.match.log import opens_round
from referee.match.match import Answer, Match
from referee.matches.logs.recording import MatchUpdate, record_batch
from referee.matches.queue.claims import Claim
from tests.api.streaming import THREADS, Message, Server, Watching, messages, serving
from tests.database.world import World
from tests.machine import require
from tests.match.playing import public_items

PAGE = (Path(__file__).parents[2] / "docs" / "watching.md").read_text()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("live")) as running:
        yield running


class Playing:
    """A match that is recorded while viewers follow it."""

    def __init__(self, world: World, *, rated: bool) -> None:
        self.world = world
        self.id = world.match(rated=rated, options={"rounds": 4})
        self.claim: Claim = world.claim(match_id=self.id)[0]
        self.match: Match = world.resumed(self.id)
        self.recorded = 0

    def answer(self) -> None:
        """Answer questions until there are new rows, and record them."""
        while len(self.match.lines) == self.recorded:
            self.match.receive(Answer(self.match.requests()[0].seat, choice=0))
        with self.world.database.write() as session:
            tail = MatchUpdate(self.id, self.claim.epoch, self.recorded, self.match.lines[self.recorded :])
            assert not record_batch(session, [tail])
        self.recorded = len(self.match.lines)

    def answer_until_round(self, count: int) -> int:
        """Answer until the round begins and return the number of the last public row of its first log row."""
        while (
            len(openings := [row["row"] for row in self.match.log.rows if opens_round(row, self.match.header)]) < count
        ):
            self.answer()
        return self.last_public(int(openings[count - 1]) + 1)

    def last_public(self, rows: int | None = None) -> int:
        """Return the number of the last public row of the first rows of the log."""
        return len(public_items(self.match.log.rows[:rows])) - 1

    def end(self) -> None:
        while not self.match.over:
            self.match.receive(Answer(self.match.requests()[0].seat, choice=0))
        self.world.ended(self.claim, self.match, self.recorded)


def rows(told: list[Message]) -> list[int]:
    return [item["number"] for message in told if message.name == "rows" for item in message.data["items"]]


def has_row(number: int) -> Callable[[Message], bool]:
    return lambda message: message.name == "rows" and message.data["items"][-1]["number"] >= number


def test_viewers_see_a_rated_match_round_by_round_across_a_kill_and_miss_and_double_nothing(server: Server) -> None:
    playing = Playing(server.world, rated=True)
    playing.answer()
    path = f"/matches/{playing.id}/stream"
    staying = [Watching(server.port, path) for _ in range(THREADS + 2)]  # more than there are threads
    told = [viewer.until(lambda message: message.name == "state") for viewer in staying]
    second = playing.answer_until_round(2)
    for viewer, before in zip(staying, told, strict=True):
        before += viewer.until(has_row(second))
    playing.answer()

    server.kill()
    third = playing.answer_until_round(3)
    server.start()
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
    assert states[-1] == {
        "status": "finished",
        "reason": None,
        "open": True,
        "delayed": False,
        "pace": "at_once",
        "placements": playing.match.state.placements(),
    }
    assert (told[0][-1].name, told[0][-1].id) == ("end", f"{len(masked) - 1}.end")
    assert Watching(server.port, path, told[0][-1].id).answer.status == 204
    assert "time" not in str([message.data for message in told[0]])


def test_viewers_see_a_friendly_match_row_by_row_from_where_their_page_is(server: Server) -> None:
    playing = Playing(server.world, rated=False)
    playing.answer()
    viewer = Watching(server.port, f"/matches/{playing.id}/stream?after=1")
    told = viewer.until(lambda message: message.name == "state")
    for _ in range(3):
        playing.answer()
        told += viewer.until(has_row(playing.last_public()))
    viewer.leave()

    assert rows(told) == list(range(2, playing.last_public() + 1))


def test_the_commands_of_the_page_do_what_it_says(server: Server, tmp_path: Path) -> None:
    playing = Playing(server.world, rated=True)
    playing.answer()
    playing.end()
    blocks = re.findall(r"<!-- run by tests/api/test_live_streams.py -->\n```sh\n(.*?)```", PAGE, re.DOTALL)
    environment = {"URL": f"http://127.0.0.1:{server.port}", "MATCH": playing.id, "PATH": os.environ["PATH"]}

    bash, _ = (require(tool, "the commands of the page") for tool in ("bash", "curl"))

    told = []
    for block in blocks:
        ran = subprocess.run(
            [bash, "-ec", block],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, f"{block}\n{ran.stdout}\n{ran.stderr}"
        told.append(ran.stdout)

    stream, page, shown = told
    assert [one.name for one in messages(iter(stream.encode().splitlines()))] == ["rows", "state", "end"]
    assert json.loads(page)["items"][0]["number"] == 0
    assert '"observation"' in shown
    assert '"ok":true' in shown.replace(" ", "")
