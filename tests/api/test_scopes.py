"""Scopes and expiry of tokens, over all routes."""

import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from api import openapi
from referee.accounts.scopes import Scope, grants
from referee.accounts.tables import Token
from referee.db.engine import current_time
from tests.api.conftest import API, Person, Service, fields_of, friendly

ENDLESS = (f"{API}/stream", "get")
PATHS: dict[str, Any] = openapi.document()["paths"]
OPERATIONS = {
    (path, method): operation
    for path, item in PATHS.items()
    for method, operation in item.items()
    if method != "parameters"
}
WITH_TOKEN = {key: operation for key, operation in OPERATIONS.items() if "security" in operation}


def scope_of(operation: dict[str, Any]) -> Scope:
    """Return the one scope that the operation declares."""
    declared = [scopes for way in operation["security"] for scopes in way.values()]
    assert len(declared) == 1, operation["operationId"]
    (scope,) = declared[0]
    return Scope(scope)


def limited(service: Service, person: Person, *scopes: str, **more: Any) -> Person:
    made = person.post("/accounts/me/tokens", {"name": "limited", "scopes": list(scopes), **more})
    assert made.status_code == 201, made.get_data(as_text=True)
    return Person(service.anonymous(), person.id, made.get_json()["token"])


def test_E26_every_route_that_takes_a_token_declares_its_scope() -> None:
    scopes = {key: scope_of(operation) for key, operation in WITH_TOKEN.items()}
    reading = {key for key, scope in scopes.items() if scope == Scope.READ}

    assert {method for _, method in OPERATIONS.keys() - WITH_TOKEN.keys()} == {"get"}
    assert {key for key in scopes if key[1] == "get"} == reading - {(f"{API}/accounts", "post")}
    for path, method in scopes.keys() - reading:
        if path.startswith((f"{API}/accounts", f"{API}/webhooks", f"{API}/deliveries", f"{API}/account")):
            assert scopes[path, method] == Scope.ALL, (path, method)


@pytest.mark.parametrize("held", list(Scope))
def test_E26_a_route_is_refused_to_a_token_without_its_scope_and_only_then(service: Service, held: Scope) -> None:
    person = limited(service, service.person("admin"), held)

    for (path, method), operation in WITH_TOKEN.items():
        if (path, method) == ENDLESS:
            continue
        service.forget_requests()
        address = address_of(path, method).removeprefix(API)
        answer = person.ask(method.upper(), address)
        code = (answer.get_json(silent=True) or {}).get("code")

        needed = scope_of(operation)
        assert (code == "missing_scope") is not grants([held], needed), (path, method, code)
        if code == "missing_scope":
            assert answer.status_code == 403
            assert f"needs a token with the scope `{needed}`; this token has {held}." in answer.get_json()["detail"]
            assert answer.headers["WWW-Authenticate"].endswith(f'error="insufficient_scope", scope="{needed}"')
        if method == "delete" and answer.status_code == 204:
            person = limited(service, service.person("admin"), held)


def address_of(path: str, method: str) -> str:
    """Return the path with parameters that have the right format, but name nothing."""
    given = [*PATHS[path].get("parameters", []), *PATHS[path][method].get("parameters", [])]
    patterns = {parameter["name"]: parameter["schema"].get("pattern", "") for parameter in given}

    def fill(found: re.Match[str]) -> str:
        prefix = re.match(r"\^([a-z]{3})_", patterns[found[1]])
        return f"{prefix[1]}_{'0' * 26}" if prefix else "2026-01"

    return re.sub(r"\{(\w+)\}", fill, path)


def test_a_token_without_scopes_in_the_request_may_do_everything_and_never_expires(owner: Person) -> None:
    made = owner.post("/accounts/me/tokens", {"name": "laptop"}).get_json()

    assert (made["scopes"], made["expires_at"]) == (["all"], None)
    assert [token["scopes"] for token in owner.get("/accounts/me/tokens").get_json()["items"]] == [["all"], ["all"]]


