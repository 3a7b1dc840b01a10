"""Friendlies over HTTP: limits, who cancels them, who may challenge a bot, requests, refusals in sentences."""

import pytest

from referee.matches.queue import quotas
from tests.api.conftest import Person, Service, fields_of, friendly
from tests.api.tournaments import entered
from tests.database.tournaments import answer_handshakes, go_on
from tests.database.world import World


def test_E21_an_owner_has_a_limited_number_of_open_friendlies(
    owner: Person, organiser: Person, mine: str, theirs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "MAX_OPEN_FRIENDLIES", 2)
    made = [owner.post("/matches", friendly(mine, theirs)) for _ in range(2)]

    refused = owner.post("/matches", friendly(mine, theirs)).get_json()

    assert {answer.status_code for answer in made} == {201}
    assert (refused["status"], refused["code"]) == (409, "quota_exceeded")
    assert refused["detail"] == (
        "You have 2 open friendlies; the limit is 2. Wait until one is over, or cancel one with "
        "POST /api/v1/matches/ID/cancel."
    )
    assert organiser.post("/matches", friendly(mine, theirs)).status_code == 201
    owner.post(f"/matches/{made[0].get_json()['id']}/cancel")
    assert owner.post("/matches", friendly(mine, theirs)).status_code == 201


def test_E21_a_friendly_has_limited_time(owner: Person, organiser: Person, mine: str, theirs: str) -> None:
    longest, longer = {"budget_ms": 5_000, "bank_ms": 60_000}, {"budget_ms": 5_001, "bank_ms": 60_001}

    refused = owner.post("/matches", friendly(mine, theirs, time=longer))
    arranged = [
        owner.post("/matches", friendly(mine, theirs)),
        owner.post("/matches", friendly(mine, theirs, time=longest | {"bank_ms": 0})),
        owner.post("/matches", friendly(mine, theirs, time=longest)),
        organiser.post("/matches", friendly(mine, theirs, time=longer)),
        organiser.post("/matches", friendly(mine, theirs, rated=True)),
    ]

    assert refused.status_code == 422
    assert {error["field"]: error["message"] for error in refused.get_json()["errors"]} == {
        "time.budget_ms": "Must be at most 5000 ms in a friendly. Organisers may set more.",
        "time.bank_ms": "Must be at most 60000 ms in a friendly. Organisers may set more.",
    }
    may_last_s = [answer.get_json()["may_last_s"] for answer in arranged]
    assert may_last_s[:2] == [900, 900]  # Saint Poker: 3 x 2 x 30 x 5 s at most
    assert [answer.status_code for answer in arranged] == [201] * 5
    assert may_last_s[4] is None
    event = {"name": "Slow cup", "game": "saint-poker", "seats": 2, "time": longer}
    assert organiser.post("/tournaments", event).status_code == 201


def test_E21_owners_cancel_friendlies_only(service: Service, owner: Person, organiser: Person, mine: str) -> None:
    third, stranger = service.person(), service.person()
    bot = str(service.verified_bot(third)["id"])
    path = f"/matches/{owner.post('/matches', friendly(mine, bot)).get_json()['id']}/cancel"
    of_organiser = organiser.post("/matches", friendly(mine, bot, rated=True)).get_json()
    event, _ = entered(service, organiser, 1, rated=False)
    third.post(f"/tournaments/{event}/enter", {"bot": bot})
    organiser.post(f"/tournaments/{event}/start")
    answer_handshakes(service.database)
    go_on(service.database, event)
    (of_event,) = organiser.get(f"/matches?tournament={event}").get_json()["items"]

    assert stranger.post(path).status_code == 403
    assert [third.post(f"/matches/{one['id']}/cancel").status_code for one in (of_organiser, of_event)] == [403, 403]
    assert third.post(path, {"reason": "not asked"}).get_json()["reason"] == "not asked"


def test_E21_pauses_end_friendlies(service: Service, owner: Person, organiser: Person, mine: str, theirs: str) -> None:
    world, victim = World(service.database), service.person()
    bot = str(service.verified_bot(victim)["id"])
    due, running = (owner.post("/matches", friendly(mine, bot)).get_json()["id"] for _ in range(2))
    world.claim(match_id=running)
    rated = organiser.post("/matches", friendly(mine, bot, rated=True)).get_json()["id"]
    world.claim(match_id=rated)
    elsewhere = owner.post("/matches", friendly(mine, theirs)).get_json()["id"]

    paused = victim.post(f"/bots/{bot}/pause")

    matches = {one: owner.get(f"/matches/{one}").get_json() for one in (due, running, rated, elsewhere)}
    assert paused.get_json()["status"] == "paused"
    assert [(one["status"], one["reason"]) for one in matches.values()] == [
        *[("cancelled", "bot_paused")] * 2,
        ("running", None),
        ("due", None),
    ]
    assert matches[running]["group"]["state"] == "revealed"
    assert "a bot in it was paused" in owner.client.get(f"/matches/{running}").get_data(as_text=True)


@pytest.fixture
def rival(service: Service) -> Person:
    return service.person()


@pytest.fixture
def rivals_bot(service: Service, rival: Person) -> str:
    return str(service.verified_bot(rival)["id"])


