"""Matches and their logs."""

import gzip
import hashlib
import json
import re
from typing import Any

from referee.match.verification import verify
from referee.matches.states import MatchState
from referee.matches.tables import DealGroup, StoredMatch
from tests.api.conftest import API, Person, Service, fields_of, friendly
from tests.api.tournaments import started
from tests.database import tournaments
from tests.database.world import World

NOBODY = "bot_" + "0" * 26


def test_an_owner_arranges_a_friendly_match_that_waits(service: Service, owner: Person, mine: str, theirs: str) -> None:
    made = owner.post("/matches", friendly(mine, theirs, options={"rounds": 3}, time={"budget_ms": 500}))
    second = owner.post("/matches", friendly(mine, theirs)).get_json()["id"]
    rated = service.played(owner, service.person()).match_id

    match = made.get_json()
    assert made.status_code == 201
    assert made.headers["Location"] == f"{API}/matches/{match['id']}"
    assert (match["status"], match["rated"], match["options"]["rounds"]) == ("due", False, 3)
    assert match["time"] == {"budget_ms": 500, "bank_ms": 10_000}
    assert [seat["bot"] for seat in match["seats"]] == [mine, theirs]
    assert len(match["group"]["commitment"]) == 64
    assert owner.get(f"/matches/{match['id']}").get_json() == match
    pages = [" ".join(service.anonymous().get(f"/matches/{id}").text.split()) for id in (match["id"], second, rated)]
    assert [re.findall(r'"owners": ?\[(.)', page) for page in pages] == [['"'], ['"'], ["]"]]
    assert [notice for page in pages for notice in re.findall(r'class="notice">(Waiting[^<]*)<', page)] == [
        "Waiting, number 1 in the queue: the match is next in the queue: a runner starts it when it has a free slot.",
        "Waiting, number 2 in the queue: matches ahead of it in the queue: 1.",
    ]


def test_only_organisers_may_rate(service: Service, owner: Person, organiser: Person, mine: str, theirs: str) -> None:
    assert owner.post("/matches", friendly(mine, theirs, rated=True)).status_code == 403
    assert service.person().post("/matches", friendly(mine, theirs)).status_code == 403
    rated = organiser.post("/matches", friendly(mine, theirs, rated=True))
    assert (rated.status_code, rated.get_json()["rated"]) == (201, True)


ROUNDS: list[Any] = ["3", True, 3.0, 10**9, [[]]]
BAD: list[tuple[str, Any]] = [
    *[("game", "whist"), ("game", 5), ("bots", []), ("bots", "bot"), ("bots", {"a": 1}), ("bots[0]", ["x"])],
    *[("options.rounds", {"rounds": value}) for value in ROUNDS],
    *[("options.colour", {"colour": 1}), ("options", []), ("rated", "yes"), ("rated", 1), ("time", None)],
    *[("time.budget_ms", {"budget_ms": wrong}) for wrong in ("5", 100.0, 0)],
    *[("time.bank_ms", {"bank_ms": -1}), ("time.bank_ms", {"bank_ms": 2**53}), ("time.bank", {"bank": 1})],
    *[("seed", 42), ("status", "finished")],
]


def test_E4_bad_matches_are_refused_with_the_field_named(owner: Person, mine: str, theirs: str) -> None:
    for field, wrong in BAD:
        member = field.partition(".")[0].partition("[")[0]
        answer = owner.post("/matches", {**friendly(mine, theirs), member: wrong})
        assert (answer.status_code, fields_of(answer)) == (422, {field}), wrong
    assert owner.get("/matches").get_json()["items"] == []


def test_E4_bots_that_do_not_fit_are_refused(service: Service, owner: Person, mine: str) -> None:
    one_game, paused = (str(service.verified_bot(owner, *games)["id"]) for games in (["pool-nap"], []))
    owner.post(f"/bots/{paused}/pause")

    for bots, field in (
        ([mine, NOBODY], "bots[1]"),
        ([mine, mine], "bots"),
        ([mine], "bots"),
        ([mine, one_game], "bots"),
    ):
        answer = owner.post("/matches", friendly(*bots))
        assert (answer.status_code, fields_of(answer)) == (422, {field})
    assert owner.post("/matches", friendly(mine, paused)).status_code == 409


