"""Operators and organisers: private tournaments, co-organisers, roles, suspended accounts, and the list of acts."""

import csv
import io
from typing import Any

import pytest
from sqlalchemy import delete, update
from sqlalchemy.exc import DBAPIError
from werkzeug.test import TestResponse

from referee.accounts.entry_consent import EntryConsent
from referee.accounts.oversight_tables import Act
from tests.api.conftest import Person, Service, Start, fields_of
from tests.api.tournaments import CUP, drafted, entered, join, opened
from tests.database.tournaments import answer_handshakes, go_on

PRIVATE: dict[str, Any] = {**CUP, "rated": False, "listed": False}


def acts_of(admin: Person, query: str = "") -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = admin.get(f"/acts?{query}").get_json()["items"]
    return items


def test_anyone_runs_a_private_tournament_of_their_own(service: Service, owner: Person, admin: Person) -> None:
    made = owner.post("/tournaments", PRIVATE)
    path, guest = f"/tournaments/{made.get_json()['id']}", service.person()
    ours, theirs = ({"bot": service.verified_bot(who)["id"]} for who in (owner, guest))

    opened_ = owner.post(f"{path}/open")
    foreign = owner.post(f"{path}/enter", theirs)
    answers = [owner.post(f"{path}/enter", ours), guest.post(f"{path}/enter", theirs), owner.post(f"{path}/start")]

    assert (made.status_code, made.get_json()["max_entries"]) == (201, 50)
    assert [answer.status_code for answer in (opened_, *answers)] == [200] * 4
    assert (foreign.status_code, "your own bots only" in foreign.get_json()["detail"]) == (403, True)
    kinds = [act["kind"] for act in acts_of(admin)][::-1]
    assert kinds == ["tournament.drafted", "tournament.opened", "tournament.started"]


def test_E21_private_tournaments_are_small_and_few(start: Start, owner: Person) -> None:
    path = f"/tournaments/{drafted(owner, **PRIVATE)}"
    cases: list[tuple[dict[str, Any], str]] = [
        *[({"rated": True, "listed": True}, ""), ({"listed": True}, "")],
        *[({"max_entries": 51}, "max_entries"), ({"cycles": 3}, "cycles")],
        *[({"time": {name: most}}, f"time.{name}") for name, most in (("budget_ms", 5001), ("bank_ms", 60_001))],
    ]
    for changes, field in cases:
        new = owner.post("/tournaments", {**PRIVATE, **changes})
        changed = owner.ask("PATCH", path, {"If-Match": "*"}, json=changes)
        assert new.status_code == changed.status_code == (422 if field else 403)
        if field:
            assert fields_of(new) == fields_of(changed) == {field}
        else:
            assert "ask for the role" in new.get_json()["detail"]

    answers = [owner.post("/tournaments", PRIVATE) for _ in range(3)]
    closed = start(private_tournaments=0)
    none = Person(closed.app.test_client(), owner.id, owner.token).post("/tournaments", PRIVATE)

    assert [answer.status_code for answer in answers] == [201, 201, 409]
    assert answers[-1].get_json()["code"] == "quota_exceeded"
    assert (none.status_code, "Only organisers" in none.get_json()["detail"]) == (403, True)


