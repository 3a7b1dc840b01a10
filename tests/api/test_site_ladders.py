"""Pages of ladders: the list; a ladder sorted, filtered and historical; the queries behind them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, event, update

from api.ladders import pages as page_of_ladders
from api.pages.formatting import format_signed
from referee.bots.tables import Bot
from referee.ladders import ladder_rows, ratings, trends
from referee.ladders.rating_errors import refresh_errors
from referee.ladders.tables import Ladder
from referee.matches.tables import MatchSeat
from tests.api.conftest import Person, Service
from tests.database.world import World

HTML = {"Accept": "text/html"}
PAYLOAD = "<img src=x onerror=alert(1)>"


def text_of(client: FlaskClient, path: str, status: int = 200) -> str:
    answer = client.get(path, headers=HTML)
    assert answer.status_code == status, answer.get_data(as_text=True)
    assert "require-trusted-types-for 'script'" in answer.headers["Content-Security-Policy"]
    return answer.get_data(as_text=True)


def bots_on(page: str) -> list[str]:
    return re.findall(r'<tr data-bot="(bot_\w+)"', page)


def places(page: str) -> list[str]:
    return re.findall(r'class="number rank">([^<]+)<', page)


def ladder_of(service: Service) -> str:
    with service.database.read() as session:
        (ladder,) = ratings.list_ladders(session).items
        return ladder.id


def played(service: Service, people: int, matches: int) -> tuple[list[str], str]:
    """Return bots of different owners that have played ``matches`` matches of three, and their ladder."""
    world = World(service.database, service.names)
    bots = world.bots(people)
    for at in range(matches):
        world.play([bots[(at + seat) % people] for seat in range(3)], choice=at % 2)
    return bots, ladder_of(service)


def test_without_ladders_the_page_says_what_brings_one(service: Service) -> None:
    page = text_of(service.anonymous(), "/ladders")

    assert "There is no ladder yet." in page
    assert 'href="/register"' in page


def test_ladders_stand_by_game_with_their_first_three(service: Service, world: World) -> None:
    bots = world.bots(4)
    world.play(bots)
    world.play(bots[:2], game="pool-nap")

    page = text_of(service.anonymous(), "/ladders")

    assert re.findall(r'<h2 id="([^"]+)"', page) == ["pool-nap", "saint-poker"]
    ranks = re.findall(r'class="rank">(\d)<', page)
    assert (len(ranks), ranks[0], ranks[2]) == (5, "1", "1")
    assert ranks == sorted(ranks[:2]) + sorted(ranks[2:])  # shared ranks are up to the cards
    assert "2 bots, 1 match<" in page
    assert "4 bots, 1 match<" in page


def test_a_ladder_is_sorted_by_any_column_either_way(service: Service) -> None:
    bots, ladder = played(service, 5, 5)
    client = service.anonymous()
    with service.database.write() as session:
        for at, bot in enumerate(bots):
            session.execute(update(Bot).where(Bot.id == bot).values(version=f"{at % 2}.0"))

    by_rank = bots_on(text_of(client, f"/ladders/{ladder}"))
    for column in ladder_rows.ORDERS:
        page, back = (text_of(client, f"/ladders/{ladder}?sort={column}{more}") for more in ("", "&reverse=1"))
        assert sorted(bots_on(page)) == sorted(by_rank)
        first, last = ("descending", "ascending") if column in ("rating", "games") else ("ascending", "descending")
        assert f'aria-sort="{first}"' in page
        assert f'aria-sort="{last}"' in back
    names = re.findall(r"<bdi>(Bot \d+ x)</bdi>", text_of(client, f"/ladders/{ladder}?sort=bot"))
    versions = re.findall(r'<bdi title="(\d\.0)">', text_of(client, f"/ladders/{ladder}?sort=version&reverse=1"))

    assert names == sorted(names)
    assert versions == ["1.0", "1.0", "0.0", "0.0", "0.0"]
    assert bots_on(text_of(client, f"/ladders/{ladder}?sort=rating&reverse=1"))[0] == by_rank[-1]


def test_a_word_finds_names_versions_and_owners_and_places_stay_on_all_pages(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    bots, ladder = played(service, 5, 5)
    client = service.anonymous()
    with service.database.write() as session:
        named = {"version": "Nightly_7%", "name": "Ж", "normalized_name": "ж"}
        session.execute(update(Bot).where(Bot.id == bots[2]).values(**named))
        owner_id = session.get_one(Bot, bots[1]).owner_id
    whole = text_of(client, f"/ladders/{ladder}")
    ranks = dict(zip(bots_on(whole), places(whole), strict=True))

    for word, found in (("nightly_", bots[2]), ("7%", bots[2]), ("Ж", bots[2]), (owner_id[:20], bots[1])):
        page = text_of(client, f"/ladders/{ladder}?find={word.replace('%', '%25')}")
        assert bots_on(page) == [found], word
        assert places(page) == [ranks[found]]
        assert "1 of 5 bots found" in page
    assert bots_on(text_of(client, f"/ladders/{ladder}?find=N_ghtly")) == []
    assert "Show all 5" in text_of(client, f"/ladders/{ladder}?find={PAYLOAD}")
    monkeypatch.setattr(page_of_ladders, "ROWS_PER_PAGE", 5)
    assert 'rel="next"' not in text_of(client, f"/ladders/{ladder}")
    monkeypatch.setattr(page_of_ladders, "ROWS_PER_PAGE", 2)
    check_pages_lead_on_and_back(client, f"/ladders/{ladder}", whole)


def check_pages_lead_on_and_back(client: FlaskClient, path: str, whole: str) -> None:
    pages = [text_of(client, f"{path}?page={number}") for number in (1, 2, 3)]
    old = text_of(client, f"{path}?as_of=5")
    following = unescape(re.findall(r'rel="next" href="([^"]*)"', old)[0])

    assert [bot for page in pages for bot in bots_on(page)] == bots_on(whole)
    assert [place for page in pages for place in places(page)] == places(whole)
    assert [re.findall(r'rel="(prev|next)" href="([^"]*)"', page) for page in pages] == [
        [("next", "?page=2")],
        [("prev", "?"), ("next", "?page=3")],
        [("prev", "?page=2")],
    ]
    assert bots_on(old) + bots_on(text_of(client, f"{path}{following}")) == bots_on(whole)[:4]


def test_a_permalink_shows_the_ladder_as_it_stood_with_the_changes_of_that_time(service: Service) -> None:
    bots, ladder = played(service, 3, 2)
    client = service.anonymous()
    now = text_of(client, f"/ladders/{ladder}")
    (link,) = re.findall(r'href="(\?as_of=\d+)">Permanent link to the ladder', now)
    then, first = text_of(client, f"/ladders/{ladder}{link}"), text_of(client, f"/ladders/{ladder}?as_of=1")

    def column(name: str, page: str) -> dict[str, str]:
        return dict(zip(bots_on(page), re.findall(f'class="number {name}">([^<]+)', page), strict=True))

    changes = {1: column("change", first), 2: column("change", then)}
    for bot in bots:
        for change in client.get(f"/api/v1/ladders/{ladder}/history?bot={bot}").get_json()["items"]:
            points = (change["after_micro"] - change["before_micro"]) / 1e6
            assert changes[change["seq"]][bot] == format_signed(round(points, 1), 1)
    assert column("change", now) == changes[2]

    World(service.database).play(bots_on(then))
    still = text_of(client, f"/ladders/{ladder}{link}")

    assert "as of ledger entry 2" in then
    assert list(column("rating", still).items()) == list(column("rating", then).items())
    assert set(column("games", first).values()) == {"1"}
    assert "Show the current ladder" in still
    assert "ladder.js" not in still  # nothing moves there


def test_a_frozen_ladder_says_why_and_bad_wishes_are_refused(service: Service) -> None:
    bots, ladder = played(service, 3, 1)
    client = service.anonymous()
    with service.database.write() as session:
        session.execute(update(Ladder).values(frozen_reason=PAYLOAD))
        session.execute(update(Bot).where(Bot.id == bots[0]).values(version=PAYLOAD * 4, name=PAYLOAD))
        session.execute(update(MatchSeat).values(version=PAYLOAD))

    pages = [text_of(client, path) for path in (f"/ladders/{ladder}", f"/ladders/{ladder}?as_of=1", "/ladders")]

    assert all("<img src=x" not in page for page in pages)
    assert "This ladder is frozen." in pages[0]
    assert "&lt;img src=x" in pages[0]
    assert "Page not found" in text_of(client, f"/ladders/lad_{'0' * 26}", 404)
    for wish in ("sort=luck", "page=0", "page=x", "page=99999999999", f"find={'x' * 65}", "as_of=2", "as_of=-1"):
        assert "cannot be shown" in text_of(client, f"/ladders/{ladder}?{wish}", 422), wish
    assert "ladder has fewer pages" in text_of(client, f"/ladders/{ladder}?page=9")


def test_ratings_have_errors_as_soon_as_the_scheduler_has_stored_them(service: Service) -> None:
    bots, ladder = played(service, 3, 4)
    client = service.anonymous()

    before = text_of(client, f"/ladders/{ladder}")
    missing = client.get(f"/api/v1/ladders/{ladder}").get_json()["items"]
    refresh_errors(service.database, ladder)
    after, past = text_of(client, f"/ladders/{ladder}"), text_of(client, f"/ladders/{ladder}?as_of=4")
    own = text_of(client, f"/bots/{bots[0]}")
    rank = client.get(f"/api/v1/ladders/{ladder}/ranks/{bots[0]}").get_json()
    fitted = client.get(f"/api/v1/ladders/{ladder}").get_json()["items"]

    rating = r'([0-9\u202f]+\.\d) <span class="quiet">± (\d+)</span>'
    shown = dict(zip(bots_on(after), re.findall(rating, after), strict=True))
    assert after.count('class="interval"') == 3
    assert [shown[bots[0]]] == re.findall(rating, own)
    points, error = (float(text.replace("\u202f", "")) for text in shown[bots[0]])
    assert points == rank["rating"]
    assert abs(error - rank["rating_error"]) < 0.6, "rounded to whole points, and to tenths"
    assert "± " not in before + past
    assert [row | {"rating_error": None} for row in fitted] == missing
    assert all(0 < row["rating_error"] < 600 for row in fitted)
    check_trend(service, ladder, bots[0], after)


def check_trend(service: Service, ladder: str, bot: str, page: str) -> None:
    """Check that the trend of a bot and its last ranks both end with the latest match."""
    row = page.split(f'<tr data-bot="{bot}"')[1].split("</tr>")[0]
    history = service.anonymous().get(f"/api/v1/ladders/{ladder}/history?bot={bot}").get_json()["items"]
    assert re.findall(r'href="/matches/(mat_\w+)"', row) == [change["match"] for change in history[::-1]]
    points = re.findall(r"([0-9.]+),([0-9.]+)", row.split('points="')[1].split('"')[0])
    (end,) = re.findall(r'<circle class="end" cx="([0-9.]+)" cy="([0-9.]+)"', row)
    assert end == points[-1] == max(points, key=lambda point: float(point[0]))  # the latest, on the right


def test_trends_are_of_matches_that_still_count(service: Service, organiser: Person, admin: Person) -> None:
    world = World(service.database)
    bots = world.bots(2)
    results = [world.play(bots, created_by=organiser.id, choice=at % 2) for at in range(4)]
    admin.post(f"/matches/{results[3].match_id}/void", {"reason": "a cable was cut"})
    with service.database.write() as session:
        second = MatchSeat.match_id == results[1].match_id
        session.execute(update(MatchSeat).where(second).values(faults=2, version="2"))

    with service.database.read() as session:
        found, short, old = (
            trends.load_trends(session, str(results[0].ladder_id), bots, **part)[bots[0]]
            for part in ({}, {"last": 2}, {"up_to": 2})
        )

    placed = [(one.match_id, one.placement) for one in found.placements]
    assert placed == [(result.match_id, result.placements[0]) for result in results[2::-1]]
    assert (len(found.values), found.values[0], found.faults) == (6, 1_500_000_000, 2)
    assert found.values[5] == found.values[3]  # the void undid the fourth
    assert short.values == found.values[3:]
    assert short.placements == []  # the last result is the void one
    assert (old.version, old.values, len(old.placements)) == ("2", found.values[:3], 2)


def test_a_page_asks_the_record_as_often_for_two_bots_as_for_five(service: Service) -> None:
    def asked(people: int) -> int:
        world = World(service.database, service.names)
        path = f"/ladders/{world.play(world.bots(people)).ladder_id}"
        text_of(service.anonymous(), path)  # the fit is kept from here on
        with counted_statements() as statements:
            text_of(service.anonymous(), path)
        return len(statements)

    assert asked(2) == asked(5) <= 20


@contextmanager
def counted_statements() -> Iterator[list[str]]:
    """Yield the list of the SQL statements that the block executes."""
    statements: list[str] = []

    def hear(*said: Any) -> None:
        statements.append(said[2])

    event.listen(Engine, "before_cursor_execute", hear)
    yield statements
    event.remove(Engine, "before_cursor_execute", hear)
