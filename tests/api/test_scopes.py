"""Scopes and expiry of tokens, over all routes."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from api.auth import NOT_KEPT
from referee import plugs
from referee.accounts.roles import Role
from referee.accounts.scopes import Scope
from referee.accounts.tables import Token
from referee.bots import bots
from referee.db.engine import current_time
from referee.workflows.accounts import account_oversight
from tests.api.conftest import API, Person, Service, fields_of, friendly
from tests.api.organised import EXTRA_KINDS
from tests.api.test_openapi import document, operations
from tests.api.tournaments import CUP, join, opened

OPERATORS = {"/accounts", "/acts", "/acts.csv", "/organiser-requests"}  # what they read
OF_EXTRAS = {plugs.load(resource).name for extra in plugs.extras() for resource in extra.resources}
BOT = {"name": "My bot", "url": "https://bot.example.org"}


def with_token() -> dict[tuple[str, str], Any]:
    """Return the operations that take a token."""
    return {key: operation for key, operation in operations().items() if operation["security"]}


def scope_of(operation: dict[str, Any]) -> Scope:
    """Return the one scope that the operation declares."""
    ((scope,),) = [scopes for way in operation["security"] for scopes in way.values()]
    return Scope(scope)


def is_of_extra(path: str, method: str) -> bool:
    return not OF_EXTRAS.isdisjoint(operations()[path, method]["tags"])


def limited(service: Service, person: Person, *scopes: str, **more: Any) -> Person:
    made = person.post("/accounts/me/tokens", {"name": "limited", "scopes": list(scopes), **more})
    assert made.status_code == 201, made.get_data(as_text=True)
    return Person(service.anonymous(), person.id, made.get_json()["token"])


def codes(*answers: Any) -> set[str]:
    return {answer.get_json()["code"] for answer in answers}


def test_E26_every_route_that_takes_a_token_declares_its_scope() -> None:
    scopes = {key: scope_of(operation) for key, operation in with_token().items()}
    acting = {key: scope for key, scope in scopes.items() if scope != Scope.READ}

    assert {method for _, method in operations().keys() - with_token().keys()} == {"get"}
    guarded = {path.removeprefix(API) for path, method in acting if method == "get" and not is_of_extra(path, method)}
    assert guarded == OPERATORS | {"/accounts/me/export", "/tournaments/{tournament_id}/admission"}
    for (path, method), scope in acting.items():
        if path.startswith((f"{API}/accounts", f"{API}/webhooks", f"{API}/deliveries", f"{API}/account")):
            assert scope == Scope.ALL, (path, method)


@pytest.mark.parametrize(
    ("held", "role"),
    [(Scope.READ, Role.ADMIN), (Scope.PLAY, Role.ORGANISER), (Scope.ORGANISE, Role.OWNER), (Scope.ALL, Role.OWNER)],
)
def test_E26_a_route_is_refused_to_a_token_without_its_scope_and_only_then(
    service: Service, held: Scope, role: Role
) -> None:
    person = limited(service, service.person(role), held)
    one_of_each = {scope_of(operation): route for route, operation in with_token().items()}.values()
    forbidden = set()

    for (path, method), operation in with_token().items():
        if held != Scope.READ and (path, method) not in one_of_each and (held, method) != (Scope.ALL, "get"):
            continue  # the scopes of all routes are compared in the same way
        service.forget_requests()
        address = address_of(path, method).removeprefix(API)
        answer = person.ask(method.upper(), address)
        code = (answer.get_json(silent=True) or {}).get("code")

        needed = scope_of(operation)
        is_granted = needed in (Scope.READ, held) or held == Scope.ALL
        assert (code == "missing_scope") is not is_granted, (path, method, code)
        if code == "missing_scope":
            assert answer.status_code == 403
            assert f"needs a token with the scope `{needed}`; this token has {held}." in answer.get_json()["detail"]
            assert answer.headers["WWW-Authenticate"].endswith(f'error="insufficient_scope", scope="{needed}"')
        if answer.status_code == 403 and method == "get" and not is_of_extra(path, method):
            forbidden.add(path.removeprefix(API))
        if method == "delete" and answer.status_code == 204:
            person = limited(service, service.person(role), held)
    if held == Scope.ALL:  # with which an owner is refused what only operators may read
        assert forbidden == OPERATORS


def address_of(path: str, method: str) -> str:
    """Return the path with parameters that have the right format, but name nothing."""
    given = [*document()["paths"][path].get("parameters", []), *operations()[path, method].get("parameters", [])]
    patterns = {parameter["name"]: parameter["schema"].get("pattern", "") for parameter in given}

    def fill(found: re.Match[str]) -> str:
        prefix = re.match(r"\^([a-z]{3})_", patterns[found[1]])
        return f"{prefix[1]}_{'0' * 26}" if prefix else "2026-01"

    return re.sub(r"\{(\w+)\}", fill, path)


def test_redundant_scopes_are_left_out(owner: Person) -> None:
    for asked, stored in (
        ({}, ["all"]),
        ({"scopes": ["read"]}, ["read"]),
        ({"scopes": ["read", "play"]}, ["play"]),
        ({"scopes": ["organise", "play", "play"]}, ["play", "organise"]),
        ({"scopes": ["play", "all"]}, ["all"]),
    ):
        made = owner.post("/accounts/me/tokens", {"name": "laptop", **asked}).get_json()
        assert (made["scopes"], made["expires_at"]) == (stored, None)
        assert owner.get("/accounts/me/tokens").get_json()["items"][0]["scopes"] == stored


def test_scopes_and_days_that_cannot_be_are_named(owner: Person) -> None:
    for name, wrong in [
        *(("scopes", bad) for bad in ([], ["admin"], "read", [None], ["read"] * 5)),
        *(("expires_in_days", bad) for bad in (0, -1, 731, 1.5, "7", True)),
    ]:
        answer = owner.post("/accounts/me/tokens", {"name": "laptop", name: wrong})
        assert answer.status_code == 422, wrong
        assert {field.partition("[")[0].partition(".")[0] for field in fields_of(answer)} == {name}


def test_E6_an_expired_token_is_refused_with_the_reason_and_counts_no_longer(service: Service, owner: Person) -> None:
    brief = limited(service, owner, "all", expires_in_days=730)
    before = brief.get("/accounts/me").status_code
    with service.database.write() as session:
        moment = current_time(session)
        brief_ones = update(Token).where(Token.account_id == owner.id, Token.expires_at.is_not(None))
        session.execute(brief_ones.values(expires_at=moment))

    answer = brief.get("/accounts/me")
    more = [owner.post("/accounts/me/tokens", {"name": f"number {n}"}).status_code for n in range(20)]

    assert (before, answer.status_code, answer.get_json()["code"]) == (200, 401, "unauthenticated")
    assert answer.get_json()["detail"].startswith(f"The token expired on {moment:%Y-%m-%d} at ")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="referee", error="invalid_token"'
    assert brief.get("/bots").status_code == 401  # which needs no token
    assert more == [201] * 19 + [409]


def test_E26_a_token_for_playing_has_none_of_an_organisers_or_operators_powers(
    service: Service, owner: Person, organiser: Person, admin: Person, mine: str, theirs: str
) -> None:
    playing = limited(service, organiser, "play")
    own = str(service.verified_bot(organiser)["id"])
    foreign = owner.post("/matches", friendly(mine, theirs)).get_json()["id"]
    event = opened(organiser)

    refused = [
        playing.post("/matches", friendly(own, theirs, rated=True)),
        playing.post(f"/matches/{foreign}/cancel"),
        playing.post(f"/tournaments/{event}/enter", {"bot": mine}),
        playing.post(f"/tournaments/{event}/enter", {"bot": own, "seed": 1}),
    ]
    match, entry = (
        playing.post("/matches", friendly(own, theirs)),
        playing.post(f"/tournaments/{event}/enter", {"bot": own}),
    )

    assert [(answer.status_code, answer.get_json()["code"]) for answer in refused] == [(403, "missing_scope")] * 4
    assert playing.post("/matches", friendly(mine, theirs)).status_code == 403
    assert (match.status_code, entry.status_code) == (201, 200)
    assert codes(limited(service, admin, "play", "organise").post(f"/bots/{mine}/pause")) == {"missing_scope"}
    assert playing.post(f"/matches/{match.get_json()['id']}/cancel").status_code == 200


def test_E26_a_stored_response_is_not_given_to_a_token_of_other_scopes(service: Service, owner: Person) -> None:
    key = {"Idempotency-Key": "k1"}
    made, repeated = (owner.post("/bots", BOT, headers=key) for _ in range(2))

    refused = limited(service, owner, "play").post("/bots", BOT, headers=key)

    assert repeated.get_json()["secret"] == made.get_json()["secret"]
    assert (refused.status_code, refused.get_json()["code"]) == (409, "idempotency_mismatch")


def kept(service: Service, person: Person) -> tuple[Person, dict[str, Any]]:
    """Keep a browser signed in as this person. Return what the browser can do, and the token."""
    answer = person.post("/accounts/me/device-tokens", {"name": "Firefox on Linux"})
    assert answer.status_code == 201, answer.get_data(as_text=True)
    made = answer.get_json()
    return Person(service.anonymous(), person.id, made["token"]), made


def status_of(person: Person) -> int:
    return person.get("/accounts/me").status_code


def test_E32_a_browser_that_is_kept_signed_in_plays_for_30_days_and_gets_nothing_that_outlasts_it(
    service: Service, owner: Person
) -> None:
    browser, made = kept(service, owner)

    listed, first = browser.get("/accounts/me/tokens").get_json()["items"]
    days = datetime.fromisoformat(made["expires_at"]) - datetime.fromisoformat(made["created_at"])
    assert (made["scopes"], days) == (["play", "organise"], timedelta(days=30))
    assert {**listed, "last_used_at": None} == {key: value for key, value in made.items() if key != "token"}
    assert (listed["parent_id"], first["parent_id"]) == (first["id"], None)
    assert browser.post("/tournaments", CUP | {"rated": False, "listed": False}).status_code == 201
    bot = browser.post("/bots", BOT).get_json()["id"]
    assert codes(
        browser.post("/accounts/me/tokens", {"name": "more", "scopes": ["read"]}),
        browser.ask("DELETE", f"/accounts/me/tokens/{made['parent_id']}"),
        browser.post(f"/bots/{bot}/delete", {"name": "My bot"}),
    ) == {"missing_scope"}
    with service.database.read() as session:
        assert bots.get_bot(session, bot).recovery_token_id is None  # its secret recovers no account


@pytest.mark.parametrize(
    ("path", "body"), [("/tournaments", CUP), *((f"/{kind}", {"name": "Season"}) for kind in EXTRA_KINDS)]
)
def test_E32_a_browser_that_is_kept_signed_in_gives_nothing_away_for_good(
    service: Service, organiser: Person, owner: Person, path: str, body: dict[str, Any]
) -> None:
    browser, _ = kept(service, organiser)
    made = f"{path}/{browser.post(path, body).get_json()['id']}"
    join(browser, owner, made)

    assert codes(browser.ask("DELETE", f"{made}/organisers/{organiser.id}")) == {"missing_scope"}
    assert browser.ask("DELETE", f"{made}/organisers/{owner.id}").status_code == 204


def test_E32_operators_are_not_kept_signed_in_even_if_they_become_operators_later(
    service: Service, owner: Person, admin: Person
) -> None:
    browser, _ = kept(service, owner)

    refused = admin.post("/accounts/me/device-tokens", {"name": "Firefox on Linux"})
    with service.database.write() as session:
        account_oversight.change_role(session, None, owner.id, Role.ADMIN, None)
    later = [browser.get("/accounts/me"), browser.get("/bots"), browser.post("/bots", {})]

    assert [answer.status_code for answer in (refused, *later)] == [403, 401, 401, 401]
    assert {answer.get_json()["detail"] for answer in (refused, *later)} == {NOT_KEPT}
    assert status_of(owner) == 200


@pytest.mark.parametrize("path", ["current", "parent_id"])
def test_E32_a_browser_is_signed_out_by_itself_or_when_the_token_that_made_its_token_ends(
    service: Service, owner: Person, path: str
) -> None:
    second = limited(service, owner, "all")
    (browser, made), (other, _), (alone, _) = (kept(service, who) for who in (second, owner, owner))

    assert alone.ask("DELETE", "/accounts/me/tokens/current").status_code == 204
    second.ask("DELETE", f"/accounts/me/tokens/{made.get(path, path)}")

    assert [status_of(person) for person in (alone, second, browser, other, owner)] == [401, 401, 401, 200, 200]


def test_E32_a_token_that_expires_keeps_no_browser_signed_in_for_longer(service: Service, owner: Person) -> None:
    brief = limited(service, owner, "all", expires_in_days=7)

    _, made = kept(service, brief)

    (parent,) = [t for t in owner.get("/accounts/me/tokens").get_json()["items"] if t["id"] == made["parent_id"]]
    assert made["expires_at"] == parent["expires_at"]


@pytest.mark.parametrize("held", [Scope.READ, Scope.PLAY])
def test_E32_a_token_for_less_keeps_no_browser_signed_in_but_can_end_itself(
    service: Service, owner: Person, held: Scope
) -> None:
    person = limited(service, owner, held)

    assert codes(person.post("/accounts/me/device-tokens", {"name": "Firefox on Linux"})) == {"missing_scope"}
    person.ask("DELETE", "/accounts/me/tokens/current")
    assert [status_of(person), status_of(owner)] == [401, 200]
