"""Recovery of accounts whose tokens are lost: with the recovery code, and with the secret of a bot."""

import hashlib
import hmac
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event, update
from werkzeug.test import TestResponse

from referee.accounts import accounts
from referee.accounts.tables import Account
from referee.db.engine import current_time
from referee.protocol.signing import challenge_proof, recovery_proof, secret_bytes
from referee.workflows.accounts import account_recovery
from tests.api.conftest import API, Person, Service, fields_of


def opened(service: Service, name: str = "Ada") -> tuple[Person, str]:
    """Open an account as everybody can. Return it with its recovery code."""
    made = service.anonymous().post(f"{API}/accounts", json={"name": name}).get_json()
    return Person(service.anonymous(), made["id"], made["token"]["token"]), made["recovery_code"]


@pytest.fixture
def ada(service: Service) -> tuple[Person, str, dict[str, Any]]:
    """Return an account, its recovery code, and a verified bot."""
    person, code = opened(service)
    return person, code, service.verified_bot(person)


Ada = tuple[Person, str, dict[str, Any]]


def send(service: Service, path: str, body: Any = None, **options: Any) -> TestResponse:
    return service.anonymous().post(f"{API}/accounts/{path}", json=body, **options)


def by_code(service: Service, code: str, name: str = "Ada") -> TestResponse:
    return send(service, "recover", {"account": name, "recovery_code": code})


def challenge(service: Service) -> str:
    return str(send(service, "recovery-challenge").get_json()["challenge"])


def by_bot(service: Service, bot: dict[str, Any], account: str = "Ada", **changes: str) -> TestResponse:
    """Answer a challenge with the secret of this bot, but for these changes of the request."""
    asked = changes.get("challenge") or challenge(service)
    body = {"account": account, "bot": bot["id"], "challenge": asked, "proof": recovery_proof(bot["secret"], asked)}
    return send(service, "recover-with-bot", {**body, **changes})


def told(answer: TestResponse) -> dict[str, Any]:
    """Return a refusal without the id of its request."""
    return {**answer.get_json(), "request_id": ""}


def signed_in(service: Service, answer: TestResponse) -> Person:
    return Person(service.anonymous(), answer.get_json()["id"], answer.get_json()["token"]["token"])


def status_of(person: Person) -> int:
    return person.get("/accounts/me").status_code


def stolen(service: Service, ada: Person, **terms: Any) -> tuple[Person, str]:
    """Make a token of the account. Return who has it, and its address."""
    made = ada.post("/accounts/me/tokens", {"name": "stolen", **terms}).get_json()
    return Person(service.anonymous(), ada.id, made["token"]), f"/accounts/me/tokens/{made['id']}"


def test_the_recovery_code_gives_a_new_token_and_ends_all_others_and_only_its_hash_is_stored(service: Service) -> None:
    ada, code = opened(service)
    other, _ = stolen(service, ada)
    exported = ada.get("/accounts/me/export").get_data(as_text=True)
    with service.database.read() as session:
        stored = session.get_one(Account, ada.id).recovery_sha256
    assert stored == hashlib.sha256(code.encode()).hexdigest()
    assert "recovery_code_created_at" in exported
    assert not {code, stored} & set(exported.split('"'))

    answer = by_code(service, code, "ada")  # a name that looks the same
    new = signed_in(service, answer)

    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    assert answer.get_json()["token"]["scopes"] == ["all"]
    assert new.get("/accounts/me").get_json()["id"] == ada.id
    assert [status_of(ada), status_of(other)] == [401, 401]
    assert by_code(service, code).get_json()["code"] == "recovery_refused"
    assert by_code(service, answer.get_json()["recovery_code"]).status_code == 200


def test_a_new_recovery_code_ends_the_one_before(service: Service, owner: Person) -> None:
    ada, code = opened(service)
    before = ada.get("/accounts/me").get_json()["recovery_code_created_at"]

    renewed = ada.post("/accounts/me/recovery-code").get_json()
    without = owner.get("/accounts/me").get_json()["recovery_code_created_at"]  # an operator made this account
    first = owner.post("/accounts/me/recovery-code").get_json()["recovery_code"]

    assert renewed["created_at"] > before
    assert by_code(service, code).status_code == 403
    assert by_code(service, renewed["recovery_code"]).status_code == 200
    assert (without, by_code(service, first, "owner 0").status_code) == (None, 200)


