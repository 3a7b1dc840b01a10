"""Ladders over HTTP and on pages: ranks, histories, official ladders with members, the switch of owners, matches."""

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
from tests.api.conftest import API, Person, Service, fields_of
from tests.api.test_site_tournaments import words
from tests.database.world import World
from tests.surroundings import MASTER_KEY


def test_F12_a_ladder_shows_ratings_as_of_a_result(service: Service, world: World) -> None:
    result = world.play(world.bots(3))
    client = service.anonymous()

    (ladder,) = client.get(f"{API}/ladders").get_json()["items"]
    shown = client.get(f"{API}/ladders/{ladder['id']}").get_json()

    assert (ladder["game"], ladder["seats"]) == ("saint-poker", 3)
    assert shown["as_of_seq"] == result.seq
    assert sum(row["rating_micro"] for row in shown["items"]) == 3 * 1_500_000_000
    assert [row["rating"] for row in shown["items"]] == [round(row["rating_micro"] / 1e6, 1) for row in shown["items"]]
    assert [row["rank"] for row in shown["items"]] == sorted(row["rank"] for row in shown["items"])
    assert ladder["members"] == 0  # a variant has none
    assert client.get(f"{API}/ladders/lad_{'0' * 26}").status_code == 404


def test_a_ladder_is_shown_as_of_any_entry(service: Service, owner: Person, organiser: Person, admin: Person) -> None:
    world, other = World(service.database), service.person()
    bots = [service.verified_bot(person)["id"] for person in (owner, other)]
    first, second = (world.play(bots, created_by=organiser.id) for _ in range(2))
    ladder_id = owner.get("/ladders").get_json()["items"][0]["id"]
    path = f"/ladders/{ladder_id}"

    now = owner.get(path).get_json()
    then = owner.get(f"{path}?as_of=1").get_json()
    voided = admin.post(f"/matches/{second.match_id}/void", {"reason": "a cable was cut"})
    after = owner.get(path).get_json()
    still = owner.get(f"{path}?as_of=2").get_json()
    own_rank = owner.get(f"{path}/ranks/{bots[0]}").get_json()
    history = f"{path}/history?bot={bots[0]}"
    moves, first_page = owner.get(history).get_json()["items"], owner.get(f"{history}&limit=2").get_json()
    second_page = owner.get(f"{history}&limit=2&cursor={first_page['next']}").get_json()

    assert (now["as_of_seq"], then["as_of_seq"], now["frozen_reason"]) == (2, 1, None)
    assert [row["games"] for row in then["items"]] == [1, 1]
    unused: dict[str, Any] = {"cancelled": [], "rematches": [], "proposal": None}
    assert voided.get_json() == {"void": [second.match_id], "ledger_entries": [3], **unused}
    assert (after["as_of_seq"], after["items"]) == (3, then["items"])
    assert still == now
    (own,) = (row for row in after["items"] if row["bot"] == bots[0])
    assert (own_rank["rank"], own_rank["total"], own_rank["rating_micro"]) == (own["rank"], 2, own["rating_micro"])
    assert (own_rank["as_of_seq"], own_rank["changed_seq"]) == (3, 3)
    assert own_rank["owner_best"] is None  # of a rating that is still provisional
    assert [(move["seq"], move["kind"], move["match"], move["reason"]) for move in moves] == [
        (3, "void", second.match_id, "a cable was cut"),
        (2, "result", second.match_id, None),
        (1, "result", first.match_id, None),
    ]
    assert [move["before_micro"] for move in moves[:-1]] == [move["after_micro"] for move in moves[1:]]
    assert (first_page["items"] + second_page["items"], second_page["next"]) == (moves, None)
    assert fields_of(owner.get(f"{path}/history")) == {"bot"}
    assert owner.get(f"{path}/history?bot=bot_{'0' * 26}").status_code == 404
    assert fields_of(owner.get(f"{path}?as_of=4")) == {"as_of"}
    assert fields_of(owner.get(f"{path}?as_of=-1")) == {"as_of"}
    assert owner.get(f"{path}/ranks/bot_{'0' * 26}").status_code == 404
    assert owner.get(f"{path}/ranks/{service.verified_bot(owner)['id']}").status_code == 404


