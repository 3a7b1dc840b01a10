"""Recovery of accounts whose tokens are lost: with the recovery code, and with the secret of a bot."""

import hashlib
import hmac
import json
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
from referee.protocol.signing import Signer, recovery_proof, secret_bytes
from referee.workflows.accounts import account_recovery
from referee_extras.sdk import Bot as GameBot
from referee_extras.sdk.serving import Desk
from tests.api.conftest import API, Person, Service, fields_of


def opened(service: Service, name: str = "Ada") -> tuple[Person, str]:
    """Open an account as everybody can. Return it with its recovery code."""
    made = service.anonymous().post(f"{API}/accounts", json={"name": name}).get_json()
    return Person(service.anonymous(), made["id"], made["token"]["token"]), made["recovery_code"]


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


def test_the_recovery_code_gives_a_new_token_and_ends_all_others(service: Service) -> None:
    ada, code = opened(service)
    other = Person(ada.client, ada.id, ada.post("/accounts/me/tokens", {"name": "laptop"}).get_json()["token"])

    answer = by_code(service, code, "ada")  # a name that looks the same
    new = signed_in(service, answer)

    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    assert answer.get_json()["token"]["scopes"] == ["all"]
    assert new.get("/accounts/me").get_json()["id"] == ada.id
    assert [person.get("/accounts/me").status_code for person in (ada, other)] == [401, 401]
    assert by_code(service, code).get_json()["code"] == "recovery_refused"
    assert by_code(service, answer.get_json()["recovery_code"]).status_code == 200


def test_the_owner_is_notified_of_a_recovery(service: Service) -> None:
    ada, _ = opened(service)
    bot = service.verified_bot(ada)

    new = signed_in(service, by_bot(service, bot))
    new = signed_in(service, by_code(service, new.post("/accounts/me/recovery-code").get_json()["recovery_code"]))

    second, made, first = new.get("/accounts/me/inbox").get_json()["items"]
    assert first["event"] == second["event"] == "account.recovered"
    assert made["event"] == "account.recovery_code_made"
    assert f"with the secret of your bot {bot['id']} on 20" in first["text"]
    assert second["text"].startswith("Your account was recovered with its recovery code on 20")


def test_only_hashes_of_recovery_codes_are_stored_and_the_export_has_none(service: Service) -> None:
    ada, code = opened(service)

    exported = ada.get("/accounts/me/export").get_data(as_text=True)
    with service.database.read() as session:
        stored = session.get_one(Account, ada.id).recovery_sha256

    assert stored == hashlib.sha256(code.encode()).hexdigest()
    assert "recovery_code_created_at" in exported
    assert not {code, stored} & set(exported.split('"'))


def test_a_new_recovery_code_ends_the_one_before(service: Service) -> None:
    ada, code = opened(service)
    before = ada.get("/accounts/me").get_json()["recovery_code_created_at"]

    renewed = ada.post("/accounts/me/recovery-code").get_json()

    assert renewed["created_at"] > before
    assert by_code(service, code).status_code == 403
    assert by_code(service, renewed["recovery_code"]).status_code == 200


def test_an_account_that_an_operator_made_has_a_code_once_its_owner_makes_one(service: Service, owner: Person) -> None:
    before = owner.get("/accounts/me").get_json()["recovery_code_created_at"]
    code = owner.post("/accounts/me/recovery-code").get_json()["recovery_code"]

    assert before is None
    assert by_code(service, code, "owner 0").status_code == 200


def test_the_secret_of_a_verified_bot_gives_a_new_token_and_ends_all_others(service: Service) -> None:
    ada, code = opened(service)
    bot = service.verified_bot(ada)

    by_id = by_bot(service, bot)
    by_name = by_bot(service, {**bot, "id": bot["name"]})

    assert (by_id.status_code, by_name.status_code) == (200, 200)
    assert signed_in(service, by_name).get("/accounts/me").get_json()["id"] == ada.id
    assert [person.get("/accounts/me").status_code for person in (ada, signed_in(service, by_id))] == [401, 401]
    assert by_code(service, code).status_code == 403  # a recovery ends it, too


def test_a_proof_is_the_documented_one(service: Service) -> None:
    ada, _ = opened(service)
    bot, asked = service.verified_bot(ada), challenge(service)
    message = b"referee-account-recovery|" + asked.encode()

    proof = hmac.digest(secret_bytes(bot["secret"]), message, "sha512").hex()

    assert by_bot(service, bot, challenge=asked, proof=proof).status_code == 200