def test_matches_are_found_by_filter(service: Service, owner: Person, mine: str, theirs: str) -> None:
    third = str(service.verified_bot(service.person())["id"])
    first, second = (owner.post("/matches", friendly(mine, bot)).get_json()["id"] for bot in (theirs, third))
    owner.post(f"/matches/{first}/cancel")

    def ids(query: str) -> list[str]:
        return [match["id"] for match in owner.get(f"/matches?{query}").get_json()["items"]]

    assert ids("") == ids("game=saint-poker") == ids(f"bot={mine}") == [second, first]
    assert ids(f"bot={third}") == [second]
    assert ids(f"bot={mine}&bot={theirs}") == ids("status=cancelled") == [first]
    assert ids(f"tournament=trn_{'0' * 26}") == ids("game=pool-nap") == []
    assert ids("rated=true") == ids(f"bot={mine}&result=ahead") == []
    assert ids("rated=false&created_since=2020-01-01") == [second, first]
    assert ids("created_before=2020-01-01T00:00:00%2B01:00") == []
    page = owner.get(f"/matches?bot={mine}&limit=1").get_json()
    assert [match["id"] for match in page["items"]] + ids(f"bot={mine}&limit=1&cursor={page['next']}") == [
        second,
        first,
    ]
    assert fields_of(owner.get(f"/matches?bot={third}&limit=1&cursor={page['next']}")) == {"cursor"}
    wrong = {"status", "bot[0]", "tournament", "game"}
    assert fields_of(owner.get("/matches?status=lost&bot=x&tournament=y&game=z")) == wrong
    shown = service.anonymous().get(f"/matches?bot={mine}&bot={theirs}&game=&rated=&result=&created_since=2020-01-01")
    assert shown.status_code == 200
    assert [first in shown.text, second in shown.text] == [True, False]
    assert shown.text.count('<input type="hidden" name="bot"') == 2
    assert 'value="2020-01-01"' in shown.text


def test_E4_a_wrong_filter_is_named(service: Service, owner: Person, mine: str) -> None:
    for query, field in [
        *[("result=ahead", "result"), (f"result=draw&bot={mine}", "result"), ("rated=1", "rated")],
        *[(f"bot={mine}&bot={mine}", "bot"), (f"bot={mine}&bot=x", "bot[1]"), ("bot=", "bot[0]")],
        *[("created_since=yesterday", "created_since"), ("created_since=9999-12-31T23:59:59-12:00", "created_since")],
        *[("created_before=2027-02-30", "created_before"), ("created_before=2027-01-31T18:00:00", "created_before")],
    ]:
        assert fields_of(owner.get(f"/matches?{query}")) == {field}, query
    page = service.anonymous().get(f"/matches?result=draw&bot={mine}&bot=x", headers={"Accept": "text/html"})
    assert (page.status_code, "bot[1]" in page.text) == (422, True)
    assert service.anonymous().get("/matches?bot=").status_code == 200  # forms send empty fields, which mean any bot


def test_D11_its_creator_cancels_it(service: Service, owner: Person, organiser: Person, mine: str, theirs: str) -> None:
    match_id, other_id = (owner.post("/matches", friendly(mine, theirs)).get_json()["id"] for _ in range(2))

    refused = service.person().post(f"/matches/{match_id}/cancel").status_code
    cancelled = owner.post(f"/matches/{match_id}/cancel")
    again = owner.post(f"/matches/{match_id}/cancel").status_code

    group = cancelled.get_json()["group"]
    seed = bytes.fromhex(group["reveal"]["seed"])
    assert (refused, cancelled.status_code, cancelled.get_json()["status"], again) == (403, 200, "cancelled", 409)
    assert hashlib.sha256(seed + group["id"].encode()).hexdigest() == group["commitment"]
    assert group["entries"] == [mine, theirs]
    assert owner.get(f"/matches/{match_id}/log").status_code == 404
    assert organiser.post(f"/matches/{other_id}/cancel").status_code == 200


