"""All errors are problem documents."""

import logging
import re
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

import api
from api.errors import ALL_CODES, TABLE, problem_of
from referee import errors as domain
from referee.db.engine import Database
from tests.api.conftest import Person, Service, Start


def is_problem(answer: TestResponse, status: int, code: str) -> bool:
    document = answer.get_json()
    return (
        answer.status_code == status == document["status"]
        and answer.mimetype == "application/problem+json"
        and document["code"] == code
        and {"type", "title", "status", "code", "detail", "request_id"} <= document.keys()
        and document["request_id"] == answer.headers["X-Request-Id"]
    )


@pytest.mark.parametrize("path", ["/nope", "/api/v1", "/api/v1/nope", "/api/v1/bots/", "/api/v1/matches/x"])
def test_an_unknown_address_is_a_problem(service: Service, path: str) -> None:
    assert is_problem(service.anonymous().get(path), 404, "not_found")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "TRACE", "CONNECT", "PROPFIND"])
def test_E13_another_method_is_a_problem_that_says_which_are_allowed(service: Service, method: str) -> None:
    answer = service.anonymous().open("/api/v1/bots", method=method)

    assert is_problem(answer, 405, "method_not_allowed")
    assert {"GET", "POST"} <= set(answer.headers["Allow"].split(", "))


def test_every_kind_of_refusal_is_a_problem(service: Service, owner: Person) -> None:
    client: FlaskClient = service.anonymous()
    bot = service.verified_bot(owner)

    assert is_problem(client.post("/api/v1/bots", json={}), 401, "unauthenticated")
    assert is_problem(owner.get("/acts"), 403, "forbidden")
    assert is_problem(owner.post("/bots", {"name": bot["name"], "url": "https://x.example"}), 409, "name_taken")
    assert is_problem(owner.ask("PATCH", f"/bots/{bot['id']}", json={"name": "new"}), 428, "precondition_required")
    stale = owner.ask("PATCH", f"/bots/{bot['id']}", {"If-Match": '"x"'}, json={"name": "new"})
    assert is_problem(stale, 412, "precondition_failed")
    assert is_problem(owner.get("/bots?limit=0"), 422, "validation_failed")


def test_a_failure_of_ours_is_a_problem_that_tells_nothing(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> str:
        raise RuntimeError("the seed is secret")

    service = start()
    service.app.add_url_rule("/fail", view_func=fail)

    with caplog.at_level(logging.ERROR):
        answer = service.anonymous().get("/fail")

    assert is_problem(answer, 500, "internal_error")
    assert "secret" not in answer.get_data(as_text=True)
    assert "the seed is secret" in caplog.text
    assert caplog.records[-1].__dict__["request"] == answer.get_json()["request_id"]


def test_E7_no_error_repeats_the_token(service: Service, owner: Person, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    answers = [
        owner.get("/nope"),
        owner.post("/bots", {"name": "x"}),
        owner.ask("PUT", "/bots"),
        service.anonymous().get("/api/v1/accounts/me", headers={"Authorization": f"Basic {owner.token}"}),
        service.anonymous().get("/api/v1/accounts/me", headers={"Authorization": f"Bearer {owner.token}x"}),
    ]

    assert all(owner.token not in answer.get_data(as_text=True) for answer in answers)
    assert owner.token not in caplog.text


def test_every_code_is_in_the_documented_list() -> None:
    package = Path(api.__file__).parent
    written = {
        code
        for path in package.rglob("*.py")
        for code in re.findall(r"Problem\(\s*\d{3},\s*\"(\w+)\"", path.read_text())
    }

    assert {"bad_host", "log_not_ready", "malformed_json", "unsupported_media_type"} <= written
    assert written <= set(ALL_CODES)


def leaves(kind: type[Exception]) -> list[type[Exception]]:
    return [kind, *(leaf for child in kind.__subclasses__() for leaf in leaves(child))]


def test_the_table_knows_every_domain_error_that_a_request_can_meet() -> None:
    ours = {domain.IllegalAction, domain.IllegalOutcome, domain.BadLog, domain.BrokenGame}  # no request meets them
    in_errors = {kind for kind in leaves(domain.RefereeError) if kind.__module__ == "referee.errors"}

    known = {kind for kind in in_errors if any(parent in TABLE for parent in kind.__mro__)}

    assert in_errors - known == ours | {domain.RefereeError}


@pytest.mark.parametrize(
    ("error", "status", "fields"),
    [
        (domain.UrlRefused("invalid_scheme", "https only"), 422, ["url"]),
        (domain.BadOption("name", "too short"), 422, ["name"]),
        (domain.NotFound("bot", "bot_1"), 404, []),
        (domain.Unavailable("locked"), 503, []),
    ],
)
def test_domain_errors_name_their_fields(service: Service, error: Exception, status: int, fields: list[Any]) -> None:
    with service.app.test_request_context():
        problem = problem_of(error)

    assert (problem.status, [field for field, _ in problem.errors]) == (status, fields)


def test_E25_an_unavailable_record_asks_to_come_back(start: Start) -> None:
    service = start()
    owner = service.person()
    busy = service.database
    owner.get("/accounts/me")  # notes the use of the token, which is not what is tested
    service.app.extensions["referee.database"] = Database(service.settings.database_url, write_wait_s=0.05)

    with busy.write():
        refused = owner.post("/accounts/me/tokens", {"name": "second"})
        read = service.anonymous().get("/api/v1/bots")
    tokens = owner.get("/accounts/me/tokens").get_json()["items"]

    assert is_problem(refused, 503, "unavailable")
    assert refused.headers["Retry-After"] == "2"
    assert read.status_code == 200
    assert len(tokens) == 1
