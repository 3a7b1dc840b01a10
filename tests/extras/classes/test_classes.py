"""The accounts of a class: all or none, and the same again."""

from typing import Any

import pytest
from sqlalchemy import func, select

from referee.accounts import accounts
from referee.accounts.tables import Account
from referee.workflows.erasing import account_deletion
from tests.api.conftest import API, Person, Service, fields_of
from tests.surroundings import MASTER_KEY

NAMES = ["Ada Lovelace", "Bob", "Çiğdem"]


def create(admin: Person, names: list[str], **more: Any) -> list[dict[str, Any]]:
    answer = admin.post("/accounts/class", {"names": names, **more})
    assert answer.status_code == 200, answer.get_json()
    items: list[dict[str, Any]] = answer.get_json()["items"]
    return items


def count_accounts(service: Service) -> int:
    with service.database.read() as session:
        return session.scalars(select(func.count()).select_from(Account)).one()


def works(service: Service, token: str) -> int:
    return Person(service.anonymous(), "", token).get("/accounts/me").status_code


def test_each_name_gets_an_account_and_a_token_that_may_play(service: Service, admin: Person) -> None:
    made = create(admin, NAMES, expires_in_days=90)

    assert [member["account"]["name"] for member in made] == NAMES
    assert {member["account"]["role"] for member in made} == {"owner"}
    for member in made:
        student = Person(service.anonymous(), member["account"]["id"], member["token"]["token"])
        assert (member["is_new"], member["token"]["scopes"]) == (True, ["play"])
        assert member["token"]["expires_at"]
        assert student.get("/accounts/me").get_json()["name"] == member["account"]["name"]
        bot = {"name": f"{member['account']['name']} bot", "url": "https://b.example.org"}
        assert student.post("/bots", bot).status_code == 201
        assert student.post("/accounts/me/tokens", {"name": "more"}).get_json()["code"] == "missing_scope"
    kinds = [act["kind"] for act in admin.get("/acts").get_json()["items"]]
    assert kinds == ["account.created"] * 3


def test_a_second_run_creates_only_what_is_new_and_gives_no_tokens(service: Service, admin: Person) -> None:
    first = create(admin, NAMES[:2])

    again = create(admin, NAMES)

    assert [(member["is_new"], member["token"] is not None) for member in again] == [
        (False, False),
        (False, False),
        (True, True),
    ]
    assert [member["account"]["id"] for member in again[:2]] == [member["account"]["id"] for member in first]
    assert [works(service, member["token"]["token"]) for member in first] == [200, 200]


def test_new_tokens_replace_those_of_earlier_runs_and_no_others(service: Service, admin: Person) -> None:
    (first,) = create(admin, ["Ada"])
    own = admin.post(f"/accounts/{first['account']['id']}/tokens", {"name": "laptop"}).get_json()

    for _ in range(25):  # more than an account may have at a time
        (again,) = create(admin, ["Ada"], new_tokens=True)

    assert (again["is_new"], works(service, again["token"]["token"])) == (False, 200)
    assert works(service, first["token"]["token"]) == 401
    assert works(service, own["token"]) == 200
    assert [act["kind"] for act in admin.get("/acts?limit=1").get_json()["items"]] == ["account.token_created"]


@pytest.mark.parametrize(("names", "errors"), [
    (["Ada", "B", "Ca  rl"], {1: "must have 2 to 32 characters", 2: "two spaces"}),
    (["Ada", "Bob", "Ada"], {2: "is the same as 'Ada' or looks the same"}),
    (["Ada", "ADA"], {1: "is the same as 'Ada' or looks the same"}),
    (["Ada", "Аda"], {1: "is the same as 'Ada' or looks the same"}),  # a Cyrillic capital
    (["Ada", "Olga"], {1: "is an account with the role organiser"}),
    (["Ada", "olga"], {1: "looks the same as the account 'Olga'"}),
    (["Ada", "Sam"], {1: "is a suspended account"}),
    (["Ada", "house-bot:1"], {1: "may contain only"}),
    (["Ada", "Referee"], {1: "is reserved"}),
    (["Ada", "x" * 33, "<b>", "Bob", "bob"], {1: "2 to 32", 2: "may contain only", 4: "looks the same"}),
])  # fmt: skip
def test_with_a_bad_name_nothing_is_created_and_all_bad_ones_are_named(
    service: Service, admin: Person, names: list[str], errors: dict[int, str]
) -> None:
    with service.database.write() as session:
        accounts.create_account(session, "Olga", "organiser")
    sam = create(admin, ["Sam"])[0]["account"]["id"]
    admin.post(f"/accounts/{sam}/suspend", {"reason": "a test"})
    before = count_accounts(service)

    answer = admin.post("/accounts/class", {"names": names, "new_tokens": True})

    assert answer.status_code == 422
    found = {error["field"]: error["message"] for error in answer.get_json()["errors"]}
    assert found.keys() == {f"names.{place}" for place in errors}
    for place, reason in errors.items():
        assert reason in found[f"names.{place}"]
    assert count_accounts(service) == before


@pytest.mark.parametrize("body", [
    {}, {"names": []}, {"names": ["Ada"] * 201}, {"names": "Ada"}, {"names": [1]}, {"names": ["Ada"], "role": "admin"},
    {"names": ["Ada"], "new_tokens": "yes"}, {"names": ["Ada"], "expires_in_days": 0},
])  # fmt: skip
def test_other_bodies_are_refused(admin: Person, body: dict[str, Any]) -> None:
    assert admin.post("/accounts/class", body).status_code == 422


@pytest.mark.parametrize("role", ["owner", "organiser"])
def test_E26_only_the_operator_creates_a_class(service: Service, role: str) -> None:
    assert service.person(role).post("/accounts/class", {"names": ["Ada"]}).status_code == 403
    assert service.anonymous().post(f"{API}/accounts/class", json={"names": ["Ada"]}).status_code == 401


def test_a_class_is_created_also_where_nobody_may_open_an_account(start: Any, admin: Person) -> None:
    closed = start(self_service=False)
    operator = Person(closed.anonymous(), admin.id, admin.token)

    assert [member["is_new"] for member in create(operator, ["Ada"])] == [True]


def test_a_repeated_request_gets_the_same_tokens(admin: Person) -> None:
    key = {"Idempotency-Key": "k" * 32}

    first, second = (admin.ask("POST", "/accounts/class", key, json={"names": ["Ada"]}).get_json() for _ in range(2))

    assert first["items"][0]["token"]["token"] == second["items"][0]["token"]["token"]


def test_E14_all_names_that_are_held_are_named_at_once(service: Service, admin: Person) -> None:
    for name in ("Held One", "Held Two"):
        with service.database.write() as session:
            account_id = accounts.create_account(session, name).id
        with service.database.write() as session:
            account_deletion.delete_account(
                session, accounts.get_account(session, account_id), account_id, master_key=MASTER_KEY
            )

    answer = admin.post("/accounts/class", {"names": ["Held One", "Free", "Held Two"]})

    assert answer.status_code == 422
    assert fields_of(answer) == {"names.0", "names.2"}


def test_a_class_names_the_account_that_has_too_many_tokens(service: Service, admin: Person) -> None:
    create(admin, ["Free"])
    with service.database.write() as session:
        full = accounts.create_account(session, "Full").id
        for number in range(accounts.TOKENS_PER_ACCOUNT):
            accounts.create_token(session, full, f"laptop {number}")

    answer = admin.post("/accounts/class", {"names": ["Free", "Full"], "new_tokens": True})

    assert answer.status_code == 422
    assert fields_of(answer) == {"names.1"}