def test_E30_a_challenge_is_used_once_and_expires(service: Service) -> None:
    ada, _ = opened(service)
    bot, asked = service.verified_bot(ada), challenge(service)
    unused = challenge(service)
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
    assert signed_in(service, first).get("/accounts/me").status_code == 200


def test_E30_whatever_is_wrong_the_answer_is_the_same(service: Service) -> None:
    ada, code = opened(service)
    bob, other_code = opened(service, "Bob")
    bot, foreign = service.verified_bot(ada), service.verified_bot(bob)
    unverified = ada.post("/bots", {"name": "Unverified", "url": "https://bot.example.org"}).get_json()
    opened(service, "Without")
    bare = by_bot(service, {**bot, "id": "bot_" + "0" * 26})

    proofs = [
        by_bot(service, bot, "Nobody"),
        by_bot(service, bot, "Bob"),
        by_bot(service, foreign),
        by_bot(service, unverified),
        by_bot(service, bot, "Without"),
        by_bot(service, bot, proof="0" * 128),
    ]
    service.forget_requests()
    codes = [by_code(service, given, name) for given, name in ((other_code, "Ada"), (code, "Bob"), (code, "Nobody"))]

    assert [told(answer) for answer in proofs] == [told(bare)] * len(proofs)
    assert [told(answer) for answer in codes] == [told(codes[0])] * len(codes)
    assert {(answer.status_code, answer.get_json()["code"]) for answer in [bare, *codes]} == {(403, "recovery_refused")}
    assert [person.get("/accounts/me").status_code for person in (ada, bob)] == [200, 200]


def test_E30_no_bot_can_be_made_to_prove_a_recovery(service: Service) -> None:
    ada, _ = opened(service)
    bot, asked = service.verified_bot(ada), challenge(service)
    secret = bot["secret"]

    def answer(nonce: str) -> str:
        """Return the proof in the bot's answer to a challenge with this nonce, which the service has signed."""
        body = json.dumps({"protocol": "2", "type": "challenge", "bot": bot["id"], "nonce": nonce}).encode()
        signature = Signer([secret]).signature("msg_1", 0, body)
        headers = {"webhook-id": "msg_1", "webhook-timestamp": "0", "webhook-signature": signature}
        status, reply = Desk(GameBot(), secret, lambda: 0.0).post("/notify", headers, body)
        assert status == 200
        return str(json.loads(reply)["proof"])

    for nonce in (asked, f"referee-account-recovery|{asked}"):
        assert fields_of(by_bot(service, bot, challenge=asked, proof=answer(nonce))) == {"proof"}  # too short
        assert by_bot(service, bot, challenge=asked, proof=answer(nonce) * 2).status_code == 403


def test_E30_a_token_for_playing_does_not_become_one_for_everything(service: Service) -> None:
    ada, _ = opened(service)
    made = ada.post("/accounts/me/tokens", {"name": "server", "scopes": ["play"]}).get_json()
    playing = Person(service.anonymous(), ada.id, made["token"])
    own, shown = service.verified_bot(playing), service.verified_bot(ada)

    rotated = playing.post(f"/bots/{shown['id']}/rotate-secret").get_json()
    refused = [by_bot(service, bot) for bot in (own, rotated, shown)]
    again = ada.post(f"/bots/{own['id']}/rotate-secret").get_json()

    assert [answer.get_json()["code"] for answer in refused] == ["recovery_refused"] * 3
    assert by_bot(service, again).status_code == 200
    assert signed_in(service, by_bot(service, again)).post("/accounts/me/recovery-code").status_code == 200


def stolen(service: Service, ada: Person, **terms: Any) -> tuple[Person, str]:
    """Make a token of the account. Return who has it, and its address."""
    made = ada.post("/accounts/me/tokens", {"name": "stolen", **terms}).get_json()
    return Person(service.anonymous(), ada.id, made["token"]), f"/accounts/me/tokens/{made['id']}"