def test_only_the_owner_changes_the_rules(owner: Person, rival: Person, mine: str, theirs: str) -> None:
    without = owner.get(f"/bots/{theirs}/friendlies").get_json()
    by_another = rival.ask("PATCH", f"/bots/{mine}/friendlies", json={"challengers": "anyone"})
    changed = owner.ask("PATCH", f"/bots/{mine}/friendlies", json={"challengers": "listed"}).get_json()

    text = {"challengers": "anyone", "text": "Anyone may challenge it."}
    assert without == {"bot": theirs, **text, "obstacle": None, "may_request": False}
    assert by_another.status_code == 404
    assert changed["challengers"] == "listed"
    assert changed["text"] == "Only accounts that its owner has accepted may challenge it."
    assert changed["text"] in rival.client.get(f"/bots/{mine}").text
    for wrong in ({}, {"challengers": "friends"}):
        answer = owner.ask("PATCH", f"/bots/{mine}/friendlies", json=wrong)
        assert (answer.status_code, fields_of(answer)) == (422, {"challengers"})


def test_a_refusal_of_a_friendly_says_why(
    service: Service, owner: Person, organiser: Person, rival: Person, mine: str, rivals_bot: str
) -> None:
    rival.ask("PUT", f"/challengers/{owner.id}", json={"verdict": "blocked"})
    blocked = owner.post("/matches", friendly(mine, rivals_bot))
    rival.ask("DELETE", f"/challengers/{owner.id}")
    rival.ask("PATCH", f"/bots/{rivals_bot}/friendlies", json={"challengers": "nobody"})
    refused, of_organiser = (person.post("/matches", friendly(mine, rivals_bot)) for person in (owner, organiser))

    switched_off = "has switched friendlies with other accounts off."
    for answer, sentence in (
        *((blocked, "does not play friendlies with your account."), (refused, switched_off)),
        (of_organiser, switched_off),
    ):
        assert (answer.status_code, answer.get_json()["code"]) == (403, "forbidden")
        assert answer.get_json()["detail"].endswith(sentence)
    assert owner.get(f"/bots/{rivals_bot}/friendlies").get_json()["obstacle"] == refused.get_json()["detail"]
    assert organiser.post("/matches", friendly(mine, rivals_bot, rated=True)).status_code == 201


def test_listed_accounts_are_shown_to_their_owner(owner: Person, rival: Person, mine: str, rivals_bot: str) -> None:
    made = owner.ask("PUT", f"/challengers/{rival.id}", json={"verdict": "accepted"})
    again = owner.ask("PUT", f"/challengers/{rival.id}", json={"verdict": "blocked"})

    assert (made.status_code, again.get_json()["verdict"]) == (200, "blocked")
    assert [entry["account"] for entry in owner.get("/challengers").get_json()["items"]] == [rival.id]
    assert rival.get("/challengers").get_json()["items"] == []
    assert owner.ask("PUT", f"/challengers/acc_{'0' * 26}", json={"verdict": "accepted"}).status_code == 404
    assert owner.ask("PUT", f"/challengers/{rival.id}", json={"verdict": "hated"}).status_code == 422


def test_a_bot_is_played_when_its_owner_accepts(owner: Person, rival: Person, mine: str, rivals_bot: str) -> None:
    rival.ask("PATCH", f"/bots/{rivals_bot}/friendlies", json={"challengers": "on_request"})

    refused = owner.post("/matches", friendly(mine, rivals_bot))
    asked = owner.post("/friendly-requests", friendly(mine, rivals_bot))
    path = f"/friendly-requests/{asked.get_json()['id']}"
    seen = rival.get("/friendly-requests?pending=true").get_json()["items"]
    accepted = rival.post(f"{path}/accept").get_json()

    assert (refused.status_code, refused.get_json()["code"]) == (409, "needs_acceptance")
    assert "POST /api/v1/friendly-requests" in refused.get_json()["detail"]
    assert (asked.status_code, asked.get_json()["state"], asked.get_json()["waits_for_you"]) == (201, "pending", False)
    assert [(request["waits_for_you"], request["created_by"]) for request in seen] == [(True, owner.id)]
    assert accepted["state"] == "accepted"
    assert owner.get(f"/matches/{accepted['match']}").get_json()["status"] == "due"
    assert rival.post(f"{path}/decline").status_code == 409


def test_requests_have_such_limits(service: Service, owner: Person, rival: Person, mine: str, rivals_bot: str) -> None:
    rival.ask("PATCH", f"/bots/{rivals_bot}/friendlies", json={"challengers": "on_request"})
    stranger = service.person()

    foreign = stranger.post("/friendly-requests", friendly(mine, rivals_bot))
    slow = owner.post("/friendly-requests", friendly(mine, rivals_bot, time={"budget_ms": 5_001, "bank_ms": 0}))
    rated = owner.post("/friendly-requests", friendly(mine, rivals_bot, rated=True))

    assert (foreign.status_code, slow.status_code, rated.status_code) == (403, 422, 422)
    assert fields_of(slow) == {"time.budget_ms"}
    unknown = f"/friendly-requests/frq_{'0' * 26}"
    assert {owner.post(f"{unknown}/{act}").status_code for act in ("accept", "decline", "withdraw")} == {404}
