"""The OpenAPI document, the documentation page and the files it needs."""

import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from api import openapi, site
from api.pages.static_files import FOLDER
from referee.match.verification import verify
from tests.api.conftest import API, Person, Service

ROOT = Path(__file__).parents[2]
UNDOCUMENTED = {  # and the pages people look at
    *("/docs", "/static/<path:name>", "/favicon.ico", "/apple-touch-icon.png", "/robots.txt"),
    *("/manifest.webmanifest", f"{API}/openapi.json"),
}


def is_page(endpoint: str) -> bool:
    return endpoint.partition(".")[0] in {f"pages of {group.name}" for group in site.list_groups()}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return openapi.document()


def test_the_committed_document_is_that_of_the_code() -> None:
    assert (ROOT / "openapi.yaml").read_text() == openapi.as_yaml(), "run: python -m api.openapi > openapi.yaml"


def test_D10_every_route_is_in_the_document_and_none_besides(service: Service, document: dict[str, Any]) -> None:
    routes = {
        (re.sub(r"<(?:[^:>]+:)?([^>]+)>", r"{\1}", rule.rule), method.lower())
        for rule in service.app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.rule not in UNDOCUMENTED and not is_page(rule.endpoint)
    }

    documented = {
        (path, method) for path, item in document["paths"].items() for method in item if method != "parameters"
    }

    assert routes == documented


def operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        operation for item in document["paths"].values() for method, operation in item.items() if method != "parameters"
    ]


def test_every_operation_documents_its_errors_as_problems(document: dict[str, Any]) -> None:
    """A generated client would parse every response without a status of its own as the one for `default`."""
    shared = document["components"]["responses"]

    for operation in operations(document):
        responses = operation["responses"]
        errors = {
            status: response.get("content") or shared[response["$ref"].rpartition("/")[2]]["content"]
            for status, response in responses.items()
            if status[0] in "45"
        }
        if operation["operationId"] in ("health.ready", "health.playing"):
            assert errors.pop("503").keys() == {"application/json"}
        assert {"4XX", "5XX"} <= responses.keys(), operation["operationId"]
        assert "default" not in responses, operation["operationId"]
        assert all(content.keys() == {"application/problem+json"} for content in errors.values()), operation


def test_every_operation_says_what_it_does_and_who_may_ask(document: dict[str, Any]) -> None:
    found = operations(document)
    tags = {tag["name"] for tag in document["tags"]}

    assert [operation["operationId"] for operation in found if not operation.get("description")] == []
    for name in ("operationId", "summary"):
        values = [operation[name] for operation in found]
        assert [value for value in values if values.count(value) > 1] == []
    assert {tag for operation in found for tag in operation["tags"]} == tags
    assert all(tag["description"] for tag in document["tags"])
    assert [operation["operationId"] for operation in found if operation["security"] == []] == [
        "health.alive",
        "health.playing",
        "health.ready",
    ]


def test_the_document_names_its_licence_and_contact_and_has_no_unused_parts(document: dict[str, Any]) -> None:
    info = document["info"]
    used = set(re.findall(r"#/components/(\w+)/([\w.-]+)", str(document)))

    assert (ROOT / "LICENSE").read_text().startswith(info["license"]["name"])
    assert info["contact"]["name"] in (ROOT / "LICENSE").read_text()
    assert used == {
        (kind, name) for kind, parts in document["components"].items() if kind != "securitySchemes" for name in parts
    }


def test_the_document_begins_with_what_every_client_does(document: dict[str, Any]) -> None:
    """These operations have examples of their bodies."""
    found = operations(document)
    first = ["accounts.open_account", "bots.register", "standings.show", "matches.log"]

    assert [tag["name"] for tag in document["tags"]][:4] == ["accounts", "bots", "standings", "matches"]
    for operation_id in first:
        (operation,) = (operation for operation in found if operation["operationId"] == operation_id)
        assert next(other for other in found if other["tags"] == operation["tags"]) == operation
        assert all(map(examples_of, bodies_of(operation))), operation_id