def test_E30_what_a_stolen_token_made_recovers_nothing_once_the_token_is_revoked(service: Service) -> None:
    ada, code = opened(service)
    own, rotated = service.verified_bot(ada), service.verified_bot(ada)
    thief, token = stolen(service, ada)
    code_of_thief = thief.post("/accounts/me/recovery-code").get_json()["recovery_code"]
    bots_of_thief = [service.verified_bot(thief), thief.post(f"/bots/{rotated['id']}/rotate-secret").get_json()]

    (entry,) = ada.get("/accounts/me/inbox").get_json()["items"]
    ada.ask("DELETE", token)
    shown = ada.get("/accounts/me").get_json()["recovery_code_created_at"]

    assert f"with the token {token.rpartition('/')[2]}. If you did not make it, revoke this token" in entry["text"]
    assert shown is None
    assert [by_code(service, each).status_code for each in (code, code_of_thief)] == [403, 403]
    assert [by_bot(service, bot).status_code for bot in bots_of_thief] == [403, 403]
    assert ada.get("/accounts/me").status_code == by_bot(service, own).status_code == 200


def test_E30_what_other_tokens_made_still_recovers_the_account(service: Service) -> None:
    ada, first_code = opened(service)
    bot = service.verified_bot(ada)
    for token in (stolen(service, ada)[1] for _ in range(2)):
        ada.ask("DELETE", token)

    ada = signed_in(service, by_bot(service, bot))
    code = ada.post("/accounts/me/recovery-code").get_json()["recovery_code"]
    ada.ask("DELETE", stolen(service, ada)[1])

    assert by_code(service, first_code).status_code == 403  # the recovery ended it
    assert by_code(service, code).status_code == 200


def test_E30_a_token_that_expires_makes_nothing_that_outlasts_it(service: Service) -> None:
    ada, code = opened(service)
    brief, _ = stolen(service, ada, expires_in_days=1)
    rotated = service.verified_bot(ada)

    refused = brief.post("/accounts/me/recovery-code")
    bots = [service.verified_bot(brief), brief.post(f"/bots/{rotated['id']}/rotate-secret").get_json()]

    assert (refused.status_code, refused.get_json()["code"]) == (403, "forbidden")
    assert "A token that expires makes no recovery code" in refused.get_json()["detail"]
    assert [by_bot(service, bot).status_code for bot in bots] == [403, 403]
    assert by_code(service, code).status_code == 200


def test_E30_no_code_is_made_while_its_token_is_revoked(service: Service) -> None:
    ada, _ = opened(service)
    thief, token = stolen(service, ada)

    with ThreadPoolExecutor(2) as pool:
        made = pool.submit(thief.post, "/accounts/me/recovery-code")
        pool.submit(ada.ask, "DELETE", token).result()
    answer = made.result().get_json()

    assert by_code(service, answer.get("recovery_code", "rcv_" + "0" * 49)).status_code in (403, 422)
    assert ada.get("/accounts/me").status_code == 200


def test_E30_a_thief_who_renames_the_account_does_not_keep_its_owner_out(service: Service) -> None:
    ada, code = opened(service)
    bot = service.verified_bot(ada)
    ada.ask("PATCH", "/accounts/me", {"If-Match": "*"}, json={"name": "Mallory"})

    answers = [by_bot(service, bot, ada.id), by_code(service, code, "acc_" + "0" * 26), by_code(service, code, "Ada")]

    assert [answer.status_code for answer in answers] == [200, 403, 403]
    assert told(answers[1]) == told(answers[2])
    assert by_code(service, answers[0].get_json()["recovery_code"], ada.id).status_code == 200


def test_E30_a_secret_that_was_rotated_recovers_nothing(service: Service) -> None:
    ada, _ = opened(service)
    before = service.verified_bot(ada)
    after = ada.post(f"/bots/{before['id']}/rotate-secret").get_json()

    assert by_bot(service, before).status_code == 403  # though it signs calls for a day
    assert by_bot(service, after).status_code == 200


def test_E30_the_secret_of_an_operators_bot_is_not_enough(service: Service) -> None:
    ada, code = opened(service)
    bot = service.verified_bot(ada)
    with service.database.write() as session:
        session.execute(update(Account).where(Account.id == ada.id).values(role="admin"))

    assert by_bot(service, bot).get_json()["code"] == "recovery_refused"
    assert by_code(service, code).status_code == 200


@pytest.mark.parametrize("state", ["paused", "retired", "moved"])
def test_only_a_bot_that_was_verified_recovers_its_account(service: Service, state: str) -> None:
    ada, _ = opened(service)
    bot = service.verified_bot(ada)
    if state == "moved":
        ada.ask("PATCH", f"/bots/{bot['id']}", {"If-Match": "*"}, json={"url": "https://other.example.org"})
    else:
        ada.post(f"/bots/{bot['id']}/{state.removesuffix('d')}")

    assert by_bot(service, bot).status_code == (200 if state == "paused" else 403)