def test_the_secret_of_a_verified_bot_gives_a_new_token_and_ends_all_others(service: Service, ada: Ada) -> None:
    person, code, bot = ada
    asked = challenge(service)
    proof = hmac.digest(secret_bytes(bot["secret"]), b"referee-account-recovery|" + asked.encode(), "sha512").hex()

    by_id = by_bot(service, bot, challenge=asked, proof=proof)  # the documented one
    by_name = by_bot(service, {**bot, "id": bot["name"]})

    assert (by_id.status_code, by_name.status_code) == (200, 200)
    assert signed_in(service, by_name).get("/accounts/me").get_json()["id"] == person.id
    assert [status_of(person), status_of(signed_in(service, by_id))] == [401, 401]
    assert by_code(service, code).status_code == 403  # a recovery ends it, too


def test_E30_a_challenge_is_used_once_and_expires(service: Service, ada: Ada) -> None:
    bot, asked, unused = ada[2], challenge(service), challenge(service)
    with service.database.read() as session:
        moment = current_time(session) - account_recovery.CHALLENGE_LIFETIME - timedelta(seconds=1)
    old = f"{int(moment.timestamp() * 1000)}.{'0' * 32}"
    old = f"{old}.{account_recovery._seal(service.settings.master_key, old)}"

    expired = by_bot(service, bot, challenge=old)
    made_up = by_bot(service, bot, challenge=asked[:-1] + ("0" if asked[-1] != "0" else "1"))
    first = by_bot(service, bot, challenge=asked)
    again = [by_bot(service, bot, challenge=each) for each in (asked, unused)]  # all challenges of before have ended

    assert first.status_code == 200
    assert [answer.get_json()["code"] for answer in (expired, made_up, *again)] == ["recovery_refused"] * 4
    assert status_of(signed_in(service, first)) == 200


def test_E30_whatever_is_wrong_the_answer_is_the_same(service: Service, ada: Ada) -> None:
    person, code, bot = ada
    bob, other_code = opened(service, "Bob")
    foreign = service.verified_bot(bob)
    unverified = person.post("/bots", {"name": "Unverified", "url": "https://bot.example.org"}).get_json()
    opened(service, "Without")
    deleted, code_of_deleted = opened(service, "Deleted")
    deleted.post("/accounts/me/delete", {"name": "Deleted"})
    bare = by_bot(service, {**bot, "id": "bot_" + "0" * 26})

    proofs = [
        *(by_bot(service, bot, name) for name in ("Nobody", "Bob", "Without")),
        *(by_bot(service, foreign), by_bot(service, unverified), by_bot(service, bot, proof="0" * 128)),
    ]
    service.forget_requests()
    wrong = ((other_code, "Ada"), (code, "Bob"), (code, "Nobody"), (code_of_deleted, "Deleted"))
    codes = [by_code(service, given, name) for given, name in wrong]

    assert [told(answer) for answer in proofs] == [told(bare)] * len(proofs)
    assert [told(answer) for answer in codes] == [told(codes[0])] * len(codes)
    assert {(answer.status_code, answer.get_json()["code"]) for answer in [bare, *codes]} == {(403, "recovery_refused")}
    assert [status_of(person), status_of(bob)] == [200, 200]
    with service.database.read() as session:
        left = session.get_one(Account, deleted.id)
        assert (left.recovery_sha256, left.recovery_code_created_at, left.recovered_at) == (None, None, None)


def test_E30_no_answer_of_a_bot_to_a_challenge_proves_a_recovery(service: Service, ada: Ada) -> None:
    bot, asked = ada[2], challenge(service)

    for nonce in (asked, f"referee-account-recovery|{asked}"):
        proof = challenge_proof(bot["secret"], nonce)
        assert fields_of(by_bot(service, bot, challenge=asked, proof=proof)) == {"proof"}  # too short
        assert by_bot(service, bot, challenge=asked, proof=proof * 2).status_code == 403


