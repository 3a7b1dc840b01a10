"""The directory of bots and owners: over HTTP and as pages."""

import re
from typing import Any

import pytest
from sqlalchemy import update

from api.bots.directory_pages import ACTIVITIES, LEVELS
from referee.bots.states import BotState
from referee.games import catalogue, game_title
from referee.ladders.tables import Ladder
from tests.api.conftest import API, Person, Service, fields_of
from tests.api.test_site_ladders import text_of

NOBODY = "acc_" + "0" * 26
PROFILE = {"summary": "Plays <b>well</b>", "language": "Rust", "link": "https://example.org/bot?a=1&b=2"}


def ids(answer: Any) -> list[str]:
    return [bot["id"] for bot in answer.get_json()["items"]]


def edit(owner: Person, bot: str, changes: dict[str, Any]) -> Any:
    etag = owner.get(f"/bots/{bot}").headers["ETag"]
    return owner.ask("PATCH", f"/bots/{bot}", json=changes, headers={"If-Match": etag})


def name_of(person: Person) -> str:
    return str(person.get("/accounts/me").get_json()["name"])


def played(service: Service, *people: Person) -> list[str]:
    bots = list(service.played(*people).bots)
    with service.database.write() as session:
        session.execute(update(Ladder).values(official=True, daily_matches=9))
    return bots


def test_a_bot_has_the_public_name_of_its_owner_and_what_the_owner_says(service: Service, owner: Person) -> None:
    made = owner.post("/bots", {"name": "Ada", "url": "https://a.example.org/", **PROFILE}).get_json()
    client = service.anonymous()

    def described() -> list[str]:
        page = client.get(f"/bots/{made['id']}").text
        return re.findall(r'<meta (?:name|property)="(?:og:)?description" content="([^"]*)">', page)

    shown = client.get(f"{API}/bots/{made['id']}").get_json()
    assert {name: shown[name] for name in PROFILE} == PROFILE
    assert (shown["owner"], shown["owner_name"]) == (owner.id, name_of(owner))
    assert (shown["certified"], shown["ratings"], shown["rated_at"]) == ([], [], None)
    assert described() == ["Plays &lt;b&gt;well&lt;/b&gt;"] * 2

    changed = edit(owner, made["id"], {"summary": None, "language": "C#"}).get_json()
    assert (changed["summary"], changed["language"], changed["link"]) == (None, "C#", PROFILE["link"])
    assert described() == ["Ratings, results and matches of the bot Ada."] * 2


def test_E14_a_bad_profile_is_refused_with_its_field(service: Service, owner: Person) -> None:
    bot = service.verified_bot(owner)["id"]
    wrong = {"summary": "a\nb", "language": "", "link": "javascript:alert(1)", "name": "R"}

    refused = [edit(owner, bot, wrong), owner.post("/bots", {"url": "https://n.example.org/", **wrong})]

    assert [(answer.status_code, fields_of(answer)) for answer in refused] == [(422, {*wrong})] * 2


def test_bots_are_listed_by_owner_status_game_level_and_activity(service: Service, owner: Person) -> None:
    rated = played(service, owner, service.person())
    fresh = service.verified_bot(owner, "prisoners")["id"]
    client = service.anonymous()

    def listed(filters: str) -> list[str]:
        return sorted(ids(client.get(f"{API}/bots?{filters}")))

    assert listed("level=rated&game=saint-poker&active_days=1") == listed("level=1400_to_1600") == sorted(rated)
    assert listed("level=unrated") == listed("game=prisoners") == [fresh]
    assert listed("game=prisoners&level=rated") == []
    assert listed(f"owner={owner.id}") == sorted((rated[0], fresh))
    owner.post(f"/bots/{fresh}/pause")
    assert listed("status=paused") == [fresh]
    bot = client.get(f"{API}/bots/{rated[0]}").get_json()
    assert bot["certified"] == ["pool-nap", "saint-poker"]
    ((game, games),) = [(rating["game"], rating["games"]) for rating in bot["ratings"]]
    assert (game, games, bot["rated_at"] is not None) == ("saint-poker", 1, True)
    bad = client.get(f"{API}/bots?level=high&game=chess&active_days=0&owner=x&status=dead")
    assert fields_of(bad) == {"level", "game", "active_days", "owner", "status"}


def test_an_account_is_public_once_it_has_registered_a_bot(service: Service, owner: Person) -> None:
    client = service.anonymous()
    for unknown in (owner.id, NOBODY):
        assert client.get(f"{API}/owners/{unknown}").status_code == 404
    assert "not found" in text_of(client, f"/owners/{owner.id}", 404)

    bot = service.verified_bot(owner)

    named = {"id": owner.id, "name": name_of(owner), "former_names": []}
    counts = {"bots": 1, "registered_bots": 1, "deleted_at": None}
    assert client.get(f"{API}/owners/{owner.id}").get_json() == {**named, **counts}
    page = text_of(client, f"/owners/{owner.id}")
    assert f"<h1><bdi>{named['name']}</bdi></h1>" in page
    assert bot["name"] in page


