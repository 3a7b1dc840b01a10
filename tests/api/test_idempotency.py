"""A POST repeated with its key."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from werkzeug.test import TestResponse

from referee.db.idempotency import Idempotency
from tests.api.conftest import Person, Service, fields_of

BOT = {"name": "My bot", "url": "https://a.example"}


def keyed(person: Person, path: str, body: object, key: str) -> TestResponse:
    return person.post(path, body, headers={"Idempotency-Key": key})


def test_E9_the_same_request_gets_the_same_answer_and_one_effect(service: Service, owner: Person) -> None:
    first, second = keyed(owner, "/bots", BOT, "k1"), keyed(owner, "/bots", BOT, "k1")

    assert first.status_code == second.status_code == 201
    assert first.get_data() == second.get_data()
    assert first.headers["Location"] == second.headers["Location"]
    assert (first.headers.get("Idempotency-Replayed"), second.headers["Idempotency-Replayed"]) == (None, "true")
    assert second.headers["Cache-Control"] == "no-store"
    assert len(owner.get("/bots").get_json()["items"]) == 1


def test_E9_another_request_with_the_key_is_refused(service: Service, owner: Person) -> None:
    bot = keyed(owner, "/bots", BOT, "k1").get_json()

    other_body = keyed(owner, "/bots", {**BOT, "name": "Other bot"}, "k1")
    other_path = keyed(owner, f"/bots/{bot['id']}/pause", None, "k1")

    for answer in (other_body, other_path):
        assert (answer.status_code, answer.get_json()["code"]) == (409, "idempotency_mismatch")
    assert owner.get(f"/bots/{bot['id']}").get_json()["status"] == "unverified"


def test_E9_a_refused_request_may_be_tried_again(service: Service, owner: Person) -> None:
    service.verified_bot(service.person())
    taken = service.person().post("/bots", BOT).status_code
    refused = keyed(owner, "/bots", BOT, "k1")

    repeated = keyed(owner, "/bots", {**BOT, "name": "Other"}, "k1")

    assert (taken, refused.status_code, repeated.status_code) == (201, 409, 201)


def test_E7_the_kept_answer_does_not_show_the_token(service: Service, owner: Person) -> None:
    token = keyed(owner, "/accounts/me/tokens", {"name": "laptop"}, "k1").get_json()["token"]

    with service.database.read() as session:
        (kept,) = session.query(Idempotency).all()

    assert token.encode() not in (kept.body or b"")
    assert b"laptop" not in (kept.body or b"")


def test_E9_an_answer_that_was_tampered_with_is_not_given(service: Service, owner: Person) -> None:
    keyed(owner, "/bots", BOT, "k1")
    with service.database.write() as session:
        (kept,) = session.query(Idempotency).all()
        kept.body = bytes([kept.body[0] ^ 1]) + kept.body[1:] if kept.body else None

    assert keyed(owner, "/bots", BOT, "k1").status_code == 409


def test_E9_an_answer_moved_to_another_key_is_not_given(service: Service, owner: Person) -> None:
    keyed(owner, "/accounts/me/tokens", {"name": "laptop"}, "k1")
    keyed(owner, "/accounts/me/tokens", {"name": "laptop"}, "k2")
    with service.database.write() as session:
        one, other = session.query(Idempotency).order_by(Idempotency.key)
        one.body, other.body = other.body, one.body

    assert keyed(owner, "/accounts/me/tokens", {"name": "laptop"}, "k1").status_code == 409


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 201, "ü"])
def test_E9_a_key_that_is_no_key_is_refused(owner: Person, key: str) -> None:
    answer = keyed(owner, "/bots", BOT, key)

    assert answer.status_code == 422
    assert fields_of(answer) == {"Idempotency-Key"}


def test_E10_of_two_edits_at_once_one_is_refused(service: Service, owner: Person) -> None:
    path = f"/bots/{service.verified_bot(owner)['id']}"
    etag = owner.get(path).headers["ETag"]

    def edit(number: int) -> int:
        person = Person(service.anonymous(), owner.id, owner.token)
        return person.ask("PATCH", path, {"If-Match": etag}, json={"name": f"name {number}"}).status_code

    with ThreadPoolExecutor(4) as threads:
        statuses = sorted(threads.map(edit, range(4)))

    assert statuses[0] == 200
    assert set(statuses[1:]) <= {409, 412}
