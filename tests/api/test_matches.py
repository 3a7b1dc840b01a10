"""Matches and their logs."""

import gzip
import hashlib
import json
import re
from typing import Any

import pytest

from referee.match.match import Answer
from referee.match.verification import verify
from referee.matches.logs.recording import MatchUpdate, record_batch
from referee.matches.states import MatchState
from referee.matches.tables import DealGroup, StoredMatch
from tests.api.conftest import API, Person, Service, fields_of, friendly
from tests.api.tournaments import started
from tests.database import tournaments
from tests.database.world import World

NOBODY = "bot_" + "0" * 26


def test_an_owner_arranges_a_friendly_match(owner: Person, mine: str, theirs: str) -> None:
    wanted = friendly(mine, theirs, options={"rounds": 3}, time={"budget_ms": 500})

    made = owner.post("/matches", wanted)

    match = made.get_json()
    assert made.status_code == 201
    assert made.headers["Location"] == f"{API}/matches/{match['id']}"
    assert (match["status"], match["rated"], match["options"]["rounds"]) == ("due", False, 3)
    assert match["time"] == {"budget_ms": 500, "bank_ms": 10_000}
    assert [seat["bot"] for seat in match["seats"]] == [mine, theirs]
    assert len(match["group"]["commitment"]) == 64
    assert owner.get(f"/matches/{match['id']}").get_json() == match


def test_the_page_of_a_match_that_waits_says_why_and_its_place(
    service: Service, owner: Person, mine: str, theirs: str
) -> None:
    first, second = (owner.post("/matches", friendly(mine, theirs)).get_json()["id"] for _ in range(2))
    rated = service.played(owner, service.person())
    pages = [service.anonymous().get(f"/matches/{id}").text for id in (first, second, rated.match_id)]
    notices = [
        " ".join(notice.split()) for page in pages for notice in re.findall(r'class="notice">(Waiting[^<]*)<', page)
    ]

    assert notices == [
        "Waiting, number 1 in the queue: the match is next in the queue: a runner starts it when it has a free slot.",
        "Waiting, number 2 in the queue: matches ahead of it in the queue: 1.",
    ]


def test_only_organisers_have_matches_rated_or_seat_strangers(
    service: Service, owner: Person, organiser: Person, mine: str, theirs: str
) -> None:
    stranger = service.person()

    assert owner.post("/matches", friendly(mine, theirs, rated=True)).status_code == 403
    assert stranger.post("/matches", friendly(mine, theirs)).status_code == 403
    rated = organiser.post("/matches", friendly(mine, theirs, rated=True))
    assert (rated.status_code, rated.get_json()["rated"]) == (201, True)


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"game": "whist"}, {"game"}),
        ({"game": 5}, {"game"}),
        ({"bots": []}, {"bots"}),
        ({"bots": ["x"]}, {"bots[0]"}),
        ({"bots": "bot"}, {"bots"}),
        ({"bots": {"a": 1}}, {"bots"}),
        ({"options": {"rounds": "3"}}, {"options.rounds"}),
        ({"options": {"rounds": True}}, {"options.rounds"}),
        ({"options": {"rounds": 3.0}}, {"options.rounds"}),
        ({"options": {"rounds": 10**9}}, {"options.rounds"}),
        ({"options": {"rounds": [[]]}}, {"options.rounds"}),
        ({"options": {"colour": 1}}, {"options.colour"}),
        ({"options": []}, {"options"}),
        ({"rated": "yes"}, {"rated"}),
        ({"rated": 1}, {"rated"}),
        ({"time": {"budget_ms": "5"}}, {"time.budget_ms"}),
        ({"time": {"budget_ms": 100.0}}, {"time.budget_ms"}),
        ({"time": {"budget_ms": 0}}, {"time.budget_ms"}),
        ({"time": {"bank_ms": -1}}, {"time.bank_ms"}),
        ({"time": {"bank_ms": 2**53}}, {"time.bank_ms"}),
        ({"time": {"bank": 1}}, {"time.bank"}),
        ({"time": None}, {"time"}),
        ({"seed": 42}, {"seed"}),
        ({"status": "finished"}, {"status"}),
    ],
    ids=str,
)
def test_E4_a_bad_match_is_refused_with_the_field_named(
    owner: Person, mine: str, theirs: str, change: dict[str, Any], fields: set[str]
) -> None:
    answer = owner.post("/matches", {**friendly(mine, theirs), **change})

    assert answer.status_code == 422
    assert fields_of(answer) == fields
    assert owner.get("/matches").get_json()["items"] == []


