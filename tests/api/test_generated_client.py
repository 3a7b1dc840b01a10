"""A Python client that openapi-python-client generates from the document of the API."""

import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest

from referee.match.verification import verify
from tests.api.in_thread import api_in_thread
from tests.api.test_openapi import document, operations
from tests.database import tournaments

PACKAGE = "generated_client"
CONTENT = b'{"row":0}\n'

Find = Callable[[str], Any]  # a module of the client, by the name of an operation


@pytest.fixture(scope="module")
def find(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Find]:
    folder = tmp_path_factory.mktemp("client")
    options = {"path": folder / "openapi.json", "config": folder / "config.yml", "output-path": folder / PACKAGE}
    options["path"].write_text(json.dumps(document()))  # it reads YAML slowly
    options["config"].write_text("post_hooks: []")  # the client need not be formatted
    arguments = [f"--{name}={value}" for name, value in {**options, "meta": "none"}.items()]
    made = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield lambda name: import_module(f"{PACKAGE}.{name}")
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def test_it_registers_a_bot_reads_standings_and_downloads_a_log(find: Find, tmp_path: Path) -> None:
    models, clients = find("models"), find("client")
    with api_in_thread(tmp_path) as (url, world):
        tournament_id, entered = tournaments.begun(world, 2)
        (claim,) = world.claim()
        world.finish(claim)
        with clients.Client(base_url=url) as client:
            opened = find("api.accounts.accounts_open_account").sync(client=client, body=models.NewAccount(name="Ann"))
            standings = find("api.standings.standings_show").sync(tournament_id, client=client)
            log = find("api.matches.matches_log").sync(claim.match_id, client=client)
            missing = find("api.matches.matches_log").sync("mat_" + "0" * 26, client=client)
        with clients.AuthenticatedClient(base_url=url, token=opened.token.token) as client:
            body = models.NewBot(name="Annie", url="https://annie.example.org/")
            bot = find("api.bots.bots_register").sync(client=client, body=body)

    assert (bot.name, bot.status.value, bot.secret[:6]) == ("Annie", "unverified", "whsec_")
    assert sorted(row.bot for row in standings.items) == sorted(entered)
    assert [row.matches for row in standings.items] == [1, 1]
    report = verify(log.payload.readlines())
    assert (report.ok, report.match, report.signature is not None) == (True, claim.match_id, True)
    assert (missing.status, missing.code) == (404, "not_found")


def test_it_returns_what_is_not_json_as_text_or_bytes(find: Find) -> None:
    downloads = {
        f"api.{operation['tags'][0]}.{operation['operationId'].replace('.', '_')}": media_type
        for (_, method), operation in operations().items()
        if method == "get"
        for media_type in [next(iter(operation["responses"]["200"]["content"]))]
        if media_type != "application/json"
    }
    assert len(downloads) > 10
    for name, media_type in downloads.items():
        answer = httpx.Response(200, headers={"Content-Type": media_type}, content=CONTENT)
        arguments = {"transport": httpx.MockTransport(lambda request, answer=answer: answer)}
        module = find(name)
        parameters = inspect.signature(module.sync).parameters.values()
        needed = {parameter.name: "2027-01" for parameter in parameters if parameter.default is parameter.empty}
        with find("client").Client(
            base_url="http://127.0.0.1", raise_on_unexpected_status=True, httpx_args=arguments
        ) as client:
            parsed = module.sync(**needed | {"client": client})

        assert (parsed.encode() if isinstance(parsed, str) else parsed.payload.read()) == CONTENT, name
