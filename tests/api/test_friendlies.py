"""Friendlies over HTTP: limits on number and time, and who may cancel them."""

from tests.api.conftest import Person, Service, friendly
from tests.api.tournaments import entered
from tests.database.tournaments import answer_handshakes, go_on
from tests.database.world import World


def test_E21_an_owner_has_ten_open_friendlies_and_is_told_what_to_do(
    service: Service, owner: Person, organiser: Person, mine: str, theirs: str
) -> None:
    made = [owner.post("/matches", friendly(mine, theirs)) for _ in range(10)]

    refused = owner.post("/matches", friendly(mine, theirs)).get_json()

    assert {answer.status_code for answer in made} == {201}
    assert (refused["status"], refused["code"]) == (409, "quota_exceeded")
    assert refused["detail"] == (
        "You have 10 open friendlies; the limit is 10. Wait until one is over, or cancel one with "
        "POST /api/v1/matches/ID/cancel."
    )
    assert organiser.post("/matches", friendly(mine, theirs)).status_code == 201
    owner.post(f"/matches/{made[0].get_json()['id']}/cancel")
    assert owner.post("/matches", friendly(mine, theirs)).status_code == 201


def test_E21_a_friendly_of_an_owner_grants_at_most_5_s_a_decision_and_60_s_a_match(
    service: Service, owner: Person, organiser: Person, mine: str, theirs: str
) -> None:
    longest, longer = {"budget_ms": 5_000, "bank_ms": 60_000}, {"budget_ms": 5_001, "bank_ms": 60_001}

    refused = owner.post("/matches", friendly(mine, theirs, time=longer))

    assert refused.status_code == 422
    assert {error["field"]: error["message"] for error in refused.get_json()["errors"]} == {
        "time.budget_ms": "Must be at most 5000 ms in a friendly. Organisers may set more.",
        "time.bank_ms": "Must be at most 60000 ms in a friendly. Organisers may set more.",
    }
    assert owner.post("/matches", friendly(mine, theirs, time=longest)).status_code == 201
    assert organiser.post("/matches", friendly(mine, theirs, time=longer)).status_code == 201
    event = {"name": "Slow cup", "game": "saint-poker", "seats": 2, "time": longer}
    assert organiser.post("/tournaments", event).status_code == 201


def test_E21_a_friendly_says_how_long_it_may_last_while_others_wait(
    service: Service, owner: Person, organiser: Person, mine: str, theirs: str
) -> None:
    slow = {"budget_ms": 5_000, "bank_ms": 0}

    arranged = [
        owner.post("/matches", friendly(mine, theirs)).get_json(),
        owner.post("/matches", friendly(mine, theirs, time=slow)).get_json(),
        organiser.post("/matches", friendly(mine, theirs, rated=True)).get_json(),
    ]

    assert [match["may_last_s"] for match in arranged] == [900, 900, None]  # Saint Poker: 3 x 2 x 30 x 5 s at most


def test_E21_the_owner_of_any_bot_in_a_friendly_may_cancel_it_but_nothing_else(
    service: Service, owner: Person, organiser: Person, mine: str, theirs: str
) -> None:
    third, stranger = service.person(), service.person()
    seats = [mine, theirs, str(service.verified_bot(third)["id"])]
    path = f"/matches/{owner.post('/matches', friendly(*seats)).get_json()['id']}/cancel"
    of_organiser = organiser.post("/matches", friendly(*seats, rated=True)).get_json()
    event, _ = entered(service, organiser, 1, rated=False)
    third.post(f"/tournaments/{event}/enter", {"bot": seats[2]})
    organiser.post(f"/tournaments/{event}/start")
    answer_handshakes(service.database)
    go_on(service.database, event)
    (of_event,) = organiser.get(f"/matches?tournament={event}").get_json()["items"]

    assert stranger.post(path).status_code == 403
    assert third.post(f"/matches/{of_organiser['id']}/cancel").status_code == 403
    assert third.post(f"/matches/{of_event['id']}/cancel").status_code == 403
    assert third.post(path, {"reason": "not asked"}).get_json()["reason"] == "not asked"


def test_E21_pausing_a_bot_cancels_its_open_friendlies_and_nothing_else(
    service: Service, owner: Person, organiser: Person, mine: str, theirs: str
) -> None:
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
