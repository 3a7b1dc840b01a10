"""Query parameters: every route accepts its own, each once, and refuses others."""

import re

import pytest
from flask import Flask
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from tests.api.conftest import API, Person, Service, fields_of
from tests.api.test_openapi import operations
from tests.api.tournaments import started

BROWSER = {"Accept": "text/html"}
WORDS = {"name": "saint-poker", "tournament_round": "1", "fault_id": "1", "row": "1", "month": "2026-01"}


def routes(app: Flask) -> list[tuple[str, Rule]]:
    """Return every method and rule of the application."""
    return [
        (method, rule)
        for rule in sorted(app.url_map.iter_rules(), key=str)
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
    ]


def address(rule: Rule) -> str:
    """Return a path for this rule; its ids need not exist."""
    filled = re.sub(r'<id\("(\w+)"\):\w+>', lambda found: f"{found[1]}_{'0' * 26}", rule.rule)
    return re.sub(r"<(?:[^:>]+:)?(\w+)>", lambda found: WORDS[found[1]], filled)


def ask(admin: Person, method: str, rule: Rule, query: str) -> TestResponse:
    return admin.client.open(f"{address(rule)}?{query}", method=method, headers=admin.headers())


def test_E4_every_route_refuses_a_parameter_that_it_does_not_know(service: Service, admin: Person) -> None:
    rules = {rule.rule for _, rule in routes(service.app)}

    assert len(rules) > 100
    assert {"/", "/docs", "/healthz", f"{API}/openapi.json", f"{API}/bots", f"{API}/now"} <= rules
    for method, rule in routes(service.app):
        answer = ask(admin, method, rule, "strange=1")
        assert (answer.status_code, answer.mimetype) == (422, "application/problem+json"), (method, rule)
        assert answer.get_json()["errors"] == [{"field": "strange", "message": "This parameter is unknown here."}]


def test_E4_every_parameter_of_the_api_and_the_pages_is_refused_when_given_twice(
    service: Service, admin: Person
) -> None:
    refused: dict[tuple[str, str, str], TestResponse] = {}
    repeatable = set()
    for method, rule in routes(service.app):
        declared = service.app.view_functions[rule.endpoint].__dict__
        path = re.sub(r"<(?:[^:>]+:)?(\w+)>", r"{\1}", rule.rule)
        for name in declared.get("query_parameters", ()):
            if name in declared["repeatable_parameters"]:
                repeatable.add((path, name))
            else:
                refused[method, path, name] = ask(admin, method, rule, f"{name}=1&{name}=2")

    assert repeatable == {(f"{API}/matches", "bot"), ("/matches", "bot")}
    assert {
        (method.upper(), path, parameter["name"])
        for (path, method), operation in operations().items()
        for parameter in operation.get("parameters", ())
        if parameter.get("in") == "query"
    } - {("GET", f"{API}/matches", "bot")} <= refused.keys()
    assert {path for _, path, _ in refused if not path.startswith(API)} >= {"/matches", "/tournaments", "/ladders"}
    for asked, answer in refused.items():
        assert answer.status_code == 422, asked
        assert answer.get_json()["errors"] == [{"field": asked[2], "message": "Give this parameter only once."}]


def test_E4_E6_all_that_is_wrong_is_named_but_who_may_not_ask_is_told_so_first(service: Service, owner: Person) -> None:
    answer = owner.get("/matches?game=A&strange=1&game=B&%C3%A9=2&status=running")

    assert (answer.status_code, fields_of(answer)) == (422, {"game", "strange", r"\xe9"})
    assert service.anonymous().get(f"{API}/accounts/me?token=ref_x").status_code == 401


@pytest.mark.parametrize("path", ["/matches?game=a&game=b", "/?strange=1", "/ladders?page=1&page=2", "/docs?strange=1"])
def test_E4_a_page_refuses_with_a_page(service: Service, path: str) -> None:
    answer = service.anonymous().get(path, headers=BROWSER)

    assert (answer.status_code, answer.mimetype) == (422, "text/html")


def test_E4_a_ladder_as_of_an_act_takes_no_order(service: Service, owner: Person) -> None:
    ladder = service.played(owner, service.person()).ladder_id
    client = service.anonymous()

    assert client.get(f"/ladders/{ladder}?as_of=1").status_code == 200
    assert fields_of(client.get(f"/ladders/{ladder}?as_of=1&sort=rank")) == {"sort"}
    assert fields_of(client.get(f"/ladders/{ladder}?sort=rank&cursor=x")) == {"cursor"}


def test_pages_ignore_what_other_sites_add_to_links_and_the_api_does_not(service: Service, organiser: Person) -> None:
    event = started(service, organiser, 2)
    client = service.anonymous()
    added = "utm_source=letter&utm_medium=mail&fbclid=a&gclid=b"

    for path, status in ((f"/tournaments/{event}?", 200), (f"/?{added}&", 200), ("/tournaments?strange=1&", 422)):
        assert client.get(path + added, headers=BROWSER).status_code == status
    assert fields_of(client.get(f"{API}/tournaments/{event}?utm_source=letter")) == {"utm_source"}
