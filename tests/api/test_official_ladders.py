"""Official ladders over the API and on pages: lists, members, the owner's switch, and the matches of the service."""

import re
from datetime import timedelta
from typing import Any

from sqlalchemy import select

from referee.bots import house_bots
from referee.games import catalogue
from referee.ladders import official_matches
from referee.ladders.ladder_sync import sync_ladders
from referee.ladders.official import OfficialLadder, load_official_ladders
from referee.ladders.tables import Ladder, LadderMember
from tests.api.conftest import Person, Service
from tests.surroundings import MASTER_KEY

SITE = ("/", "/games", "/ladders", "/bots", "/tournaments", "/matches", "/guides", "/register", "/account", "/organise")
NAMES = ["Pool Nap", "Prince Albert", "Prisoners", "Rummy Royal", "Saint Poker"]


def prepare(service: Service) -> None:
    with service.database.write() as session:
        house_bots.get_or_create_house_bots(session)
        sync_ladders(session, load_official_ladders())


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_links_to_a_place_of_a_page_of_the_site_lead_to_that_place(service: Service, owner: Person) -> None:
    service.played(owner, service.person())
    service.played(owner, service.person(), game="pool-nap")
    prepare(service)
    client = service.anonymous()
    pages = {path: client.get(path).text for path in SITE}
    links = {(path, *link) for path, page in pages.items() for link in re.findall(r'href="(/[^"#?]*)#([^"]+)"', page)}

    assert {("/games", "/ladders", game) for game in catalogue()} <= links
    targets = {target: client.get(target).text for _, target, _ in links}
    assert [link for link in sorted(links) if f'id="{link[2]}"' not in targets[link[1]]] == []
    for page in targets.values():
        ids = re.findall(r' id="([^"]+)"', page)
        assert len(ids) == len(set(ids))


def change(owner: Person, bot: str, **changes: Any) -> Any:
    return owner.ask("PATCH", f"/bots/{bot}/ladders", json=changes)


def test_official_ladders_are_listed_first_with_their_members(service: Service, owner: Person) -> None:
    service.played(owner, service.person())
    prepare(service)
    service.verified_bot(owner, "saint-poker")

    listed = owner.get("/ladders").get_json()["items"]
    poker = next(one for one in listed if one["name"] == "Saint Poker")
    shown = owner.get(f"/ladders/{poker['id']}").get_json()

    assert [one["name"] for one in listed if one["official"]] == NAMES
    assert [one["official"] for one in listed] == sorted((one["official"] for one in listed), reverse=True)
    assert (poker["seats"], poker["daily_matches"], shown["official"]) == (2, 48, True)
    assert shown["members"] >= 1


def test_pages_show_official_ladders_and_variants(service: Service, owner: Person) -> None:
    service.played(owner, service.person(), game="pool-nap")
    prepare(service)
    bot = service.verified_bot(owner, "saint-poker")
    client = service.anonymous()

    page = client.get("/ladders").get_data(as_text=True)
    (poker,) = [one for one in owner.get("/ladders").get_json()["items"] if one["name"] == "Saint Poker"]

    assert page.index("Official ladders") < page.index("Pool Nap: variants")
    assert page.index(">Saint Poker<") < page.index(">Pool Nap, 2 seats<")
    assert re.search(r"Saint Poker 2 seats\..{,400}? bots? plays? here, 0 rated so far; 0 matches", words(page))
    assert "The official ladder of Saint Poker" in client.get(f"/ladders/{poker['id']}").get_data(as_text=True)
    assert 'id="official"' in client.get(f"/bots/{bot['id']}").get_data(as_text=True)