def test_E30_a_token_for_less_or_that_expires_makes_nothing_that_recovers_the_account(
    service: Service, ada: Ada
) -> None:
    person, code, _ = ada
    playing, _ = stolen(service, person, scopes=["play", "organise"])
    brief, _ = stolen(service, person, expires_in_days=1)
    for lesser in (playing, brief):
        rotated = service.verified_bot(person)
        bots = [service.verified_bot(lesser), lesser.post(f"/bots/{rotated['id']}/rotate-secret").get_json(), rotated]
        assert [by_bot(service, bot).get_json()["code"] for bot in bots] == ["recovery_refused"] * 3

    refused = [lesser.post("/accounts/me/recovery-code") for lesser in (playing, brief)]
    again = person.post(f"/bots/{bots[0]['id']}/rotate-secret").get_json()

    assert [(answer.status_code, answer.get_json()["code"]) for answer in refused] == [
        *((403, "missing_scope"), (403, "forbidden")),
    ]
    assert "A token that expires makes no recovery code" in refused[1].get_json()["detail"]
    assert send(service, "me/recovery-code").status_code == 401
    service.forget_requests()
    assert by_bot(service, again).status_code == by_bot(service, again).status_code == 200
    assert by_code(service, code).status_code == 403  # the recovery ended it


def test_E30_what_a_stolen_token_made_recovers_nothing_once_the_token_is_revoked(service: Service, ada: Ada) -> None:
    person, code, own = ada
    rotated = service.verified_bot(person)
    thief, token = stolen(service, person)
    code_of_thief = thief.post("/accounts/me/recovery-code").get_json()["recovery_code"]
    bots_of_thief = [service.verified_bot(thief), thief.post(f"/bots/{rotated['id']}/rotate-secret").get_json()]

    person.ask("DELETE", token)
    shown = person.get("/accounts/me").get_json()["recovery_code_created_at"]

    assert shown is None
    assert [by_code(service, each).status_code for each in (code, code_of_thief)] == [403, 403]
    assert [by_bot(service, bot).status_code for bot in bots_of_thief] == [403, 403]
    assert status_of(person) == 200
    person = signed_in(service, by_bot(service, own))  # what other tokens made recovers it as before
    code = person.post("/accounts/me/recovery-code").get_json()["recovery_code"]
    person.ask("DELETE", stolen(service, person)[1])
    assert by_code(service, code).status_code == 200


def test_E30_a_thief_who_renames_the_account_does_not_keep_its_owner_out(service: Service, ada: Ada) -> None:
    person, code, bot = ada
    person.ask("PATCH", "/accounts/me", {"If-Match": "*"}, json={"name": "Mallory"})

    answers = [
        *(by_bot(service, bot, person.id), by_code(service, code, "acc_" + "0" * 26), by_code(service, code, "Ada")),
    ]

    assert [answer.status_code for answer in answers] == [200, 403, 403]
    assert told(answers[1]) == told(answers[2])
    assert by_code(service, answers[0].get_json()["recovery_code"], person.id).status_code == 200


def test_E30_a_secret_that_was_rotated_recovers_nothing_nor_is_that_of_an_operators_bot_enough(
    service: Service, ada: Ada
) -> None:
    person, code, before = ada
    after = person.post(f"/bots/{before['id']}/rotate-secret").get_json()

    assert by_bot(service, before).status_code == 403  # though it signs calls for a day
    with service.database.write() as session:
        session.execute(update(Account).where(Account.id == person.id).values(role="admin"))
    assert by_bot(service, after).get_json()["code"] == "recovery_refused"
    assert by_code(service, code).status_code == 200


@pytest.mark.parametrize("state", ["paused", "retired", "moved"])
def test_only_a_bot_that_was_verified_recovers_its_account(service: Service, ada: Ada, state: str) -> None:
    person, _, bot = ada
    if state == "moved":
        person.ask("PATCH", f"/bots/{bot['id']}", {"If-Match": "*"}, json={"url": "https://other.example.org"})
    else:
        person.post(f"/bots/{bot['id']}/{state.removesuffix('d')}")

    assert by_bot(service, bot).status_code == (200 if state == "paused" else 403)


