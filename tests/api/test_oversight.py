"""Operators and organisers: private tournaments, co-organisers, roles, suspended accounts, and the list of acts."""

import csv
import io
import json
from typing import Any

import pytest
from sqlalchemy import delete, select, update
from sqlalchemy.exc import DBAPIError

from referee.accounts.oversight_tables import Act
from referee.bots.tables import Bot
from tests.api.conftest import API, Person, Service, Start, fields_of
from tests.api.tournaments import CUP, drafted, entered, join, opened, started

PRIVATE = {**CUP, "rated": False, "listed": False}


def acts_of(admin: Person, query: str = "") -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = admin.get(f"/acts?{query}").get_json()["items"]
    return items


def test_anyone_runs_a_private_tournament_of_their_own(service: Service, owner: Person, admin: Person) -> None:
    made = owner.post("/tournaments", PRIVATE)
    path = f"/tournaments/{made.get_json()['id']}"
    guest = service.person()
    bots = [str(service.verified_bot(who)["id"]) for who in (owner, guest)]

    opened_ = owner.post(f"{path}/open").status_code
    foreign = owner.post(f"{path}/enter", {"bot": bots[1]})
    entries = [owner.post(f"{path}/enter", {"bot": bots[0]}), guest.post(f"{path}/enter", {"bot": bots[1]})]
    start = owner.post(f"{path}/start").status_code

    assert (made.status_code, made.get_json()["max_entries"]) == (201, 50)
    assert (opened_, [entry.status_code for entry in entries], start) == (200, [200, 200], 200)
    assert (foreign.status_code, "your own bots only" in foreign.get_json()["detail"]) == (403, True)
    assert [act["kind"] for act in acts_of(admin)][::-1] == [
        "tournament.drafted",
        "tournament.opened",
        "tournament.started",
    ]


@pytest.mark.parametrize(
    ("changes", "status", "field"),
    [
        ({"rated": True, "listed": True}, 403, ""),
        ({"listed": True}, 403, ""),
        ({"max_entries": 51}, 422, "max_entries"),
        ({"cycles": 3}, 422, "cycles"),
        ({"time": {"budget_ms": 5001}}, 422, "time.budget_ms"),
        ({"time": {"bank_ms": 60_001}}, 422, "time.bank_ms"),
    ],
)
def test_E21_private_tournaments_are_small_and_stay_private(
    owner: Person, changes: dict[str, Any], status: int, field: str
) -> None:
    path = f"/tournaments/{owner.post('/tournaments', PRIVATE).get_json()['id']}"

    answers = [owner.post("/tournaments", {**PRIVATE, **changes})]
    answers.append(owner.ask("PATCH", path, {"If-Match": "*"}, json=changes))

    assert [answer.status_code for answer in answers] == [status] * 2
    if field:
        assert [fields_of(answer) for answer in answers] == [{field}] * 2
    else:
        assert "ask for the role" in answers[0].get_json()["detail"]


def test_E21_an_account_has_few_private_tournaments(start: Start, owner: Person) -> None:
    answers = [owner.post("/tournaments", PRIVATE) for _ in range(4)]
    closed = start(private_tournaments=0)
    none = Person(closed.app.test_client(), owner.id, owner.token).post("/tournaments", PRIVATE)

    assert [answer.status_code for answer in answers] == [201, 201, 201, 409]
    assert answers[-1].get_json()["code"] == "quota_exceeded"
    assert (none.status_code, "Only organisers" in none.get_json()["detail"]) == (403, True)


def test_the_role_of_an_organiser_is_asked_for_and_given(service: Service, owner: Person, admin: Person) -> None:
    other = service.person()
    asked = owner.post("/accounts/me/organiser-request", {"text": "A cup for my class"})
    other.post("/accounts/me/organiser-request", {"text": "Me too"})
    waiting = admin.get("/organiser-requests").get_json()["items"]

    given = admin.post(f"/accounts/{owner.id}/role", {"role": "organiser", "reason": "A teacher"})
    refused = admin.post(f"/organiser-requests/{other.id}/refuse", {"reason": "Not now."})
    again = other.post("/accounts/me/organiser-request", {"text": "Please"})
    seen = other.get("/accounts/me/organiser-request").get_json()["items"]

    assert (asked.status_code, [item["account"] for item in waiting]) == (201, [owner.id, other.id])
    assert (given.status_code, given.get_json()["role"], refused.status_code) == (200, "organiser", 200)
    assert owner.post("/tournaments", CUP).status_code == 201
    assert (again.status_code, "Not now." in again.get_json()["detail"]) == (409, True)
    assert seen[0]["reason"] == "Not now."
    assert admin.get("/organiser-requests").get_json()["items"] == []
    for path, body in (
        (f"/accounts/{owner.id}/role", {"role": "organiser"}),
        (f"/organiser-requests/{owner.id}/refuse", {}),
    ):
        assert owner.post(path, body).status_code == 403
    assert admin.post(f"/accounts/{owner.id}/role", {"role": "admin"}).status_code == 422
    assert [(act["kind"], act["reason"]) for act in acts_of(admin, f"account={admin.id}")] == [
        ("account.role_refused", "Not now."),
        ("account.role_changed", "A teacher"),
    ]


