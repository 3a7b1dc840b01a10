"""All errors are problem documents."""

import logging
import re
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

import api
from api.errors import ALL_CODES, TABLE, problem_of
from referee import errors as domain
from referee.db.engine import Database
from tests.api.conftest import API, Person, Service

FIELDS = {"type", "title", "status", "code", "detail", "request_id"}


def is_problem(answer: TestResponse, status: int, code: str) -> bool:
    document = answer.get_json()
    return (
        answer.status_code == status == document["status"]
        and answer.mimetype == "application/problem+json"
        and document["code"] == code
        and document.keys() >= FIELDS
        and document["request_id"] == answer.headers["X-Request-Id"]
    )


def test_E13_an_unknown_address_or_method_is_a_problem(service: Service) -> None:
    client = service.anonymous()

    for path in ("/nope", API, f"{API}/nope", f"{API}/bots/", f"{API}/matches/x"):
        assert is_problem(client.get(path), 404, "not_found"), path
    for method in ("PUT", "DELETE", "TRACE", "CONNECT", "PROPFIND"):
        answer = client.open(f"{API}/bots", method=method)
        assert is_problem(answer, 405, "method_not_allowed"), method
        assert {"GET", "POST"} <= set(answer.headers["Allow"].split(", "))


def test_every_kind_of_refusal_is_a_problem(service: Service, owner: Person) -> None:
    bot = service.verified_bot(owner)
    path, changes = f"/bots/{bot['id']}", {"name": "new"}

    assert is_problem(service.anonymous().post(f"{API}/bots", json={}), 401, "unauthenticated")
    assert is_problem(owner.get("/acts"), 403, "forbidden")
    assert is_problem(owner.post("/bots", {"name": bot["name"], "url": "https://x.example"}), 409, "name_taken")
    assert is_problem(owner.ask("PATCH", path, json=changes), 428, "precondition_required")
    assert is_problem(owner.ask("PATCH", path, {"If-Match": '"x"'}, json=changes), 412, "precondition_failed")
    assert is_problem(owner.get("/bots?limit=0"), 422, "validation_failed")


def test_E7_no_error_repeats_the_token(service: Service, owner: Person, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = [{"Authorization": text} for text in (f"Basic {owner.token}", f"Bearer {owner.token}x")]
    answers = [
        *(owner.get("/nope"), owner.post("/bots", {"name": "x"}), owner.ask("PUT", "/bots")),
        *(service.anonymous().get(f"{API}/accounts/me", headers=headers) for headers in wrong),
    ]

    assert all(owner.token not in answer.get_data(as_text=True) for answer in answers)
    assert owner.token not in caplog.text


def test_every_code_is_in_the_documented_list() -> None:
    sources = "".join(path.read_text() for path in Path(api.__file__).parent.rglob("*.py"))
    written = set(re.findall(r"Problem\(\s*\d{3},\s*\"(\w+)\"", sources))

    assert {"bad_host", "log_not_ready", "malformed_json", "unsupported_media_type"} <= written <= set(ALL_CODES)


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


def test_E25_an_unavailable_record_asks_to_come_back(service: Service, owner: Person) -> None:
    busy = service.database
    owner.get("/accounts/me")  # notes the use of the token, which is not what is tested
    service.app.extensions["referee.database"] = Database(service.settings.database_url, write_wait_s=0.05)

    with busy.write():
        refused = owner.post("/accounts/me/tokens", {"name": "second"})
        read = service.anonymous().get("/api/v1/bots")
    tokens = owner.get("/accounts/me/tokens").get_json()["items"]

    assert is_problem(refused, 503, "unavailable")
    assert (refused.headers["Retry-After"], read.status_code, len(tokens)) == ("2", 200, 1)