def test_matches_that_share_cards_are_cancelled_together(service: Service, owner: Person, organiser: Person) -> None:
    tournament_id = started(service, organiser, 4, deal_sharing="duplicate", trusted=True)
    match = organiser.get(f"/matches?tournament={tournament_id}&tournament_round=1").get_json()["items"][0]
    path = f"/matches/{match['id']}"

    foreign = [person.post(f"{path}/cancel").status_code for person in (owner, service.person("organiser"))]
    alone = organiser.post(f"{path}/cancel")
    together = organiser.post(f"{path}/cancel", {"whole_group": True, "reason": "wrong cards"})
    void = organiser.post(f"{path}/void", {"reason": "wrong cards"})

    assert (foreign, alone.status_code, together.status_code, void.status_code) == ([403, 403], 409, 200, 409)
    assert "whole_group" in alone.get_json()["detail"]
    assert (together.get_json()["group"]["kind"], together.get_json()["reason"]) == ("duplicate", "wrong cards")
    cancelled = organiser.get(f"/matches?tournament={tournament_id}&status=cancelled").get_json()["items"]
    assert {one["group_id"] for one in cancelled} == {match["group_id"]}
    assert sorted(one["leg"] for one in cancelled) == [1, 2]


def test_E4_a_bad_wish_is_refused(organiser: Person) -> None:
    wishes: list[Any] = [
        *[("cancel", {"reason": ""}, "reason"), ("cancel", {"reason": "\x1b[2J"}, "reason")],
        *[("cancel", {"whole_group": 1}, "whole_group"), ("cancel", {"reasons": "x"}, "reasons")],
        *[("void", {}, "reason"), ("void", {"reason": " "}, "reason"), ("void", {"reason": "x" * 501}, "reason")],
        ("void", {"reason": "x", "rematch": "yes"}, "rematch"),
    ]
    for verb, body, field in wishes:
        answer = organiser.post(f"/matches/mat_{'0' * 26}/{verb}", body)
        assert (answer.status_code, fields_of(answer)) == (422, {field}), body


def test_the_operator_lets_a_stuck_match_go_on(service: Service, organiser: Person, admin: Person) -> None:
    match_id = World(service.database).match()
    path = f"/matches/{match_id}/retry"

    due = admin.post(path).status_code
    with service.database.write() as session:
        session.get_one(StoredMatch, match_id).status = MatchState.STUCK
    refused = organiser.post(path).status_code
    retried = admin.post(path)

    assert (due, refused, retried.status_code, retried.get_json()["status"]) == (409, 403, 200, "due")


def test_D1_the_log_opens_when_its_deal_group_is_over(service: Service, mine: str, theirs: str) -> None:
    world, client = World(service.database), service.anonymous()
    with service.database.write() as session:
        first = world.matched(session, [mine, theirs])
        second = world.matched(session, [theirs, mine], group=session.get_one(DealGroup, first.group_id))
    path = f"{API}/matches/{first.id}"

    before = client.get(f"{path}/log")
    world.finish(world.claim(match_id=first.id)[0])
    between = client.get(path).get_json()["status"], client.get(f"{path}/log").status_code
    world.finish(world.claim(match_id=second.id)[0])
    after = client.get(f"{path}/log")

    assert (before.status_code, before.get_json()["code"]) == (409, "log_not_ready")
    assert (between, after.status_code) == (("finished", 409), 200)
    assert verify(after.data.splitlines()).ok
    rows = [json.loads(line) for line in after.data.splitlines()]
    assert [row["type"] for row in (rows[0], *rows[-3:])] == ["header", "result", "reveal", "signature"]


