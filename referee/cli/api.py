"""Implement `referee api`, which sends one request to the API of a service and prints the answer.

It serves scripts for everything that has an endpoint but no command.
"""

import json
import re
from typing import Any, Final
from urllib.parse import urlencode

import click

from referee.cli.plain_text import as_sentence, replace_control_characters
from referee.cli.service.api_client import ApiRedirect, ApiRefusal
from referee.cli.service.parameters import as_object
from referee.cli.service.remote import Remote, RequestRefused, error_to_json, service_command

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
FIELD: Final = re.compile(r"(?P<name>[^=:\s]+)(?P<sign>:?=)(?P<value>.*)", re.DOTALL)


@service_command("api")
@click.argument("request", metavar="[METHOD] PATH [NAME=VALUE...]", nargs=-1, required=True)
@click.option("--paginate", is_flag=True, help="Fetch all pages of a list, and print each item on a line.")
def call_api(remote: Remote, request: tuple[str, ...], paginate: bool) -> None:
    """Send a request to the API of the service, and print the answer.

    PATH is relative to /api/v1. METHOD is GET or, if there are fields, POST unless you name another. NAME=VALUE is a
    text and NAME:=JSON any JSON value: a parameter of the query for GET and DELETE, otherwise a member of the JSON
    body. PATCH changes the current version of what it edits. JSON is printed with indentation, or with --json on one
    line. If the service refuses the request or redirects it, its reason is printed and the exit status is 1. The page
    /docs of the service describes all requests.

    \b
    Examples:
      referee api /bots/bot_…/faults
      referee api GET /bots status=verified --paginate
      referee api PATCH /tournaments/trn_… prizes="A cake" rated:=false
    """
    method, path, fields = _parse(request)
    if paginate and method != "GET":
        raise click.UsageError(f"--paginate fetches lists with GET, not {method}.")
    try:
        if paginate:
            for item in remote.api.items(path, most_pages=None):
                click.echo(json.dumps(item))
        else:
            _print_answer(remote, remote.api.send(method, f"/api/v1{path}", fields))
    except (ApiRefusal, ApiRedirect) as error:
        if remote.as_json:
            click.echo(json.dumps({"error": error_to_json(error)}))
        raise RequestRefused(replace_control_characters(as_sentence(_sentence(error)))) from error


def _parse(request: tuple[str, ...]) -> tuple[str, str, dict[str, Any] | None]:
    """Return method, path with query, and body. Raise ``click.UsageError`` if the arguments are no request."""
    named, rest = (request[0].upper(), request[1:]) if request[0].upper() in METHODS else (None, request)
    if not rest:
        raise click.UsageError("Pass the PATH of the request, like /bots.")
    if "://" in rest[0] or rest[0].startswith("//") or "\\" in rest[0]:
        raise click.UsageError(
            f"{rest[0]!r} is not a path of this service. Pass one like /bots, and the host with --url."
        )
    path = f"/{rest[0].removeprefix('/').removeprefix('api/v1/')}"
    fields = [_parse_field(text) for text in rest[1:]]
    method = named or ("POST" if fields else "GET")
    if method in ("POST", "PUT", "PATCH"):
        return method, path, as_object(tuple(fields)) if fields else None
    texts = [(name, value if isinstance(value, str) else json.dumps(value)) for name, value in fields]
    return method, path + ("&" if "?" in path else "?") * bool(texts) + urlencode(texts), None


def _parse_field(text: str) -> tuple[str, Any]:
    found = FIELD.fullmatch(text)
    if found is None:
        raise click.UsageError(f"{text!r} is not of the form NAME=VALUE or NAME:=JSON.")
    if found["sign"] == "=":
        return found["name"], found["value"]
    try:
        return found["name"], json.loads(found["value"])
    except ValueError:
        raise click.UsageError(f"{found['value']!r} is not JSON. Pass a text as {found['name']}=TEXT.") from None


def _print_answer(remote: Remote, answer: bytes) -> None:
    """Print JSON as the options ask, and anything else, for example CSV, as it is."""
    if not answer:
        return
    try:
        document = json.loads(answer)
    except ValueError:
        click.echo(answer, nl=False)
    else:
        remote.show(document, json.dumps(document, indent=2, ensure_ascii=False))


def _sentence(error: ApiRefusal | ApiRedirect) -> str:
    if isinstance(error, ApiRedirect):
        return str(error)
    fields = "; ".join(f"{field}: {message}" for field, message in error.fields)
    return fields or error.detail or f"the service answered {error.status}"
