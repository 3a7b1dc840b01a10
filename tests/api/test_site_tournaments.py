"""Pages of tournaments: content, hidden players, errors."""

import itertools
import re
from typing import Any

from flask.testing import FlaskClient

from api.tournaments import bracket_chart
from referee.bots.tables import Bot
from referee.standings.presentation import TIE_BREAK_WORDS
from referee.tournaments.terms import FORMATS
from tests.api.conftest import Person, Service
from tests.api.tournaments import drafted, entered, opened, play, started

SHOWN = ("", "/standings", "/rounds/1", "/matches", "/bracket")
PAGES = (*SHOWN, "/rounds", "/entries", "/downloads", "/organise")
BRACKET = r'aria-label="Drawing of the bracket".*?</section>'
HARMFUL = "<img src=x onerror=alert(1)><script>alert(1)</script>"


def read(client: FlaskClient, path: str, status: int = 200) -> str:
    answer = client.get(path, headers={"Accept": "text/html"})
    assert answer.status_code == status, path
    assert answer.mimetype == "text/html"
    return answer.get_data(as_text=True)


def words(page: str) -> str:
    """Return the text of a page."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def names_of(service: Service, ids: list[str]) -> set[str]:
    with service.database.read() as session:
        return {session.get_one(Bot, one).name for one in ids}


def test_the_list_begins_with_what_is_in_progress(service: Service, organiser: Person, anonymous: FlaskClient) -> None:
    over = started(service, organiser, 2, name="Long finished")
    play(service, over)
    started(service, organiser, 2, name="Well begun", game="pool-nap")
    entered(service, organiser, 1, name="Still open")
    drafted(organiser, name="Just a draft")

    shown = read(anonymous, "/tournaments")
    page = words(shown)

    assert re.findall('"(Matches over in .*?)"', shown) == ["Matches over in Well begun"]
    finished = page.index("Finished Tournaments, newest first")
    assert page.index("In progress Well begun") < page.index("Open for entries Still open") < finished
    assert finished < page.index("Long finished")
    assert "Just a draft" not in page
    assert "Just a draft" not in words(read(anonymous, "/tournaments?status=draft"))
    games = words(read(anonymous, "/tournaments?game=pool-nap"))
    assert "Long finished" not in games
    assert games.count("Well begun") == 1
    for wrong in ("game=none", "status=none", "cursor=none"):
        read(anonymous, f"/tournaments?{wrong}", 422)


def test_pages_of_a_knockout_name_its_players_when_it_is_over(
    service: Service, organiser: Person, anonymous: FlaskClient
) -> None:
    made = started(service, organiser, 4, format="knockout", name="Out")
    ids = [one["bot"] for one in anonymous.get(f"/api/v1/tournaments/{made}/entries").get_json()["items"]]
    names = names_of(service, ids)

    begun = {path: read(anonymous, f"/tournaments/{made}{path}") for path in PAGES}
    play(service, made)
    over = {path: read(anonymous, f"/tournaments/{made}{path}") for path in (*SHOWN, "/downloads")}

    assert all("Out" in page for page in begun.values())
    assert all("finished" in page for page in over.values())
    for path in SHOWN[-3:]:
        assert not [one for one in (*ids, *names) if one in begun[path]], path
        assert all(name in over[path] for name in names), path
    assert "Rank Bot Owner Points Won" in words(over["/standings"])  # no column that is empty
    assert "Semi-finals" in words(over["/bracket"])
    assert re.search("<pre[^>]*>[0-9a-f]{64}</pre>", over["/downloads"])
    before, after = (re.search(BRACKET, pages[""], re.DOTALL) for pages in (begun, over))
    assert before is not None
    assert after is not None
    assert "not shown yet" in before[0]
    assert not any(name in before[0] for name in names)
    assert all(name in after[0] for name in names)
    assert words(after[0]).index("Final finished") < words(after[0]).index("Semi-finals finished")
    assert over[""].index('class="bracket"') < over[""].index('id="standings"')
    check_podium(anonymous, made, begun[""], over[""])


def check_podium(client: FlaskClient, made: str, begun: str, over: str) -> None:
    """Check that the front page begins with the first three once the tournament is over."""
    standings = client.get(f"/api/v1/tournaments/{made}/standings").get_json()["items"]
    found = re.search('<ol class="podium".*?</ol>', over, re.DOTALL)
    assert found
    assert [row["name"] in words(found[0]) for row in standings] == [row["rank"] <= 3 for row in standings]
    assert standings[0]["name"] in highlights_of(over).split("1st")[0]
    assert over.index('class="podium"') < over.index('id="standings"')
    assert highlights_of(begun) == ""


def highlights_of(page: str) -> str:
    found = re.search('class="highlights".*?</section>', page, re.DOTALL)
    return words(f"<{found[0]}") if found else ""


def test_pages_before_the_start(organiser: Person, anonymous: FlaskClient) -> None:
    dated, undated = opened(organiser, starts_at="2099-01-31T18:00:00Z"), opened(organiser)

    for path in ("", "/entries"):
        head = read(anonymous, f"/tournaments/{dated}{path}").partition("</header>")[2].partition("</header>")[0]
        assert "Starts 31 Jan 2099, 18:00" in words(head)
        assert 'data-until="2099-01-31T18:00:00' in head
        assert "Starts" not in words(read(anonymous, f"/tournaments/{undated}{path}"))
    read(anonymous, f"/tournaments/{undated}/organise")
    for path in ("/rounds", "/bracket", "/downloads", "/nothing"):
        read(anonymous, f"/tournaments/{undated}{path}", 404)
    draft = drafted(organiser)
    read(anonymous, f"/tournaments/{draft}/organise")
    for path in (draft, f"{draft}/entries", f"trn_{'0' * 26}"):
        read(anonymous, f"/tournaments/{path}", 404)


def test_reasons_are_shown_as_text_and_a_cancelled_tournament_has_no_podium(
    service: Service, organiser: Person, admin: Person, anonymous: FlaskClient
) -> None:
    made = started(service, organiser, 3)
    play(service, made, 2)
    match = anonymous.get(f"/api/v1/matches?tournament={made}&status=finished").get_json()["items"][0]["id"]
    assert admin.post(f"/matches/{match}/void", {"reason": HARMFUL}).status_code == 200
    assert organiser.post(f"/tournaments/{made}/cancel", {"reason": HARMFUL}).status_code == 200

    pages = [read(anonymous, f"/tournaments/{made}{path}") for path in ("", "/matches", "/rounds/1", "/organise")]

    assert not [page for page in pages if HARMFUL in page or "&lt;img src=x" not in page]
    assert highlights_of(pages[0]) == ""
    assert "<img onerror" not in read(anonymous, '/organise/void?match="><img onerror=alert(1)>')


def test_standings_say_what_decides_and_who_is_out_on_numbered_pages(
    service: Service, organiser: Person, anonymous: FlaskClient
) -> None:
    made = started(service, organiser, 4, format="swiss", substitute="house:3")
    path, begun = f"/tournaments/{made}", read(anonymous, f"/tournaments/{made}")
    play(service, made)
    check_podium(anonymous, made, begun, read(anonymous, path))
    row, *_, last = anonymous.get(f"/api/v1{path}/standings").get_json()["items"]
    body = {"bot": last["bot"], "reason": "Two names."}
    assert organiser.post(f"{path}/disqualify", body).status_code == 200

    page, front = read(anonymous, f"{path}/standings?columns=all"), read(anonymous, path)
    assert "Points Buchholz Head to head Sonneborn-Berger Won–drawn–lost Matches Points per match" in words(page)
    assert f'href="{path}/standings">Fewer columns</a>' in page
    assert all(TIE_BREAK_WORDS[one["name"]][1] in words(page) for one in row["tie_breaks"])
    assert f'data-column="points">{row["points"]:.1f}<' in line_of(page, row["bot"])
    assert "house:3" in words(front)
    for page in (front, read(anonymous, f"{path}/standings?page=1")):
        line = line_of(page, last["bot"])
        assert "Rank Bot Owner Points Won–drawn–lost 1 " in words(page)
        assert f'<a href="/owners/{last["owner"]}"' in line
        assert 'data-mark="disqualification" title="Two names.">disqualified<' in line
        assert f">{last['wins']}–{last['draws']}–{last['losses']}</td>" in line
        assert f'href="{path}/standings?columns=all">All columns' in page
    for listed in ("rounds", "rounds/1", "entries", "organise"):
        read(anonymous, f"{path}/{listed}?page=1")
        read(anonymous, f"{path}/{listed}?page=2", 422)
    for wrong in ("columns=few", *(f"page={number}" for number in ("0", "2", "x", "-1", "1" * 5000))):
        read(anonymous, f"{path}/standings?{wrong}", 422)
    read(anonymous, f"{path}/rounds/99", 404)


def line_of(page: str, bot: str) -> str:
    found = re.search(f'<tr data-bot="{bot}">.*?</tr>', page, re.DOTALL)
    assert found is not None
    return found[0]


def test_a_gauntlet_has_no_column_twice(service: Service, organiser: Person, anonymous: FlaskClient) -> None:
    path = f"/tournaments/{started(service, organiser, 3, format='gauntlet', rated=False)}/standings"

    few, every = words(read(anonymous, path)), words(read(anonymous, f"{path}?columns=all"))

    assert "Owner Points per match Points Won" in few
    assert "Owner Points per match Head to head Points Won" in every


def test_terms_are_told_in_words(organiser: Person, anonymous: FlaskClient) -> None:
    terms = {"deal_sharing": "duplicate", "trusted": True, "orders": "all", "frozen_version": True, "anonymous": False}
    for format in FORMATS:
        made = opened(organiser, format=format, substitute="house:1", **terms)
        page = words(read(anonymous, f"/tournaments/{made}"))
        for text in (FORMATS[format][0], "house:1", "Frozen version yes", "Anonymous no"):
            assert text in page, format


# -- drawings --


def tie(number: int, *names: str | None, origins: Any = None) -> dict[str, Any]:
    entrants = [
        {
            "bot": name and f"bot_{name}",
            "name": name,
            "seed": name and seed,
            "points": None,
            "advanced": name == names[0] or None,
            "origin": (origins or {}).get(name),
        }
        for seed, name in enumerate(names, 1)
    ]
    return {"table": number, "label": "", "legs": 1, "entrants": entrants}


def test_tables_of_a_bracket_stand_beside_those_they_meet_next() -> None:
    """Draw tables 1 and 3, and 2 and 4, next to each other: their winners met in the semi-finals."""
    first = [tie(1, "A", "B"), tie(2, "D", "E"), tie(3, "C", "F"), tie(4, "G", "H")]
    came = {name: {"tournament_round": 1, "table": at} for name, at in (("A", 1), ("C", 3), ("D", 2), ("G", 4))}
    second = [tie(1, "A", "C", origins=came), tie(2, "D", "G", origins=came)]
    rounds = [
        {"tournament_round": 1, "label": "quarter_final", "tables": first, "byes": []},
        {"tournament_round": 2, "label": "semi_final", "tables": second, "byes": []},
    ]

    drawn = str(bracket_chart.bracket_tree({"rounds": rounds, "to_come": [{"label": "final", "tables": 1}]}, "Cup <1>"))

    heights = {name: float(found) for found, name in re.findall(r'y="([\d.]+)"[^>]*><bdi title="([A-H])"', drawn)}
    assert heights["A"] < heights["C"] < heights["D"]
    tops = [heights[name] for name in ("B", "F", "E", "H")]
    assert [below - above for above, below in itertools.pairwise(tops)] == [66] * 3  # two rows, and a space
    assert drawn.count('class="way"') == 4
    assert "to come" in drawn
    assert "Cup &lt;1&gt;" in drawn


def test_a_bracket_tells_nothing_of_those_who_still_play() -> None:
    hidden = tie(1, None, None)

    level = {"tournament_round": 1, "label": "", "tables": [hidden], "byes": []}
    drawn = str(bracket_chart.bracket_tree({"rounds": [level], "to_come": []}, "x"))

    assert drawn.count("not shown yet") == 2
    assert 'class="way"' not in drawn
