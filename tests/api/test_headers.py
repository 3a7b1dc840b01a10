"""Security and caching headers."""

import re

from tests.api.conftest import API, Person, Service, Start

PUBLIC = ["/games", "/bots", "/matches", "/ladders", "/tournaments", "/openapi.json"]


def test_E17_E18_every_answer_carries_the_security_headers_and_public_reads_are_open_to_any_page(
    service: Service, owner: Person
) -> None:
    for path in (*PUBLIC, "/nope", "/accounts/me"):
        headers = service.anonymous().get(API + path, headers={"Origin": "https://evil.example"}).headers

        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert re.fullmatch("req_[0-9a-f]{20}", headers["X-Request-Id"])
        assert headers["Cache-Control"] == "no-cache"
        assert "Authorization" in headers["Vary"]
        is_public = path != "/accounts/me"
        assert headers.get("Access-Control-Allow-Origin") == ("*" if is_public else None)
        assert headers["Cross-Origin-Resource-Policy"] == ("cross-origin" if is_public else "same-origin")
        assert "Access-Control-Allow-Credentials" not in headers
        assert owner.get(path).headers["Cache-Control"] == "no-store"


def test_every_request_has_an_id_of_its_own_that_the_client_does_not_choose(service: Service) -> None:
    client = service.anonymous()

    ids = {client.get("/healthz", headers={"X-Request-Id": "mine" * 4}).headers["X-Request-Id"] for _ in range(3)}

    assert len(ids - {"mine" * 4}) == 3


def test_E16_E17_nothing_else_is_open_and_no_cookie_is_ever_set(service: Service, owner: Person) -> None:
    origin, client = {"Origin": "https://evil.example"}, service.anonymous()
    answers = [
        owner.get("/bots", headers=origin),
        owner.post("/bots", {}, headers=origin),
        client.post(f"{API}/accounts", json={"name": "Ann Other"}, headers=origin),
        client.options(f"{API}/bots", headers={**origin, "Access-Control-Request-Method": "POST"}),
    ]

    names = {name for answer in answers for name, _ in answer.headers}
    assert not [name for name in names if name.startswith(("Access-Control", "Set-Cookie"))]
    assert "Set-Cookie" not in client.get("/docs").headers


def test_a_representation_that_did_not_change_is_not_sent_again(service: Service) -> None:
    client = service.anonymous()
    first = client.get(f"{API}/games")

    second = client.get(f"{API}/games", headers={"If-None-Match": first.headers["ETag"]})

    assert (second.status_code, second.get_data()) == (304, b"")
    assert second.headers["ETag"] == first.headers["ETag"]


def test_E13_only_hosts_on_the_list_are_served(start: Start) -> None:
    client = start(allowed_hosts=("referee.example",)).anonymous()

    def status(host: str) -> int:
        return client.get("/healthz", headers={"Host": host}).status_code

    assert status("referee.example") == status("referee.example:8443") == status("REFEREE.example") == 200
    assert {status(host) for host in ("evil.example", "referee.example.evil", "referee.example@evil", "")} == {400}


def test_E13_a_bad_host_is_refused(service: Service) -> None:
    for host in ("a/b", "a b", "a@b", "a,b", "a?b"):
        answer = service.anonymous().get("/healthz", environ_overrides={"HTTP_HOST": host})

        assert (answer.status_code, answer.get_json()["code"]) == (400, "bad_host"), host