def test_E4_bots_that_do_not_fit_are_refused(service: Service, owner: Person, mine: str, theirs: str) -> None:
    one_game = str(service.verified_bot(owner, "pool-nap")["id"])
    paused = str(service.verified_bot(owner)["id"])
    owner.post(f"/bots/{paused}/pause")

    def refusal(*bots: str) -> tuple[int, set[str]]:
        answer = owner.post("/matches", friendly(*bots))
        return answer.status_code, fields_of(answer) if answer.status_code == 422 else set()

    assert refusal(mine, NOBODY) == (422, {"bots[1]"})
    assert refusal(mine, mine) == (422, {"bots"})
    assert refusal(mine) == (422, {"bots"})
    assert refusal(mine, one_game) == (422, {"bots"})
    assert refusal(mine, paused) == (409, set())


def test_matches_are_found_by_filter(service: Service, owner: Person, mine: str, theirs: str) -> None:
    third = str(service.verified_bot(service.person())["id"])
    first = owner.post("/matches", friendly(mine, theirs)).get_json()["id"]
    second = owner.post("/matches", friendly(mine, third)).get_json()["id"]
    owner.post(f"/matches/{first}/cancel")

    def ids(query: str) -> list[str]:
        return [match["id"] for match in owner.get(f"/matches?{query}").get_json()["items"]]

    assert ids("") == ids("game=saint-poker") == ids(f"bot={mine}") == [second, first]
    assert ids(f"bot={third}") == [second]
    assert ids("status=cancelled") == [first]
    assert ids(f"tournament=trn_{'0' * 26}") == ids("game=pool-nap") == []
    assert fields_of(owner.get("/matches?status=lost&bot=x&tournament=y&game=z")) == {
        "status",
        "bot[0]",
        "tournament",
        "game",
    }


def test_matches_are_found_by_opponents_result_rating_and_time(
    service: Service, owner: Person, mine: str, theirs: str
) -> None:
    third = str(service.verified_bot(service.person())["id"])
    both, other = (owner.post("/matches", friendly(mine, bot)).get_json()["id"] for bot in (theirs, third))

    def ids(query: str) -> list[str]:
        answers = owner.get(f"/matches?{query}"), service.anonymous().get(f"/matches?{query}")
        found = [match["id"] for match in answers[0].get_json()["items"]]
        assert all(f"/matches/{match_id}" in answers[1].text for match_id in found)
        return found

    assert ids(f"bot={mine}&bot={theirs}") == [both]
    assert ids(f"bot={mine}") == [other, both]
    assert ids("rated=true") == ids(f"bot={mine}&result=ahead") == []
    assert ids("rated=false&created_since=2020-01-01") == [other, both]
    assert ids("created_before=2020-01-01T00:00:00%2B01:00") == []
    page = service.anonymous().get(f"/matches?bot={mine}&bot={theirs}&game=&rated=&result=&created_since=2020-01-01")
    assert page.status_code == 200
    assert page.text.count('<input type="hidden" name="bot"') == 2
    assert 'value="2020-01-01"' in page.text


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("result=ahead", "result"),
        ("result=draw&bot=BOT", "result"),
        ("bot=BOT&bot=BOT", "bot"),
        ("bot=BOT&bot=x", "bot[1]"),
        ("bot=", "bot[0]"),
        ("rated=1", "rated"),
        ("created_since=yesterday", "created_since"),
        ("created_before=2027-02-30", "created_before"),
        ("created_before=2027-01-31T18:00:00", "created_before"),
        ("created_since=9999-12-31T23:59:59-12:00", "created_since"),
    ],
)
def test_E4_a_wrong_filter_of_matches_is_named(
    service: Service, owner: Person, mine: str, query: str, field: str
) -> None:
    path = f"/matches?{query.replace('BOT', mine)}"

    assert fields_of(owner.get(path)) == {field}
    if query != "bot=":  # forms send empty fields, which mean any bot
        page = service.anonymous().get(path, headers={"Accept": "text/html"})
        assert (page.status_code, field in page.text) == (422, True)


def test_pages_of_filtered_matches_follow_one_another(service: Service, owner: Person, mine: str, theirs: str) -> None:
    made = [owner.post("/matches", friendly(mine, theirs)).get_json()["id"] for _ in range(3)]
    first = owner.get(f"/matches?bot={mine}&bot={theirs}&limit=2").get_json()
    rest = owner.get(f"/matches?bot={mine}&bot={theirs}&limit=2&cursor={first['next']}").get_json()

    assert [match["id"] for match in first["items"] + rest["items"]] == made[::-1]
    assert fields_of(owner.get(f"/matches?bot={mine}&limit=2&cursor={first['next']}")) == {"cursor"}