def test_owners_switch_the_play_of_their_bots(service: Service, owner: Person) -> None:
    prepare(service)
    bot = service.verified_bot(owner)["id"]
    before = owner.get(f"/bots/{bot}/ladders").get_json()

    off = change(owner, bot, play="off").get_json()
    on = change(owner, bot, play="on", games=["saint-poker"], daily_maximum=5).get_json()

    assert (before["play"], before["games"], before["daily_maximum"]) == ("on", None, None)
    assert [(one["name"], one["active"]) for one in before["ladders"]] == [("Pool Nap", True), ("Saint Poker", True)]
    assert [one["active"] for one in off["ladders"]] == [False, False]
    assert (on["play"], on["games"], on["daily_maximum"]) == ("on", ["saint-poker"], 5)
    assert [one["active"] for one in on["ladders"]] == [False, True]
    (poker,) = [one for one in on["ladders"] if one["game"] == "saint-poker"]
    assert [poker[name] for name in ("matches", "matches_today", "extra_today", "immediate_matches")] == [0, 0, 0, 30]
    assert {"due_at", "last_match_at"} <= {*poker}


def test_an_unlisted_ladder_is_found_by_its_id_alone(service: Service, owner: Person) -> None:
    rules = catalogue()["saint-poker"].start(2, {"rounds": 4})
    with service.database.write() as session:
        league = OfficialLadder("saint-poker", "League", 2, dict(rules.options), 48, unlisted=True)
        sync_ladders(session, (*load_official_ladders(), league))
        ladder_id = session.scalars(select(Ladder.id).where(Ladder.unlisted)).one()
    bot = service.verified_bot(owner, "saint-poker")["id"]
    client = service.anonymous()

    joined = change(owner, bot, unlisted=[ladder_id]).get_json()
    shown = owner.get(f"/ladders/{ladder_id}").get_json()
    page = client.get(f"/ladders/{ladder_id}").text

    assert joined["unlisted"] == [ladder_id]
    assert [one["name"] for one in joined["ladders"] if one["active"]] == ["League", "Saint Poker"]
    assert (shown["unlisted"], shown["official"], shown["members"]) == (True, True, 1)
    assert '<meta name="robots" content="noindex">' in page
    assert f"referee api PATCH /bots/ID/ladders unlisted:='[\"{ladder_id}\"]'" in page
    assert ladder_id not in {one["id"] for one in owner.get("/ladders").get_json()["items"]}
    for path in ("/", "/ladders", "/games", "/games/saint-poker", "/search?q=League"):
        assert ladder_id not in client.get(path).text


def test_wrong_settings_are_refused(service: Service, owner: Person) -> None:
    prepare(service)
    bot = service.verified_bot(owner)["id"]

    wrong: list[dict[str, Any]] = [{}, {"play": "asked"}, {"games": []}, {"games": ["whist"]}, {"unlisted": ["x"]}]
    for changes in [*wrong, {"rivals": []}, {"daily_maximum": 0}]:
        assert change(owner, bot, **changes).status_code == 422, changes
    assert change(service.person(), bot, play="off").status_code == 404
    assert owner.post(f"/bots/{bot}/retire").status_code == 200
    assert change(owner, bot, play="on").status_code == 409


def test_a_match_of_a_ladder_is_marked_and_is_no_friendly(service: Service, owner: Person) -> None:
    prepare(service)
    bot = service.verified_bot(owner, "saint-poker")["id"]
    told = owner.get(f"/bots/{bot}/waiting").get_json()
    assert told["reason"]["code"] == "official_partner"
    assert told["reason"]["at"] is not None

    with service.database.write() as session:
        members_wait(session)
        assert official_matches.make_matches(session, master_key=MASTER_KEY) == 1
    (match,) = owner.get(f"/matches?bot={bot}").get_json()["items"]
    (waits,) = owner.get(f"/bots/{bot}/waiting").get_json()["matches"]

    assert match["ladder"] is not None
    assert match["ladder"] == waits["ladder"]
    assert (match["rated"], match["unrated_reason"]) == (True, None)  # the house player is an anchor
    assert owner.post(f"/matches/{match['id']}/cancel").status_code == 403


def members_wait(session: Any) -> None:
    """Let all members have waited for 30 s."""
    for member in session.scalars(select(LadderMember)):
        member.due_at -= timedelta(seconds=31)