def test_the_role_of_an_organiser_is_asked_for_and_given(service: Service, owner: Person, admin: Person) -> None:
    other, request = service.person(), "/accounts/me/organiser-request"
    asked = owner.post(request, {"text": "A cup for my class"})
    other.post(request, {"text": "Me too"})
    waiting = admin.get("/organiser-requests").get_json()["items"]

    given = admin.post(f"/accounts/{owner.id}/role", {"role": "organiser", "reason": "A teacher"})
    refused = admin.post(f"/organiser-requests/{other.id}/refuse", {"reason": "Not now."})
    again = other.post(request, {"text": "Please"})

    assert (asked.status_code, [item["account"] for item in waiting]) == (201, [owner.id, other.id])
    assert (given.status_code, given.get_json()["role"], refused.status_code) == (200, "organiser", 200)
    assert owner.post("/tournaments", CUP).status_code == 201
    assert (again.status_code, "Not now." in again.get_json()["detail"]) == (409, True)
    assert other.get(request).get_json()["items"][0]["reason"] == "Not now."
    assert admin.get("/organiser-requests").get_json()["items"] == []
    assert owner.post(f"/accounts/{owner.id}/role", {"role": "organiser"}).status_code == 403
    assert owner.post(f"/organiser-requests/{owner.id}/refuse", {}).status_code == 403
    assert admin.post(f"/accounts/{owner.id}/role", {"role": "admin"}).status_code == 422
    acts = [(act["kind"], act["reason"]) for act in acts_of(admin, f"account={admin.id}")]
    assert acts == [("account.role_refused", "Not now."), ("account.role_changed", "A teacher")]


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


def test_E6_a_suspended_account_does_nothing(service: Service, owner: Person, admin: Person, mine: str) -> None:
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
    def rename(account: str, **body: str) -> TestResponse:
        return admin.post(f"/accounts/{account}/rename", body)

    renamed = rename(owner.id, name="Fair name", reason="The old one insulted.")
    taken = rename(service.person().id, name="Fair-name", reason="x")
    without = rename(owner.id, name="Other name")
    listed = admin.get("/accounts?name=FAIR").get_json()["items"]

    assert renamed.get_json()["name"] == "Fair name"
    assert (taken.status_code, without.status_code, fields_of(without)) == (409, 422, {"reason"})
    assert [item["id"] for item in listed] == [owner.id]
    assert owner.get("/accounts").status_code == 403
    (act,) = acts_of(admin, "kind=account.renamed")
    assert act["details"]["name_after"] == "Fair name"
    assert service.record_of(mine).owner_id == owner.id


def test_F15_acts_are_listed_and_kept(service: Service, organiser: Person, admin: Person, owner: Person) -> None:
    tournament_id, _ = entered(service, organiser, 2)
    path, willing = f"/tournaments/{tournament_id}", service.person(consent=EntryConsent.EVERYBODY)
    organiser.post(f"{path}/enter", {"bot": service.verified_bot(willing)["id"]})
    organiser.post(f"{path}/start")
    answer_handshakes(service.database)
    go_on(service.database, tournament_id)
    organiser.post(f"{path}/pause")
    refused = organiser.post(f"{path}/pause").status_code
    organiser.post(f"{path}/cancel", {"reason": "=HYPERLINK(1)"})

    own = acts_of(organiser, f"tournament={tournament_id}")
    everything = organiser.get("/acts").status_code
    foreign = owner.get(f"/acts?tournament={tournament_id}").status_code
    table = list(csv.DictReader(io.StringIO(admin.get("/acts.csv").get_data(as_text=True))))

    assert (refused, everything, foreign) == (409, 403, 403)
    kinds = ["drafted", "opened", "entered", "started", "paused", "cancelled"]
    assert [act["kind"].partition(".")[2] for act in own][::-1] == kinds
    assert {act["account"] for act in own} == {organiser.id}
    assert [row["kind"] for row in table] == [act["kind"] for act in own][::-1]
    assert (table[-1]["reason"], own[0]["reason"]) == ("'=HYPERLINK(1)", "=HYPERLINK(1)")
    for statement in (update(Act).values(reason="other"), delete(Act)):
        with pytest.raises(DBAPIError, match="append-only"), service.database.write() as session:
            session.execute(statement)
    assert acts_of(organiser, f"tournament={tournament_id}") == own


def test_acts_are_paged(organiser: Person, admin: Person) -> None:
    made = [drafted(organiser) for _ in range(3)] + [opened(organiser)]

    first = admin.get("/acts?limit=3").get_json()
    rest = admin.get(f"/acts?limit=3&cursor={first['next']}").get_json()

    assert [item["object"] for item in first["items"] + rest["items"]] == [made[3], made[3], made[2], made[1], made[0]]
