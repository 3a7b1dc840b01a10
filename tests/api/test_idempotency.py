"""A POST repeated with its key."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from werkzeug.test import TestResponse

from referee.db.idempotency import Idempotency
from tests.api.conftest import Person, Service, fields_of

BOT = {"name": "My bot", "url": "https://a.example"}
LAPTOP = {"name": "laptop"}


def keyed(person: Person, path: str, body: object, key: str = "k1") -> TestResponse:
    return person.post(path, body, headers={"Idempotency-Key": key})


def test_E9_the_same_request_gets_the_same_answer_and_one_effect(service: Service, owner: Person) -> None:
    taken = service.person().post("/bots", {**BOT, "name": "Taken"}).status_code
    refused = keyed(owner, "/bots", {**BOT, "name": "Taken"})  # which may be tried again
    first, second = keyed(owner, "/bots", BOT), keyed(owner, "/bots", BOT)

    assert (taken, refused.status_code, first.status_code, second.status_code) == (201, 409, 201, 201)
    assert first.get_data() == second.get_data()
    assert first.headers["Location"] == second.headers["Location"]
    assert (first.headers.get("Idempotency-Replayed"), second.headers["Idempotency-Replayed"]) == (None, "true")
    assert (second.headers["Cache-Control"], second.mimetype) == ("no-store", "application/json")
    assert len(owner.get(f"/bots?owner={owner.id}").get_json()["items"]) == 1


def test_E9_another_request_with_the_key_is_refused(service: Service, owner: Person) -> None:
    bot = keyed(owner, "/bots", BOT).get_json()

    other_body = keyed(owner, "/bots", {**BOT, "name": "Other bot"})
    other_path = keyed(owner, f"/bots/{bot['id']}/pause", None)

    for answer in (other_body, other_path):
        assert (answer.status_code, answer.get_json()["code"]) == (409, "idempotency_mismatch")
    assert owner.get(f"/bots/{bot['id']}").get_json()["status"] == "unverified"


@pytest.mark.parametrize("is_swapped", [False, True])
def test_E7_E9_the_kept_answer_shows_no_token_and_is_not_given_once_it_was_changed(
    service: Service, owner: Person, is_swapped: bool
) -> None:
    token = keyed(owner, "/accounts/me/tokens", LAPTOP).get_json()["token"]
    keyed(owner, "/accounts/me/tokens", LAPTOP, "k2")
    with service.database.write() as session:
        one, other = session.query(Idempotency).order_by(Idempotency.key)
        kept = one.body or b""
        one.body = other.body if is_swapped else bytes([kept[0] ^ 1]) + kept[1:]

    answer = keyed(owner, "/accounts/me/tokens", LAPTOP)
    assert (answer.status_code, answer.get_json()["code"]) == (409, "conflict")
    assert not [text for text in (token.encode(), b"laptop") if text in kept]


def test_E9_a_key_that_is_no_key_is_refused(owner: Person) -> None:
    for key in ("", " ", "a b", "x" * 201, "ü"):
        answer = keyed(owner, "/bots", BOT, key)

        assert (answer.status_code, fields_of(answer)) == (422, {"Idempotency-Key"}), key
    assert keyed(owner, "/bots", BOT, "x" * 200).status_code == 201


def test_E10_of_two_edits_at_once_one_is_refused(service: Service, owner: Person, mine: str) -> None:
    path = f"/bots/{mine}"
    etag = owner.get(path).headers["ETag"]

    def edit(number: int) -> int:
        person = Person(service.anonymous(), owner.id, owner.token)
        return person.ask("PATCH", path, {"If-Match": etag}, json={"name": f"name {number}"}).status_code

    with ThreadPoolExecutor(4) as threads:
        statuses = sorted(threads.map(edit, range(4)))

    assert statuses[0] == 200
    assert set(statuses[1:]) <= {409, 412}


def test_E9_K6_a_post_whose_process_was_killed_has_one_effect_and_one_response(service: Service, owner: Person) -> None:
    owner.get("/accounts/me")  # notes the use of the token
    service.database.dispose()  # connections outlive no fork
    if (pid := os.fork()) == 0:
        try:
            keyed(owner, "/bots", BOT)
        finally:
            os.kill(os.getpid(), signal.SIGKILL)  # after the commit, before anything is sent

    _, status = os.waitpid(pid, 0)
    again = keyed(owner, "/bots", BOT)

    assert os.WTERMSIG(status) == signal.SIGKILL
    assert (again.status_code, again.headers.get("Idempotency-Replayed")) == (201, "true")
    own = owner.get(f"/bots?owner={owner.id}").get_json()["items"]
    assert [bot["id"] for bot in own] == [again.get_json()["id"]]