def test_a_suspended_account_is_not_recovered_but_says_so_to_its_owner(
    service: Service, ada: Ada, admin: Person
) -> None:
    person, code, bot = ada
    admin.post(f"/accounts/{person.id}/suspend", {"reason": "spam"})

    answers = [by_code(service, code), by_bot(service, bot)]

    assert [told(answer) for answer in answers] == [told(person.get("/accounts/me"))] * 2
    assert answers[0].get_json()["code"] == "suspended"
    admin.post(f"/accounts/{person.id}/restore", {"reason": "no spam"})
    assert status_of(person) == by_code(service, code).status_code == 200


def test_E30_of_two_recoveries_at_the_same_time_one_succeeds(service: Service, ada: Ada) -> None:
    _, code, bot = ada
    asked, begin = challenge(service), threading.Barrier(6)

    def recover(number: int) -> TestResponse:
        begin.wait(60)
        return by_code(service, code) if number % 2 else by_bot(service, bot, challenge=asked)

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(recover, range(6)))

    assert sorted(answer.status_code for answer in answers) == [200, 403, 403, 403, 403, 403]
    (won,) = [answer for answer in answers if answer.status_code == 200]
    assert status_of(signed_in(service, won)) == 200


def test_E30_a_secret_made_with_a_stolen_token_recovers_nothing_after_the_owner_did(service: Service, ada: Ada) -> None:
    person, _, own = ada
    made_by_thief = service.verified_bot(person)

    first = by_bot(service, own)

    assert (first.status_code, by_bot(service, made_by_thief).status_code) == (200, 403)
    again = signed_in(service, by_bot(service, own))
    rotated = again.post(f"/bots/{made_by_thief['id']}/rotate-secret").get_json()
    assert by_bot(service, rotated).status_code == 200
    assert by_bot(service, own).status_code == 403  # another bot has recovered the account


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/accounts/me/tokens", {"name": "thief"}),
        ("/accounts/me/recovery-code", None),
        ("/bots", {"name": "Thief", "url": "https://thief.example.org"}),
    ],
)
def test_E30_no_token_gets_a_secret_in_the_moment_in_which_it_ends(service: Service, path: str, body: Any) -> None:
    ada, _ = opened(service)
    looked_up = threading.Event()
    answers: list[TestResponse] = []

    def note(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if "tokens.sha256 = " in statement:
            looked_up.set()

    event.listen(Engine, "after_cursor_execute", note)
    thief = threading.Thread(target=lambda: answers.append(ada.post(path, body)))
    with service.database.write() as session:  # until its end, the thief's transaction cannot begin or lock the account
        accounts.lock_present(session, ada.id)
        thief.start()
        assert looked_up.wait(60)
        account_recovery.replace_tokens(session, session.get_one(Account, ada.id), account_recovery.BY_CODE)
    thief.join()
    event.remove(Engine, "after_cursor_execute", note)

    assert [answer.status_code for answer in answers] == [401]


def test_E30_attempts_are_counted_per_address_and_per_account(service: Service) -> None:
    opened(service)
    code = opened(service, "Person 1")[1]

    one_address = [by_code(service, code, f"Nobody {n}").status_code for n in range(11)]
    addresses = [{"REMOTE_ADDR": f"192.0.2.{n}"} for n in range(61)]
    by_others = [
        send(service, "recover", {"account": name, "recovery_code": code}, environ_base=address).status_code
        for name, address in zip(["Ada", "ada"] * 31, addresses, strict=False)
    ]

    assert one_address == [403] * 10 + [429]
    assert by_others == [403] * 60 + [429]
    own = {"account": "Person 1", "recovery_code": code}
    assert send(service, "recover", own, environ_base=addresses[0]).status_code == 200


def test_malformed_requests_are_refused_before_they_count(service: Service) -> None:
    strange = {"account": 5, "bot": "", "challenge": "é", "proof": "A" * 128}
    for path, body, fields in (
        ("recover", {"account": "Ada"}, {"recovery_code"}),
        ("recover", {"account": "Ada", "recovery_code": "rcv_" + "0" * 49}, {"recovery_code"}),
        ("recover", {"account": "Ada", "recovery_code": None}, {"recovery_code"}),
        ("recover-with-bot", strange, set(strange)),
    ):
        answers = [send(service, path, body) for _ in range(11)]
        assert {answer.status_code for answer in answers} == {422}
        assert fields_of(answers[-1]) == fields
