"""Published tournaments: names stay text, and nothing is written or deleted but the folder of the tournament."""

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from referee.cli.api_client import Api
from referee.cli.tournament import publish
from referee.cli.tournament import published_pages as pages
from referee.cli.tournament.remote import RequestRefused
from referee.match.canonical import Json
from referee.viewer.folder_page import render_match
from tests.golden import path

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>'


class Elements(HTMLParser):
    """Collect the names of all elements of a page, and the attributes that run scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.handlers: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


def standings_row(name: str) -> Json:
    rules = [{"name": "points", "value": 1.0}, {"name": "wins", "value": 1.0}]
    row = {"rank": 1, "name": name, "owner_name": name, "matches": 1, "points": 1.0, "tie_breaks": rules}
    return row | {"disqualification": name, "withdrawn": True}


def test_hostile_names_and_texts_stay_text() -> None:
    tournament: Json = {"name": HOSTILE, "status": "running", "description": HOSTILE, "game": "saint-poker", "seats": 2}
    tournament |= {"format": "swiss", "rated": False, "organisers": [{"name": HOSTILE}], "prizes": HOSTILE}
    tournament |= {"contact": HOSTILE, "draw": None, "started_at": "2030-05-01T18:00:00Z", "finished_at": None}
    seat = {"match": "mat_1", "table": "1", "leg": "1", "placement": "1", "seat": "0", "name": HOSTILE}
    seat |= {"status": "void", "reason": HOSTILE, "finished_at": "2030-05-01T18:00:00Z"}
    row = {"bot": "bot_1", "name": HOSTILE, "opponents": [{"bot": "bot_1", "points": 1.0, "matches": 1}]}
    written = [
        pages.render_overview(
            tournament, [standings_row(HOSTILE)], [("round-1.html", HOSTILE)], "2030-05-01 18:00 UTC"
        ),
        pages.render_round(HOSTILE, HOSTILE, [[seat]], [HOSTILE], {"mat_1"}),
        pages.render_crosstable(HOSTILE, [row]),
    ]

    for page in written:
        elements = Elements(page)
        assert not {"script", "img"} & set(elements.found)
        assert elements.handlers == []
        assert page.count("&lt;script&gt;") >= 1


def test_the_page_of_a_match_has_the_shared_script_only() -> None:
    lines = path("saint-poker-2").read_bytes().splitlines()
    header: Json = {"game": "saint-poker", "match": HOSTILE, "players": [{"name": HOSTILE}, {"name": "Ada"}]}

    elements = Elements(render_match(lines, header, "links"))

    assert elements.found.count("script") == 2  # the data and the shared script
    assert "img" not in elements.found
    assert elements.handlers == []


@pytest.fixture
def hostile_service() -> Iterator[str]:
    """Serve one log whose match has a path as its id."""
    row = {"row": 0, "match": "../../../stray", "players": [], "game": "saint-poker"}
    packed = gzip.compress(json.dumps(row).encode() + b"\n")

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(packed)))
            self.end_headers()
            self.wfile.write(packed)

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_log_whose_id_is_a_path_is_not_written(hostile_service: str, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)

    with Api(hostile_service) as api, pytest.raises(RequestRefused, match="not the id of a match"):
        publish._write_matches(api, "/tournaments/trn", "Cup", folder)

    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_folder_with_digests_of_other_files_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "SHA256SUMS").write_text("00  index.html\n")
    (tmp_path / "index.html").write_text("a page")
    publish._check_target(tmp_path)

    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter 1.txt").write_text("mine")

    with pytest.raises(RequestRefused, match=r"thesis/chapter 1\.txt"):
        publish._check_target(tmp_path)


def test_pages_are_in_utf_8_whatever_the_locale_is(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys; from referee.cli.tournament.publish import _write; "
        r"_write(pathlib.Path(sys.argv[1]), '\u265e')"
    )
    surroundings = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "page.html")], env=surroundings, check=True)

    assert (tmp_path / "page.html").read_bytes() == "\u265e".encode()