def test_rows_of_ladders_and_entries_name_the_owner_and_no_page_an_id(
    service: Service, owner: Person, organiser: Person
) -> None:
    bots = played(service, owner, service.person())
    name, client = name_of(owner), service.anonymous()
    ladder = client.get(f"{API}/ladders").get_json()["items"][0]["id"]
    cup = organiser.post("/tournaments", {"name": "Cup", "game": "pool-nap", "seats": 2}).get_json()["id"]
    organiser.post(f"/tournaments/{cup}/open")

    for moment in ("", "?as_of=1"):
        rows = client.get(f"{API}/ladders/{ladder}{moment}").get_json()["items"]
        assert {row["owner"]: row["owner_name"] for row in rows}[owner.id] == name
    assert client.get(f"{API}/ladders/{ladder}/ranks/{bots[0]}").get_json()["owner_name"] == name
    assert owner.post(f"/tournaments/{cup}/enter", {"bot": bots[0]}).get_json()["owner_name"] == name
    entries = client.get(f"{API}/tournaments/{cup}/entries").get_json()["items"]
    assert [entry["owner_name"] for entry in entries] == [name]
    assert f'<a href="/owners/{owner.id}"><bdi>{name}</bdi></a>' in text_of(client, f"/ladders/{ladder}")
    for word in (name.upper(), name.replace(" ", "-")):
        assert f'data-bot="{bots[0]}"' in text_of(client, f"/ladders/{ladder}?find={word}")
    assert text_of(client, f"/ladders/{ladder}?sort=owner").index(bots[0])
    for path in (f"/bots/{bots[0]}", "/bots", f"/owners/{owner.id}", f"/ladders/{ladder}"):
        page = text_of(client, path)
        assert name in page
        assert "acc_" not in re.sub(r"<[^>]*>", "", page.partition("<main")[2].partition("</main>")[0]), path


def test_the_page_of_a_bot_shows_the_profile_as_text_and_a_link_without_trust(service: Service, owner: Person) -> None:
    bot = service.verified_bot(owner)["id"]
    edit(owner, bot, {**PROFILE, "summary": "<img src=x onerror=alert(1)>"})

    page = text_of(service.anonymous(), f"/bots/{bot}")

    assert "<img src=x" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    (link,) = re.findall(r'<a href="https://example.org[^>]*>', page)
    assert 'href="https://example.org/bot?a=1&amp;b=2"' in link
    assert 'rel="nofollow noopener ugc"' in link
    assert "certified: Pool Nap, Saint Poker" in page
    assert ">verified<" not in page


def test_the_directory_page_filters_and_pages(service: Service, owner: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.bots.directory_pages.BOTS_PER_PAGE", 2)
    bots = [service.verified_bot(owner)["id"] for _ in range(3)]
    prisoner = service.verified_bot(owner, "prisoners")["id"]
    owner.post(f"/bots/{bots[0]}/retire")
    client = service.anonymous()

    def listed(path: str) -> tuple[list[str], str]:
        page = text_of(client, path)
        following = re.search(r'rel="next" href="([^"]*)"', page)
        return re.findall(r'<th scope="row" class="listed"><a href="/bots/(\w+)"', page), (
            path.partition("?")[0] + following[1].replace("&amp;", "&") if following else ""
        )

    first, following = listed("/bots")
    assert first == [prisoner, bots[2]]
    page = text_of(client, "/bots")
    choices = [re.findall(r'value="(.*?)"', select) for select in re.findall(r"<select .*?</select>", page, re.DOTALL)]
    assert choices[0] == ["", *sorted(catalogue())]
    assert choices[1:] == [["", *LEVELS], ["", *ACTIVITIES], ["", *BotState]]
    headings = ["Bot", "Owner", *map(game_title, sorted(catalogue())), "Last rating change"]
    assert re.findall(r'<th scope="col"[^>]*>([^<]*)', page) == headings
    rows = re.findall(r"<tr>\s*<th scope=\"row\".*?</tr>", page, re.DOTALL)
    for row, games in zip(rows, ({"prisoners"}, {"pool-nap", "saint-poker"}), strict=True):
        cells = re.findall(r'<td class="number">.*?unseen"> ([^<]*)', row)
        assert cells == ["unrated" if game in games else "not certified" for game in sorted(catalogue())]
    assert listed(following) == ([bots[1]], "")
    assert listed("/bots?game=prisoners&level=unrated&active_days=&status=") == ([prisoner], "")
    assert listed("/bots?status=retired") == ([bots[0]], "")
    assert "No bot was found." in text_of(client, "/bots?active_days=7")
    for bad in ("level=x", "active_days=2", "game=x", "status=x", "cursor=x"):
        assert "cannot be shown" in text_of(client, f"/bots?{bad}", 422)


def test_names_of_tournaments_have_up_to_80_characters(organiser: Person) -> None:
    long = "Winter cup 2026: Pool Nap (A) – round #2, the second & last!"

    def make(name: str) -> Any:
        return organiser.post("/tournaments", {"name": name, "game": "pool-nap", "seats": 2})

    assert [make(name).status_code for name in ("GP", "x" * 80)] == [201] * 2
    assert make(long).get_json()["name"] == long
    assert [fields_of(make(name)) for name in ("x", "x" * 81, "a\u202eb")] == [{"name"}] * 3
