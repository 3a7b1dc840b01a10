"""One line for each request, with the id that the problem document shows."""

import logging
from typing import Any

import pytest

from referee.protocol.signing import PREFIX
from referee.runtime.log_limits import LINES_FOR_REQUESTS, LineLimit
from tests.api.conftest import API, Service, Start


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [vars(record) for record in caplog.records if record.message == "request_served"]


@pytest.fixture(autouse=True)
def _listening(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="api.request_log")


def test_a_request_is_logged_with_its_account_and_ids_and_a_static_file_is_not(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    owner = service.person()
    bot = service.verified_bot(owner)
    caplog.clear()

    owner.get(f"/bots/{bot['id']}")
    service.anonymous().get("/static/site/site.css")

    (line,) = lines(caplog)
    assert (line["method"], line["status"], line["account"], line["bot"]) == ("GET", 200, owner.id, bot["id"])
    assert line["route"].startswith("/api/v1/bots/<id(")
    assert line["ms"] > 0


def test_E7_tokens_codes_and_secrets_of_requests_are_not_logged(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    owner = service.person()
    with caplog.at_level(logging.DEBUG):
        owner.post("/bots", {"name": "One", "url": "https://bot.example.org/?code=GARDEN"})
        owner.post("/tournaments/trn_00000000000000000000000000/entries", {"bot": "x", "join_code": "GARDEN-4711"})
        service.anonymous().get("/GARDEN-4711?token=GARDEN", headers={"Authorization": "Bearer GARDEN"})

    text = " ".join(str(vars(record)) for record in caplog.records if record.name.startswith("api"))
    assert len(lines(caplog)) == 3
    for secret in (owner.token, "GARDEN", PREFIX):
        assert secret not in text


def test_an_error_of_ours_names_the_request_and_tells_nothing(
    service: Service, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError("the seed is secret")

    endpoint, _ = service.app.url_map.bind("localhost").match(f"{API}/games")
    monkeypatch.setitem(service.app.view_functions, endpoint, fail)

    answer = service.anonymous().get(f"{API}/games")

    problem = answer.get_json()
    assert (answer.status_code, answer.mimetype) == (500, "application/problem+json")
    assert (problem["code"], problem["request_id"]) == ("internal_error", answer.headers["X-Request-Id"])
    (failure,) = [record for record in caplog.records if record.message == "request_failed"]
    assert vars(failure)["request"] == problem["request_id"]
    assert lines(caplog)[-1]["status"] == 500
    assert "secret" not in answer.text
    assert "the seed is secret" in caplog.text


@pytest.mark.parametrize(
    ("proxies", "given", "kept"),
    [
        *((1, "0123456789abcdef0123456789abcdef", True), (1, "0" * 7, False), (1, "0" * 8, True), (1, "a" * 65, False)),
        *((1, "with space inside", False), (0, "0123456789abcdef0123456789abcdef", False)),
    ],
)
def test_a_proxy_may_give_an_id(start: Start, proxies: int, given: str, kept: bool) -> None:
    client = start(trusted_proxies=proxies).anonymous()

    answer = client.get("/healthz", headers={"X-Request-Id": given, "X-Forwarded-For": "192.0.2.1"})

    assert (answer.headers["X-Request-Id"] == given) == kept


def test_lines_of_requests_have_their_own_limit() -> None:
    limit = LineLimit(3)
    record = logging.LogRecord("api.request_log", logging.INFO, "x.py", 1, "request_served", (), None)

    assert sum(limit.filter(record) for _ in range(LINES_FOR_REQUESTS + 5)) == LINES_FOR_REQUESTS