def test_a_suspended_account_is_not_recovered_but_says_so_to_its_owner(service: Service, admin: Person) -> None:
    ada, code = opened(service)
    bot = service.verified_bot(ada)
    admin.post(f"/accounts/{ada.id}/suspend", {"reason": "spam"})

    answers = [by_code(service, code), by_bot(service, bot)]

    assert [told(answer) for answer in answers] == [told(ada.get("/accounts/me"))] * 2
    assert answers[0].get_json()["code"] == "suspended"
    admin.post(f"/accounts/{ada.id}/restore", {"reason": "no spam"})
    assert ada.get("/accounts/me").status_code == by_code(service, code).status_code == 200


def test_a_deleted_account_is_unknown(service: Service) -> None:
    ada, code = opened(service)
    ada.post("/accounts/me/delete", {"name": "Ada"})

    assert told(by_code(service, code)) == told(by_code(service, code, "Nobody"))
    with service.database.read() as session:
        left = session.get_one(Account, ada.id)
        assert (left.recovery_sha256, left.recovery_code_created_at, left.recovered_at) == (None, None, None)


def test_E30_of_two_recoveries_at_the_same_time_one_succeeds(service: Service) -> None:
    ada, code = opened(service)
    bot, asked = service.verified_bot(ada), challenge(service)
    answers: list[TestResponse] = []

    def race(*ways: Any) -> None:
        begin = threading.Barrier(len(ways))

        def run(way: Any) -> None:
            begin.wait()
            answers.append(way())

        threads = [threading.Thread(target=run, args=[way]) for way in ways]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    race(*[lambda: by_code(service, code)] * 3, *[lambda: by_bot(service, bot, challenge=asked)] * 3)

    assert sorted(answer.status_code for answer in answers) == [200, 403, 403, 403, 403, 403]
    (won,) = [answer for answer in answers if answer.status_code == 200]
    assert signed_in(service, won).get("/accounts/me").status_code == 200


def test_E30_a_secret_made_with_a_stolen_token_recovers_nothing_after_the_owner_did(service: Service) -> None:
    ada, _ = opened(service)
    own, made_by_thief = service.verified_bot(ada), service.verified_bot(ada)

    first = by_bot(service, own)

    assert (first.status_code, by_bot(service, made_by_thief).status_code) == (200, 403)
    assert by_bot(service, own).status_code == 200
    rotated = signed_in(service, by_bot(service, own)).post(f"/bots/{made_by_thief['id']}/rotate-secret").get_json()
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
    codes = [opened(service, f"Person {n}")[1] for n in range(8)]

    one_address = [by_code(service, codes[0], f"Nobody {n}").status_code for n in range(11)]
    addresses = [{"REMOTE_ADDR": f"192.0.2.{n}"} for n in range(61)]
    by_others = [
        send(service, "recover", {"account": name, "recovery_code": codes[0]}, environ_base=address).status_code
        for name, address in zip(["Ada", "ada"] * 31, addresses, strict=False)
    ]

    assert one_address == [403] * 10 + [429]
    assert by_others == [403] * 60 + [429]
    own = {"account": "Person 1", "recovery_code": codes[1]}
    assert send(service, "recover", own, environ_base=addresses[0]).status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "fields"),
    [
        ("recover", {"account": "Ada"}, {"recovery_code"}),
        ("recover", {"account": "Ada", "recovery_code": "rcv_" + "0" * 49}, {"recovery_code"}),
        ("recover", {"account": "Ada", "recovery_code": None}, {"recovery_code"}),
        ("recover-with-bot", {"account": 5, "bot": "", "challenge": "é", "proof": "A" * 128},
         {"account", "bot", "challenge", "proof"}),
    ],
)  # fmt: skip
def test_malformed_requests_are_refused_before_they_count(
    service: Service, path: str, body: Any, fields: set[str]
) -> None:
    answers = [send(service, path, body) for _ in range(12)]

    assert {answer.status_code for answer in answers} == {422}
    assert fields_of(answers[-1]) == fields


def test_a_new_recovery_code_needs_a_token_for_everything(
    service: Service,
) -> None:
    ada, _ = opened(service)
    made = ada.post("/accounts/me/tokens", {"name": "server", "scopes": ["play", "organise"]}).get_json()

    refused = Person(service.anonymous(), ada.id, made["token"]).post("/accounts/me/recovery-code")

    assert (refused.status_code, refused.get_json()["code"]) == (403, "missing_scope")
    assert send(service, "me/recovery-code").status_code == 401