@pytest.mark.parametrize(
    ("asked", "stored"),
    [
        (["read"], ["read"]),
        (["read", "play"], ["play"]),
        (["organise", "play", "play"], ["play", "organise"]),
        (["play", "all"], ["all"]),
    ],
)
def test_redundant_scopes_are_left_out(owner: Person, asked: list[str], stored: list[str]) -> None:
    assert owner.post("/accounts/me/tokens", {"name": "laptop", "scopes": asked}).get_json()["scopes"] == stored


@pytest.mark.parametrize(
    "wrong",
    [
        *({"scopes": bad} for bad in ([], ["admin"], "read", [None], ["read"] * 5)),
        *({"expires_in_days": bad} for bad in (0, -1, 731, 1.5, "7", True)),
    ],
    ids=str,
)
def test_scopes_and_days_that_cannot_be_are_named(owner: Person, wrong: dict[str, Any]) -> None:
    answer = owner.post("/accounts/me/tokens", {"name": "laptop", **wrong})

    assert answer.status_code == 422
    assert {field.partition("[")[0].partition(".")[0] for field in fields_of(answer)} == set(wrong)


def test_E6_an_expired_token_is_refused_with_the_reason_and_counts_no_longer(service: Service, owner: Person) -> None:
    brief = limited(service, owner, "all", expires_in_days=7)
    before = brief.get("/accounts/me").status_code
    with service.database.write() as session:
        moment = current_time(session)
        brief_ones = update(Token).where(Token.account_id == owner.id, Token.expires_at.is_not(None))
        session.execute(brief_ones.values(expires_at=moment - timedelta(seconds=1)))

    answer = brief.get("/accounts/me")
    more = [owner.post("/accounts/me/tokens", {"name": f"number {n}"}).status_code for n in range(20)]

    assert (before, answer.status_code, answer.get_json()["code"]) == (200, 401, "unauthenticated")
    assert answer.get_json()["detail"].startswith(f"The token expired on {moment:%Y-%m-%d} at ")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="referee", error="invalid_token"'
    assert brief.get("/bots").status_code == 401  # which needs no token
    assert more == [201] * 19 + [409]


def test_E26_an_organisers_token_for_playing_has_none_of_an_organisers_powers(
    service: Service, owner: Person, organiser: Person, mine: str, theirs: str
) -> None:
    playing = limited(service, organiser, "play")
    own = str(service.verified_bot(organiser)["id"])
    foreign = owner.post("/matches", friendly(mine, theirs)).get_json()["id"]
    event = organiser.post("/tournaments", {"name": "Cup", "game": "saint-poker", "seats": 2}).get_json()["id"]
    organiser.post(f"/tournaments/{event}/open")

    refused = [
        playing.post("/matches", friendly(own, theirs, rated=True)),
        playing.post(f"/matches/{foreign}/cancel"),
        playing.post(f"/tournaments/{event}/enter", {"bot": mine}),
        playing.post(f"/tournaments/{event}/enter", {"bot": own, "seed": 1}),
    ]
    allowed = [
        playing.post("/matches", friendly(own, theirs)),
        playing.post(f"/tournaments/{event}/enter", {"bot": own}),
    ]

    assert [(answer.status_code, answer.get_json()["code"]) for answer in refused] == [(403, "missing_scope")] * 4
    assert playing.post("/matches", friendly(mine, theirs)).status_code == 403
    assert [answer.status_code for answer in allowed] == [201, 200]
    assert playing.post(f"/matches/{allowed[0].get_json()['id']}/cancel").status_code == 200


def test_E26_the_operators_token_for_playing_pauses_no_bot_of_others(
    service: Service, owner: Person, admin: Person, mine: str
) -> None:
    playing = limited(service, admin, "play", "organise")

    refused = playing.post(f"/bots/{mine}/pause")

    assert refused.get_json()["code"] == "missing_scope"
    assert admin.post(f"/bots/{mine}/pause").status_code == 200
