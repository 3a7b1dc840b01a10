"""A bounded number of requests generated from the OpenAPI document: no 500, and only documented responses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api import create_app
from referee.ladders import months
from referee.timestamps import format_month
from tests.api.conftest import API, Person, Service
from tests.api.organised import EXTRA_KINDS, create, places
from tests.api.test_openapi import operations
from tests.api.tournaments import CUP, started
from tests.surroundings import settings_for


@dataclass
class Target:
    """A service with an object of each kind."""

    app: Flask
    people: Iterator[Person]
    ids: dict[str, str]


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "referee.db").write_bytes(sqlite_template.read_bytes())
    configured = settings_for(folder)
    service = Service(create_app(configured), configured)
    owner, organiser = service.person(), service.person("organiser")
    result = service.played(owner, organiser)
    tournament_id = started(service, organiser, 2, format="knockout")
    over = organiser.post("/tournaments", CUP).get_json()
    for verb in ("open", "cancel"):
        organiser.post(f"/tournaments/{over['id']}/{verb}")
    hook = {"url": "https://hooks.example.org/", "events": ["match.finished"]}
    webhook_id = owner.post("/webhooks", hook).get_json().get("id")  # None without the extra
    pings = owner.get(f"/webhooks/{webhook_id}/deliveries").get_json().get("items", [])
    month = datetime.now(UTC).date().replace(day=1)
    assert months.close_month(service.database, str(result.ladder_id), month)
    second = service.played(owner, service.person())
    voided = service.person("admin").post(f"/matches/{second.match_id}/void", {"reason": "a test"})
    assert voided.status_code == 200
    (void,) = owner.get("/voids").get_json()["items"]
    open_bot = service.verified_bot(owner)["id"]
    rival = service.person()
    rivals_bot = service.verified_bot(rival)["id"]
    rival.ask("PATCH", f"/bots/{rivals_bot}/friendlies", json={"challengers": "on_request"})
    terms = {"game": "saint-poker", "bots": [open_bot, rivals_bot]}
    request_id = owner.post("/friendly-requests", terms).get_json()["id"]
    others = {kind: create(organiser, kind) for kind in EXTRA_KINDS}
    for path in others.values():
        organiser.post(f"{path}/tournaments", {"tournaments": [tournament_id]})
    invited = organiser.post(f"{places(organiser)['tournament']}/organisers", {"account": owner.id}).get_json()
    ids = {
        **{f"{kind}_id": path.rpartition("/")[2] for kind, path in others.items()},
        "request_id": request_id,
        "invitation_id": invited["id"],
        "void_id": void["id"],
        **dict.fromkeys(("account_id", "owner_id"), owner.id),
        "bot_id": result.bots[0],
        "opponent_id": result.bots[1],
        "match_id": result.match_id,
        "ladder_id": result.ladder_id or "",
        "tournament_id": tournament_id,
        "over": over["id"],
        "webhook_id": webhook_id,
        "delivery_id": pings[0]["id"] if pings else None,
        "token_id": "tok_" + "0" * 26,
        "name": "saint-poker",
        **dict.fromkeys(("tournament_round", "fault_id"), "1"),
        "row": "5",
        "month": format_month(month),
    }
    yield Target(service.app, cycle([owner, organiser]), ids)
    service.database.dispose()


@pytest.mark.parametrize("examples", [2, pytest.param(20, marks=pytest.mark.long)])
def test_E2_no_request_makes_the_service_fail(target: Target, examples: int) -> None:
    import schemathesis  # only here, because every process of a test run imports this file

    document = schemathesis.openapi.from_wsgi(f"{API}/openapi.json", target.app)
    for (path, method), described in sorted(operations().items()):
        operation = document[path][method]
        is_free = "requestBody" in described or any(given["in"] != "path" for given in described.get("parameters", ()))
        if is_free:
            ask_at_random(target, operation, path, examples)
        else:
            named = re.findall(r"{(\w+)}", path)
            ask(target, operation.Case(path_parameters={name: unknown(target.ids[name]) for name in named}), path)


def unknown(id: str | None) -> str:
    """Return an id or number of the same kind of which nothing exists."""
    kind, separator, _ = str(id).partition("_")
    return f"{kind}_{'z' * 26}" if separator else "999"


def ask_at_random(target: Target, operation: Any, path: str, examples: int) -> None:
    """Send generated requests, every other one also with generated ids."""
    from schemathesis import GenerationMode

    strategy = st.one_of(*[operation.as_strategy(generation_mode=mode) for mode in GenerationMode])
    takes_made_up = cycle([True, False])

    @settings(
        max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(strategy)
    def ask_one(case: Any) -> None:
        ask(target, case, path, with_its_ids=next(takes_made_up))

    ask_one()


def ask(target: Target, case: Any, path: str, *, with_its_ids: bool = True) -> None:
    """Send the request with ids of objects that exist and, if wished, with its own before."""
    from schemathesis import checks
    from schemathesis.specs.openapi import checks as openapi_checks

    required = (
        checks.not_a_server_error,
        openapi_checks.status_code_conformance,
        openapi_checks.content_type_conformance,
        openapi_checks.response_schema_conformance,
        openapi_checks.response_headers_conformance,
    )
    finished = {  # what has streams that end, by path
        f"{API}/tournaments/{{tournament_id}}/stream": {"tournament_id": target.ids["over"]},
        f"{API}/matches/{{match_id}}/stream": {"match_id": target.ids["match_id"]},
    }
    target.app.extensions["referee.limiter"].reset()  # more requests than a caller may send in a minute
    own = dict(case.path_parameters or {})
    real = {name: target.ids[name] for name in own}
    if path.endswith("/stream"):
        real = finished.get(path, own)
    person = next(target.people)
    for parameters in [own, real] if own and with_its_ids else [real]:
        case.path_parameters = parameters
        case.call_and_validate(checks=required, headers={**(case.headers or {}), **person.headers()})