def test_co_organisers_run_a_tournament_together(service: Service, organiser: Person, owner: Person) -> None:
    tournament_id, _ = entered(service, organiser, 3)
    path = f"/tournaments/{tournament_id}"

    before = owner.post(f"{path}/start").status_code
    join(organiser, owner, path)
    twice = organiser.post(f"{path}/organisers", {"account": owner.id}).status_code
    listed = owner.get(f"/tournaments?organiser={owner.id}").get_json()["items"]
    start = owner.post(f"{path}/start").status_code
    page = service.anonymous().get(path).get_data(as_text=True)
    removed = organiser.ask("DELETE", f"{path}/organisers/{owner.id}").status_code

    assert [before, twice, start, removed] == [403, 409, 200, 204]
    assert [item["id"] for item in listed] == [tournament_id]
    assert f'data-organiser-id="{organiser.id} {owner.id}"' in page
    assert owner.post(f"{path}/pause").status_code == 403


def test_E6_a_suspended_account_does_nothing_and_its_bots_are_paused(
    service: Service, owner: Person, admin: Person, mine: str
) -> None:
    suspended = admin.post(f"/accounts/{owner.id}/suspend", {"reason": "Spam."})
    answers = [owner.get("/accounts/me"), owner.post(f"/bots/{mine}/resume"), owner.get("/bots")]
    paused = service.record_of(mine)
    again = admin.post(f"/accounts/{owner.id}/suspend", {"reason": "Spam."}).status_code
    itself = admin.post(f"/accounts/{admin.id}/suspend", {"reason": "Oops."}).status_code
    restored = admin.post(f"/accounts/{owner.id}/restore", {"reason": "Sorry."})

    assert (suspended.status_code, suspended.get_json()["suspension_reason"]) == (200, "Spam.")
    assert [(one.status_code, one.get_json()["code"]) for one in answers] == [(403, "suspended")] * 3
    assert "Spam." in answers[0].get_json()["detail"]
    assert (paused.status, again, itself) == ("paused", 409, 409)
    assert restored.get_json()["suspended_at"] is None
    assert owner.post(f"/bots/{mine}/resume").status_code == 200
    assert owner.post(f"/accounts/{admin.id}/suspend", {"reason": "x"}).status_code == 403


def test_an_account_is_renamed_with_a_reason(service: Service, owner: Person, admin: Person, mine: str) -> None:
    renamed = admin.post(f"/accounts/{owner.id}/rename", {"name": "Fair name", "reason": "The old one insulted."})
    taken = admin.post(f"/accounts/{service.person().id}/rename", {"name": "Fair-name", "reason": "x"})
    without = admin.post(f"/accounts/{owner.id}/rename", {"name": "Other name"})
    found = service.anonymous().get(f"{API}/search?q=fair").get_json()["items"]
    listed = admin.get("/accounts?name=FAIR").get_json()["items"]

    assert renamed.get_json()["name"] == "Fair name"
    assert (taken.status_code, without.status_code, fields_of(without)) == (409, 422, {"reason"})
    assert [item["id"] for item in found] == [owner.id]
    assert [item["id"] for item in listed] == [owner.id]
    assert owner.get("/accounts").status_code == 403
    (act,) = acts_of(admin, "kind=account.renamed")
    assert act["details"]["name_after"] == "Fair name"
    with service.database.read() as session:
        assert session.scalars(select(Bot.owner_id).where(Bot.id == mine)).one() == owner.id


def test_F15_the_list_says_who_did_what_and_cannot_be_changed(
    service: Service, organiser: Person, admin: Person, owner: Person
) -> None:
    tournament_id = started(service, organiser)
    path = f"/tournaments/{tournament_id}"
    organiser.post(f"{path}/pause")
    refused = organiser.post(f"{path}/pause").status_code
    organiser.post(f"{path}/cancel", {"reason": "=HYPERLINK(1)"})

    own = acts_of(organiser, f"tournament={tournament_id}")
    everything = organiser.get("/acts").status_code
    foreign = owner.get(f"/acts?tournament={tournament_id}").status_code
    table = list(csv.DictReader(io.StringIO(admin.get("/acts.csv").get_data(as_text=True))))
    lines = [json.loads(line) for line in admin.get("/acts.ndjson").get_data(as_text=True).splitlines()]

    assert (refused, everything, foreign) == (409, 403, 403)
    kinds = ["drafted", "opened", *["entered"] * 3, "started", "paused", "cancelled"]
    assert [act["kind"].partition(".")[2] for act in own][::-1] == kinds
    assert {act["account"] for act in own} == {organiser.id}
    assert [row["kind"] for row in table] == [line["kind"] for line in lines] == [act["kind"] for act in own][::-1]
    assert (table[-1]["reason"], lines[-1]["reason"]) == ("'=HYPERLINK(1)", "=HYPERLINK(1)")
    for statement in (update(Act).values(reason="other"), delete(Act)):
        with pytest.raises(DBAPIError, match="append-only"), service.database.write() as session:
            session.execute(statement)
    assert acts_of(organiser, f"tournament={tournament_id}") == own


def test_acts_are_paged(organiser: Person, admin: Person) -> None:
    made = [drafted(organiser) for _ in range(3)] + [opened(organiser)]

    first = admin.get("/acts?limit=3").get_json()
    rest = admin.get(f"/acts?limit=3&cursor={first['next']}").get_json()

    assert [item["object"] for item in first["items"] + rest["items"]] == [made[3], made[3], made[2], made[1], made[0]]