SITE = ("/", "/games", "/ladders", "/bots", "/tournaments", "/matches", "/guides", "/register", "/account", "/organise")
NAMES = ["Pool Nap", "Prince Albert", "Prisoners", "Rummy Royal", "Saint Poker"]


def prepare(service: Service) -> None:
    with service.database.write() as session:
        house_bots.get_or_create_house_bots(session)
        sync_ladders(session, load_official_ladders())


def test_links_to_a_place_of_a_page_of_the_site_lead_to_that_place(service: Service, world: World) -> None:
    bots = world.bots(2)
    for game in ("saint-poker", "pool-nap"):
        world.play(bots, game=game)
    prepare(service)
    client = service.anonymous()
    pages = {path: client.get(path).text for path in SITE}
    links = {(path, *link) for path, page in pages.items() for link in re.findall(r'href="(/[^"#?]*)#([^"]+)"', page)}

    assert {("/games", "/ladders", game) for game in catalogue()} <= links
    targets = {target: client.get(target).text for target in {target for _, target, _ in links}}
    assert [link for link in sorted(links) if f'id="{link[2]}"' not in targets[link[1]]] == []
    for page in targets.values():
        ids = re.findall(r' id="([^"]+)"', page)
        assert len(ids) == len(set(ids))


def change(owner: Person, bot: str, **changes: Any) -> Any:
    return owner.ask("PATCH", f"/bots/{bot}/ladders", json=changes)


def test_pages_show_official_ladders_and_variants(service: Service, owner: Person, world: World) -> None:
    world.play(world.bots(2), game="pool-nap")
    prepare(service)
    bot = service.verified_bot(owner, "saint-poker")
    client = service.anonymous()

    page = client.get("/ladders").text
    listed = owner.get("/ladders").get_json()["items"]
    (poker,) = [one for one in listed if one["name"] == "Saint Poker"]
    shown = owner.get(f"/ladders/{poker['id']}").get_json()

    assert [one["name"] for one in listed if one["official"]] == NAMES
    assert [one["official"] for one in listed] == [True] * len(NAMES) + [False] * (len(listed) - len(NAMES))
    assert (poker["seats"], poker["daily_matches"], shown["official"]) == (2, 48, True)
    assert shown["members"] >= 1
    assert page.index("Official ladders") < page.index("Pool Nap: variants")
    assert page.index(">Saint Poker<") < page.index(">Pool Nap, 2 seats<")
    assert re.search(r"Saint Poker 2 seats\..{,400}? bots? plays? here, 0 rated so far; 0 matches", words(page))
    assert "The official ladder of Saint Poker" in client.get(f"/ladders/{poker['id']}").text
    assert 'id="official"' in client.get(f"/bots/{bot['id']}").text


def test_owners_switch_the_play_of_their_bots_by_settings_that_can_be(service: Service, owner: Person) -> None:
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
    wrong: list[dict[str, Any]] = [{}, {"play": "asked"}, {"games": []}, {"games": ["whist"]}, {"unlisted": ["x"]}]
    for changes in [*wrong, {"rivals": []}, {"daily_maximum": 0}]:
        assert change(owner, bot, **changes).status_code == 422, changes
    assert change(service.person(), bot, play="off").status_code == 404
    assert owner.post(f"/bots/{bot}/retire").status_code == 200
    assert change(owner, bot, play="on").status_code == 409


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


def test_a_match_of_a_ladder_is_marked_and_is_no_friendly(service: Service, owner: Person) -> None:
    prepare(service)
    bot = service.verified_bot(owner, "saint-poker")["id"]
    told = owner.get(f"/bots/{bot}/waiting").get_json()["reason"]
    assert (told["code"], told["at"] is None) == ("official_partner", False)

    with service.database.write() as session:
        for member in session.scalars(select(LadderMember)):
            assert member.due_at is not None
            member.due_at -= timedelta(seconds=31)  # all members have waited for 30 s
        assert official_matches.make_matches(session, master_key=MASTER_KEY) == 1
    (match,) = owner.get(f"/matches?bot={bot}").get_json()["items"]
    (waits,) = owner.get(f"/bots/{bot}/waiting").get_json()["matches"]

    assert match["ladder"] is not None
    assert match["ladder"] == waits["ladder"]
    assert (match["rated"], match["unrated_reason"]) == (True, None)  # the house player is an anchor
    assert owner.post(f"/matches/{match['id']}/cancel").status_code == 403