def test_filters_by_bots_do_not_reveal_who_plays_in_an_anonymous_tournament(
    service: Service, owner: Person, organiser: Person, mine: str, theirs: str
) -> None:
    world = World(service.database)
    match_id = world.match([mine, theirs], tournament_id=tournaments.create(world))

    def ids(person: Person, query: str) -> list[str]:
        return [match["id"] for match in person.get(f"/matches?{query}").get_json()["items"]]

    assert ids(organiser, f"bot={mine}&bot={theirs}") == [match_id]
    assert ids(owner, f"bot={mine}") == [match_id]
    assert ids(owner, f"bot={mine}&bot={theirs}") == []
    assert match_id not in service.anonymous().get(f"/matches?bot={mine}").text


def test_a_match_is_cancelled_by_the_account_that_created_it(
    service: Service, owner: Person, organiser: Person, mine: str, theirs: str
) -> None:
    match_id, other_id = (owner.post("/matches", friendly(mine, theirs)).get_json()["id"] for _ in range(2))

    refused = service.person().post(f"/matches/{match_id}/cancel")
    cancelled = owner.post(f"/matches/{match_id}/cancel")
    again = owner.post(f"/matches/{match_id}/cancel")

    assert (refused.status_code, cancelled.status_code, again.status_code) == (403, 200, 409)
    assert cancelled.get_json()["status"] == "cancelled"
    assert organiser.post(f"/matches/{other_id}/cancel").status_code == 200


def test_matches_that_share_their_cards_are_cancelled_together(
    service: Service, owner: Person, organiser: Person
) -> None:
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


@pytest.mark.parametrize(
    ("verb", "body", "field"),
    [
        ("cancel", {"reason": ""}, "reason"),
        ("cancel", {"reason": "\x1b[2J"}, "reason"),
        ("cancel", {"whole_group": 1}, "whole_group"),
        ("cancel", {"reasons": "x"}, "reasons"),
        ("void", {}, "reason"),
        ("void", {"reason": " "}, "reason"),
        ("void", {"reason": "x" * 501}, "reason"),
        ("void", {"reason": "x", "rematch": "yes"}, "rematch"),
    ],
    ids=str,
)
def test_E4_a_bad_wish_is_refused_with_the_field_named(
    service: Service, organiser: Person, verb: str, body: dict[str, Any], field: str
) -> None:
    answer = organiser.post(f"/matches/mat_{'0' * 26}/{verb}", body)

    assert (answer.status_code, fields_of(answer)) == (422, {field})


def test_the_operator_lets_a_stuck_match_go_on(service: Service, organiser: Person, admin: Person) -> None:
    match_id = World(service.database).match()
    path = f"/matches/{match_id}/retry"

    due = admin.post(path).status_code
    with service.database.write() as session:
        session.get_one(StoredMatch, match_id).status = MatchState.STUCK
    refused = organiser.post(path).status_code
    retried = admin.post(path)

    assert (due, refused, retried.status_code, retried.get_json()["status"]) == (409, 403, 200, "due")


def test_D1_the_log_opens_when_its_deal_group_is_over(service: Service, owner: Person, mine: str, theirs: str) -> None:
    world, client = World(service.database), service.anonymous()
    match_id = world.match([mine, theirs])
    path = f"{API}/matches/{match_id}/log"
    (claim,) = world.claim(match_id=match_id)

    before = client.get(path)
    world.finish(claim)
    after = client.get(path)

    assert (before.status_code, before.get_json()["code"]) == (409, "log_not_ready")
    assert after.status_code == 200
    assert verify(after.get_data().splitlines()).ok


def test_D1_a_finished_match_of_an_open_group_keeps_its_log_closed(service: Service, mine: str, theirs: str) -> None:
    world, client = World(service.database), service.anonymous()
    with service.database.write() as session:
        first = world.matched(session, [mine, theirs])
        second = world.matched(session, [theirs, mine], group=session.get_one(DealGroup, first.group_id))
    (claim,) = world.claim(match_id=first.id)
    world.finish(claim)

    assert client.get(f"{API}/matches/{first.id}").get_json()["status"] == "finished"
    assert client.get(f"{API}/matches/{first.id}/log").status_code == 409
    (claim,) = world.claim(match_id=second.id)
    world.finish(claim)
    assert client.get(f"{API}/matches/{first.id}/log").status_code == 200


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