def test_the_examples_of_bodies_are_valid(service: Service, document: dict[str, Any]) -> None:
    client, components = service.anonymous(), {"components": document["components"]}
    by_id = {operation["operationId"]: operation for operation in operations(document)}

    for operation in by_id.values():
        for body in bodies_of(operation):
            for schema, example in examples_of(body):
                Draft202012Validator({**schema, **components}).validate(example)
    ((_, account),) = examples_of(by_id["accounts.open_account"]["requestBody"])
    opened = client.post(f"{API}/accounts", json=account).get_json()
    ((_, bot),) = examples_of(by_id["bots.register"]["requestBody"])
    person = Person(client, opened["id"], opened["token"]["token"])
    assert person.post("/bots", bot).status_code == 201
    ((_, log),) = examples_of(by_id["matches.log"]["responses"]["200"])
    assert verify(log.encode().splitlines()).cut_short


def bodies_of(operation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the request body of an operation, if it has one, and its responses that are no errors."""
    responses = [response for status, response in operation["responses"].items() if status[0] == "2"]
    return [operation["requestBody"], *responses] if "requestBody" in operation else responses


def examples_of(body: dict[str, Any]) -> list[tuple[dict[str, Any], Any]]:
    """Return the examples of a request body or response, each with its schema."""
    return [
        (content["schema"], example)
        for content in body.get("content", {}).values()
        for example in (
            [content["example"]]
            if "example" in content
            else [named["value"] for named in content.get("examples", {}).values()]
        )
    ]


WITHOUT_TOKEN = {  # what those do who have no token yet, or no longer
    f"{API}/accounts{path}" for path in ("", "/recover", "/recover-with-bot", "/recovery-challenge")
}


def test_what_needs_a_token_says_so(document: dict[str, Any]) -> None:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in ("post", "put", "patch", "delete") and path not in WITHOUT_TOKEN:
                assert [list(way) for way in operation["security"]] == [["bearer"]], (method, path)


def test_edits_and_posts_document_their_headers(document: dict[str, Any]) -> None:
    def headers(path: str, method: str) -> set[str]:
        parameters = document["paths"][API + path][method].get("parameters", [])
        return {parameter["name"] for parameter in parameters if parameter["in"] == "header"}

    assert headers("/bots/{bot_id}", "patch") == headers("/tournaments/{tournament_id}", "patch") == {"If-Match"}
    assert headers("/bots", "post") == headers("/matches/{match_id}/cancel", "post") == {"Idempotency-Key"}


def test_the_served_document_is_the_exported_one(service: Service) -> None:
    served = service.anonymous().get(f"{API}/openapi.json")

    assert served.get_json() == yaml.safe_load(openapi.as_yaml())


class Links(HTMLParser):
    """The links of a page, and its inline scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.inline = ""
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.targets += [value for name in ("src", "href") if (value := given.get(name))]
        self._inside = tag if given.get("type") != "application/json" else ""
        self.inline += "".join(name for name in given if name.startswith("on") or name == "style")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style"):
            self.inline += data.strip()


def test_the_page_needs_nothing_from_elsewhere_and_runs_nothing_inline(service: Service) -> None:
    client = service.anonymous()
    page = client.get("/docs")
    links = Links()
    links.feed(page.get_data(as_text=True))

    assert links.inline == ""
    assert page.headers["Content-Security-Policy"].startswith("default-src 'self';")
    assert "script-src" not in page.headers["Content-Security-Policy"]
    for target in links.targets:
        if target.startswith(("/static/", "http")):
            assert target.startswith("/static/") or target.endswith("/docs")  # its canonical address
        if not target.startswith("#"):
            assert client.get(target, headers={"Accept": "*/*"}).status_code == 200
    assert client.get("/static/site/docs.js").get_data(as_text=True).count(f"{API}/openapi.json") == 1


@pytest.mark.parametrize("name", ["docs.html", "swagger-ui/LICENSE", "..%2fapp.py", "../app.py", "swagger-ui", ""])
def test_E20_no_other_file_is_served(service: Service, name: str) -> None:
    assert service.anonymous().get(f"/static/{name}").status_code == 404


def test_the_vendored_files_are_those_of_the_list() -> None:
    folder = FOLDER / "swagger-ui"
    listed = {
        name: digest
        for digest, name in re.findall(r"^([0-9a-f]{64})  (\S+)$", (folder / "VENDORED.txt").read_text(), re.M)
    }

    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.name != "VENDORED.txt"
    }

    assert found == listed