def test_E15_the_log_is_an_attachment_that_no_browser_runs(service: Service, owner: Person) -> None:
    match_id = service.played(owner, service.person()).match_id
    path = f"/matches/{match_id}/log"

    plain = owner.get(path, headers={"Accept-Encoding": "identity"})
    packed = owner.get(path, headers={"Accept-Encoding": "br, gzip;q=0.5"})
    refused = owner.get(path, headers={"Accept-Encoding": "gzip;q=0"})

    assert plain.mimetype == packed.mimetype == "application/x-ndjson"
    assert plain.headers["Content-Disposition"] == f'attachment; filename="{match_id}.ndjson"'
    assert "sandbox" in plain.headers["Content-Security-Policy"]
    assert plain.headers["X-Content-Type-Options"] == "nosniff"
    assert "Accept-Encoding" in ",".join(plain.headers.getlist("Vary"))
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.get_data()) == plain.get_data() == refused.get_data()
    assert plain.headers["ETag"] != packed.headers["ETag"]


def test_D1_of_ladder_matches_only_the_players_are_shown(service: Service, mine: str, theirs: str) -> None:
    world, client = World(service.database), service.anonymous()
    match_id = world.match([mine, theirs])  # rated
    world.claim(match_id=match_id)

    (listed,) = client.get(f"{API}/matches?bot={mine}&bot={theirs}").get_json()["items"]
    one = client.get(f"{API}/matches/{match_id}").get_json()

    assert [seat["bot"] for seat in one["seats"]] == [mine, theirs]
    assert [(seat["bot"], seat["name"]) for seat in listed["seats"]] == [(s["bot"], s["name"]) for s in one["seats"]]
    assert all(seat["name"] for seat in one["seats"])
    assert all(seat["placement"] is None and seat["returns"] is None for seat in one["seats"])
    assert (one["group"]["reveal"], one["group"]["entries"]) == (None, None)


def test_D13_who_plays_is_told_at_the_end(
    service: Service, owner: Person, organiser: Person, mine: str, theirs: str, world: World
) -> None:
    match_id = world.match([mine, theirs], tournament_id=tournaments.create(world))

    def bots(person: Person, query: str = "") -> list[list[str | None]]:
        found = person.get(f"/matches?{query}").get_json()["items"]
        return [[seat["bot"] for seat in match["seats"]] for match in found]

    both = f"bot={mine}&bot={theirs}"
    hidden, shown = [[None, None]], [[mine, theirs]]
    assert bots(owner) == bots(owner, f"bot={mine}") == hidden
    assert bots(owner, f"bot={theirs}") == bots(owner, both) == []
    assert bots(organiser, f"bot={mine}") == bots(organiser, both) == shown
    assert match_id not in service.anonymous().get(f"/matches?bot={mine}").text
    one = owner.get(f"/matches/{match_id}").get_json()["seats"]
    assert [(seat["bot"], seat["name"], seat["version"]) for seat in one] == [(None, None, None)] * 2

    world.finish(world.claim(match_id=match_id)[0])

    assert bots(owner) == bots(owner, f"bot={theirs}") == shown


def test_a_match_names_and_links_the_ladder_for_which_it_is_rated(service: Service, owner: Person) -> None:
    world = World(service.database)
    bots = [service.verified_bot(person)["id"] for person in (owner, service.person())]
    rated, unrated = world.play(bots).match_id, world.play(bots, rated=False).match_id
    other = world.match(bots, options={"rounds": 2})  # whose ladder does not exist yet
    client = service.anonymous()

    shown = {one["id"]: one["rated_on"] for one in client.get(f"{API}/matches").get_json()["items"]}
    page = client.get(f"/matches/{rated}").get_data(as_text=True)
    (ladder,) = client.get(f"{API}/ladders").get_json()["items"]

    assert shown == {rated: {"id": ladder["id"], "name": ladder["name"]}, unrated: None, other: None}
    assert f'<a href="/ladders/{ladder["id"]}"><bdi>{ladder["name"]}</bdi></a>' in page
    assert "/ladders/lad_" not in client.get(f"/matches/{unrated}").get_data(as_text=True)
