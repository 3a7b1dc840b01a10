"""Who may challenge a bot, over HTTP: rules, listed accounts, requests, refusals in sentences."""

import pytest

from tests.api.conftest import Person, Service, fields_of, friendly
from tests.api.tournaments import started


@pytest.fixture
def rival(service: Service) -> Person:
    return service.person()


@pytest.fixture
def rivals_bot(service: Service, rival: Person) -> str:
    return str(service.verified_bot(rival)["id"])


def test_a_bot_without_rules_plays_with_anyone(owner: Person, mine: str, theirs: str) -> None:
    assert owner.get(f"/bots/{theirs}/friendlies").get_json() == {
        "bot": theirs,
        "challengers": "anyone",
        "text": "Anyone may challenge it.",
        "obstacle": None,
        "may_request": False,
    }
    assert owner.post("/matches", friendly(mine, theirs)).status_code == 201


def test_only_the_owner_changes_the_rules(owner: Person, rival: Person, mine: str) -> None:
    changed = owner.ask("PATCH", f"/bots/{mine}/friendlies", json={"challengers": "listed"})

    assert rival.ask("PATCH", f"/bots/{mine}/friendlies", json={"challengers": "anyone"}).status_code == 404
    assert changed.get_json()["challengers"] == "listed"
    assert changed.get_json()["text"] == "Only accounts that its owner has accepted may challenge it."
    page = rival.client.get(f"/bots/{mine}").get_data(as_text=True)
    assert "Only accounts that its owner has accepted may challenge it." in page


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({}, "challengers"),
        ({"challengers": "friends"}, "challengers"),
    ],
    ids=str,
)
def test_bad_rules_are_refused_with_the_field(owner: Person, mine: str, wrong: dict[str, object], field: str) -> None:
    answer = owner.ask("PATCH", f"/bots/{mine}/friendlies", json=wrong)

    assert answer.status_code == 422
    assert field in fields_of(answer)


def test_a_refusal_says_why_and_rated_matches_are_not_refused(
    service: Service, owner: Person, organiser: Person, rival: Person, mine: str, rivals_bot: str
) -> None:
    rival.ask("PUT", f"/challengers/{owner.id}", json={"verdict": "blocked"})
    blocked = owner.post("/matches", friendly(mine, rivals_bot))
    rival.ask("DELETE", f"/challengers/{owner.id}")
    rival.ask("PATCH", f"/bots/{rivals_bot}/friendlies", json={"challengers": "nobody"})
    refused = owner.post("/matches", friendly(mine, rivals_bot))
    of_organiser = organiser.post("/matches", friendly(mine, rivals_bot))

    for answer, sentence in (
        (blocked, "does not play friendlies with your account."),
        (refused, "has switched friendlies with other accounts off."),
        (of_organiser, "has switched friendlies with other accounts off."),
    ):
        assert (answer.status_code, answer.get_json()["code"]) == (403, "forbidden")
        assert answer.get_json()["detail"].endswith(sentence)
    assert owner.get(f"/bots/{rivals_bot}/friendlies").get_json()["obstacle"] == refused.get_json()["detail"]
    assert organiser.post("/matches", friendly(mine, rivals_bot, rated=True)).status_code == 201
    assert started(service, organiser, 2)


def test_listed_accounts_are_shown_to_their_owner(owner: Person, rival: Person, mine: str, rivals_bot: str) -> None:
    made = owner.ask("PUT", f"/challengers/{rival.id}", json={"verdict": "accepted"})
    again = owner.ask("PUT", f"/challengers/{rival.id}", json={"verdict": "blocked"})

    assert (made.status_code, again.get_json()["verdict"]) == (200, "blocked")
    assert [entry["account"] for entry in owner.get("/challengers").get_json()["items"]] == [rival.id]
    assert rival.get("/challengers").get_json()["items"] == []
    assert owner.ask("PUT", f"/challengers/acc_{'0' * 26}", json={"verdict": "accepted"}).status_code == 404
    assert owner.ask("PUT", f"/challengers/{rival.id}", json={"verdict": "hated"}).status_code == 422


def test_a_bot_on_request_is_played_when_its_owner_accepts(
    owner: Person, rival: Person, mine: str, rivals_bot: str
) -> None:
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


def test_requests_obey_the_same_limits_as_friendlies(
    service: Service, owner: Person, rival: Person, mine: str, rivals_bot: str
) -> None:
    rival.ask("PATCH", f"/bots/{rivals_bot}/friendlies", json={"challengers": "on_request"})
    stranger = service.person()

    foreign = stranger.post("/friendly-requests", friendly(mine, rivals_bot))
    slow = owner.post("/friendly-requests", friendly(mine, rivals_bot, time={"budget_ms": 5_001, "bank_ms": 0}))
    rated = owner.post("/friendly-requests", friendly(mine, rivals_bot, rated=True))

    assert (foreign.status_code, slow.status_code, rated.status_code) == (403, 422, 422)
    assert fields_of(slow) == {"time.budget_ms"}
    unknown = f"/friendly-requests/frq_{'0' * 26}"
    assert {owner.post(f"{unknown}/{act}").status_code for act in ("accept", "decline", "withdraw")} == {404}