def test_the_log_ends_with_its_reveal_and_its_signature(service: Service, owner: Person) -> None:
    match_id = service.played(owner, service.person()).match_id

    rows = [json.loads(line) for line in owner.get(f"/matches/{match_id}/log").get_data().splitlines()]

    assert [row["type"] for row in (rows[0], *rows[-3:])] == ["header", "result", "reveal", "signature"]


def test_who_plays_a_match_of_a_ladder_is_shown_from_the_pairing_on(service: Service, mine: str, theirs: str) -> None:
    match_id = World(service.database).match([mine, theirs])  # rated

    (listed,) = service.anonymous().get(f"{API}/matches?bot={mine}&bot={theirs}").get_json()["items"]
    one = service.anonymous().get(f"{API}/matches/{match_id}").get_json()

    assert [seat["bot"] for seat in one["seats"]] == [mine, theirs]
    assert [(seat["bot"], seat["name"]) for seat in listed["seats"]] == [(s["bot"], s["name"]) for s in one["seats"]]
    assert all(seat["name"] for seat in one["seats"])


def test_D13_who_plays_in_an_anonymous_tournament_is_told_when_the_match_is_over(
    service: Service, owner: Person, organiser: Person, mine: str, theirs: str
) -> None:
    world, path = World(service.database), "/matches"
    match_id = world.match([mine, theirs], tournament_id=tournaments.create(world))

    def bots(person: Person, query: str = "") -> list[list[str | None]]:
        found = person.get(f"{path}?{query}").get_json()["items"]
        return [[seat["bot"] for seat in match["seats"]] for match in found]

    during = [bots(owner), bots(owner, f"bot={mine}"), bots(owner, f"bot={theirs}"), bots(organiser, f"bot={mine}")]
    one = owner.get(f"{path}/{match_id}").get_json()["seats"]
    (claim,) = world.claim(match_id=match_id)
    world.finish(claim)

    assert during == [[[None, None]], [[None, None]], [], [[mine, theirs]]]
    assert [(seat["bot"], seat["name"], seat["version"]) for seat in one] == [(None, None, None)] * 2
    assert bots(owner) == bots(owner, f"bot={theirs}") == [[mine, theirs]]


def test_D1_nothing_of_a_running_match_is_shown(service: Service, mine: str, theirs: str) -> None:
    world = World(service.database)
    match_id = world.match([mine, theirs])
    world.claim(match_id=match_id)

    shown = service.anonymous().get(f"{API}/matches/{match_id}").get_json()

    assert all(seat["placement"] is None and seat["returns"] is None for seat in shown["seats"])
    assert (shown["group"]["reveal"], shown["group"]["entries"]) == (None, None)


def test_D3_what_is_decided_in_a_match_changes_nothing_that_is_shown(service: Service, mine: str, theirs: str) -> None:
    world, client = World(service.database), service.anonymous()
    match_id = world.match([mine, theirs])
    (claim,) = world.claim(match_id=match_id)
    match = world.resumed(match_id)
    paths = [f"{API}/matches/{match_id}", f"{API}/matches", f"{API}/matches/{match_id}/log", f"{API}/ladders"]

    def looks() -> list[tuple[int, bytes, str | None]]:
        answers = [client.get(path) for path in paths]
        return [
            (answer.status_code, re.sub(rb"req_[0-9a-f]+", b"", answer.get_data()), answer.headers.get("ETag"))
            for answer in answers
        ]

    before = looks()
    for request in match.requests():
        match.receive(Answer(request.seat, choice=0))
    with service.database.write() as session:
        record_batch(session, [MatchUpdate(match_id, claim.epoch, 0, match.lines)])

    assert looks() == before


def test_D11_a_cancelled_match_reveals_its_seed(service: Service, owner: Person, mine: str, theirs: str) -> None:
    match_id = owner.post("/matches", friendly(mine, theirs)).get_json()["id"]

    group = owner.post(f"/matches/{match_id}/cancel").get_json()["group"]

    seed = bytes.fromhex(group["reveal"]["seed"])
    assert hashlib.sha256(seed + group["id"].encode()).hexdigest() == group["commitment"]
    assert group["entries"] == [mine, theirs]
    assert owner.get(f"/matches/{match_id}/log").status_code == 404


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
