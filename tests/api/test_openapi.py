"""The OpenAPI document, the documentation page and the files it needs."""

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from api import openapi, site
from api.pages.static_files import FOLDER
from tests.api.conftest import API, Service

ROOT = Path(__file__).parents[2]
UNDOCUMENTED = {  # and the pages people look at
    *("/docs", "/static/<path:name>", "/favicon.ico", "/apple-touch-icon.png", "/robots.txt"),
    *("/manifest.webmanifest", f"{API}/openapi.json"),
}
WITHOUT_TOKEN = {  # what those do who have no token yet, or no longer
    f"{API}/accounts{path}" for path in ("", "/recover", "/recover-with-bot", "/recovery-challenge")
}


@cache
def document() -> dict[str, Any]:
    """Return the document of the code, which is not needed until a test runs."""
    return openapi.document()


@cache
def operations() -> dict[tuple[str, str], Any]:
    """Return all operations by path and method."""
    return {
        (path, method): operation
        for path, item in document()["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    }


def test_the_committed_document_is_that_of_the_code_and_is_served(service: Service) -> None:
    exported = openapi.as_yaml()

    assert (ROOT / "openapi.yaml").read_text() == exported, "run: python -m api.openapi > openapi.yaml"
    assert service.anonymous().get(f"{API}/openapi.json").get_json() == yaml.load(exported, yaml.CSafeLoader)


def test_D10_every_route_is_in_the_document_and_none_besides(service: Service) -> None:
    pages = {f"pages of {group.name}" for group in site.list_groups()}

    assert operations().keys() == {
        (re.sub(r"<(?:[^:>]+:)?([^>]+)>", r"{\1}", rule.rule), method.lower())
        for rule in service.app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.rule not in UNDOCUMENTED and rule.endpoint.partition(".")[0] not in pages
    }


def test_every_operation_documents_its_errors_as_problems() -> None:
    """A generated client would parse every response without a status of its own as the one for `default`."""
    shared = document()["components"]["responses"]

    for operation in operations().values():
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


def test_every_operation_says_what_it_does_and_who_may_ask() -> None:
    found = operations().values()
    tags = [tag["name"] for tag in document()["tags"]]

    assert all(operation["description"] for operation in found)
    for name in ("operationId", "summary"):
        assert len({operation[name] for operation in found}) == len(found)
    assert {tag for operation in found for tag in operation["tags"]} == {*tags}
    assert tags[:4] == ["accounts", "bots", "standings", "matches"]  # what every client does
    assert all(tag["description"] for tag in document()["tags"])
    without = [operation["operationId"] for operation in found if operation["security"] == []]
    assert without == ["health.alive", "health.playing", "health.ready"]
    for (path, method), operation in operations().items():
        if method != "get" and path not in WITHOUT_TOKEN:
            assert [list(way) for way in operation["security"]] == [["bearer"]], (method, path)


def test_the_document_names_its_licence_and_contact_and_has_no_unused_parts() -> None:
    info, licence = document()["info"], (ROOT / "LICENSE").read_text()

    assert licence.startswith(info["license"]["name"])
    assert info["contact"]["name"] in licence
    assert set(re.findall(r"#/components/(\w+)/([\w.-]+)", str(document()))) == {
        (kind, name) for kind, parts in document()["components"].items() if kind != "securitySchemes" for name in parts
    }


def test_edits_and_posts_document_their_headers() -> None:
    def headers(path: str, method: str) -> set[str]:
        parameters = operations()[API + path, method].get("parameters", [])
        return {parameter["name"] for parameter in parameters if parameter["in"] == "header"}

    assert headers("/bots/{bot_id}", "patch") == headers("/tournaments/{tournament_id}", "patch") == {"If-Match"}
    assert headers("/bots", "post") == headers("/matches/{match_id}/cancel", "post") == {"Idempotency-Key"}


def test_the_page_needs_nothing_from_elsewhere_and_runs_nothing_inline(service: Service) -> None:
    client = service.anonymous()
    page = client.get("/docs")

    assert not re.search(r"<[^>]* (?:on\w+|style)=|<style|<script(?![^>]*(?:src=|application/json))", page.text)
    assert page.headers["Content-Security-Policy"].startswith("default-src 'self';")
    assert "script-src" not in page.headers["Content-Security-Policy"]
    targets = re.findall(r'<[^>]* (?:src|href)="([^"#][^"]*)"', page.text)
    assert sum(target.startswith("/static/") for target in targets) > 2
    for target in targets:
        assert target.startswith("/") or target.endswith("/docs"), target  # its canonical address
        assert client.get(target, headers={"Accept": "*/*"}).status_code == 200
    assert client.get("/static/site/docs.js").text.count(f"{API}/openapi.json") == 1


def test_E20_no_other_file_is_served(service: Service) -> None:
    of_docs = ("docs.html", "swagger-ui/LICENSE", "..%2fapp.py", "../app.py", "swagger-ui", "")
    for name in (*of_docs, "site/none.js", "%2e%2e/app.py", "site/", "v-/", "site%2flive.py"):
        answer = service.anonymous().get(f"/static/{name}", headers={"Accept": "text/html"})
        assert (answer.status_code, answer.mimetype) == (404, "application/problem+json"), name


def test_the_vendored_files_are_those_of_the_list() -> None:
    files = {path.name: path.read_bytes() for path in (FOLDER / "swagger-ui").iterdir()}
    listed = re.findall(r"^([0-9a-f]{64})  (\S+)$", files.pop("VENDORED.txt").decode(), re.M)

    assert {name: hashlib.sha256(content).hexdigest() for name, content in files.items()} == {
        name: digest for digest, name in listed
    }
