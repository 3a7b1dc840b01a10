"""Pages of published tournaments: whatever the names are, they stay text."""

from html.parser import HTMLParser

from referee.cli.tournament import published_pages as pages
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
