"""The starter bots of every language, created by `referee new-bot`, started as documented and called over HTTP."""

import asyncio
import json
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright._impl._driver import compute_driver_executable

from referee.botclient import client
from referee.botclient.client import BotSeat
from referee.cli.new_bot import LANGUAGES, manifest_name, write_bot
from referee.games import catalogue
from referee.house.server import serve
from referee.local import matches
from referee.match.time_limits import Limits
from referee.project_files import BOTS
from referee.protocol import messages
from referee.protocol.signing import bot_secret, challenge_proof
from tests.botclient.hostile import LOOPBACK, PATIENCE_S, SECRET, caller
from tests.botclient.test_match_driver import begun
from tests.cli.running import says, surroundings
from tests.house.test_server import is_a_proper_bot
from tests.machine import require
from tests.protocol.schemas import check

NAME = 'Ada\'s "first" bot'  # quotes and a blank must be escaped in shells and programs
STRANGE = bot_secret(b"x" * 32, "bot_x", 1)
MISTAKES = {  # by language: a part of `choose`, a replacement that fails, and the error that the bot then reports
    "python": ('.choice(question["legal_actions"])', '.choice(question["legall"])', "KeyError: 'legall'"),
    "javascript": ("question.legal_actions[", "question.legall[", "TypeError: Cannot read properties of undefined"),
    "go": ("asked.Legal[(", "asked.Legal[:0][(", "runtime error: index out of range"),
}


@pytest.fixture(scope="module", params=list(LANGUAGES))
def language(request: pytest.FixtureRequest) -> str:
    """Yield every language with a starter bot that the machine can run."""
    language = str(request.param)
    tool(language)
    return language


@pytest.fixture(scope="module")
def folder(language: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a bot with `new-bot`, with its secret in the file beside it."""
    folder = tmp_path_factory.mktemp(language) / NAME
    says({}, "new-bot", str(folder), "--language", language)
    (folder / "secret.txt").write_text(f"{SECRET}\n")
    return folder


@pytest.fixture(scope="module")
def url(language: str, folder: Path) -> Iterator[str]:
    with started(language, folder) as url:
        yield url


def tool(language: str) -> str:
    """Return the program that runs the language. Skip the test without one that is new enough."""
    name, least, purpose = LANGUAGES[language].tool, needs_version(language), f"the starter bot in {language}"
    match language:
        case "python":
            return sys.executable
        case "javascript":
            places = [shutil.which(name), compute_driver_executable()[0]]  # Playwright contains one
            return require(name, purpose, least, places=places)
    return require(name, purpose, least, asked="version")


def needs_version(language: str) -> str:
    return LANGUAGES[language].needs.rpartition(" ")[2]


@contextmanager
def started(language: str, folder: Path, **environment: str) -> Iterator[str]:
    """Start the bot in a process of its own; yield the URL that it prints."""
    process = subprocess.Popen(
        [*command(language, folder), "0"], cwd=folder, env=surroundings(**environment), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        with process.stdout as said:
            name, _, url = said.readline().rstrip().rpartition(" plays at ")
        assert name == manifest_name(folder)
        yield url
    finally:
        process.kill()
        process.wait()


def command(language: str, folder: Path) -> list[str]:
    """Return the command that starts the bot."""
    program, file = tool(language), LANGUAGES[language].file
    if language != "go":
        return [program, file]
    # `go run` leaves its child behind when it is killed
    subprocess.run([program, "build", "-o", "bot", file], cwd=folder, check=True, timeout=600)
    return [str(folder / "bot")]


def test_the_module_of_the_go_bot_and_the_lint_of_the_python_bot_name_the_versions_that_new_bot_names() -> None:
    (go,) = re.findall(r"^go (.+)$", (BOTS / "go" / "go.mod").read_text(), re.MULTILINE)
    lint = tomllib.loads((BOTS.parent / "pyproject.toml").read_text())["tool"]["ruff"]["per-file-target-version"]

    assert go == needs_version("go")
    assert lint["bots/**"] == f"py{needs_version('python').replace('.', '')}"


def test_a_starter_bot_fits_on_a_page(language: str) -> None:
    lines = (BOTS / language / LANGUAGES[language].file).read_text().splitlines()

    assert len(lines) <= 60
    assert max(map(len, lines)) <= 120


def test_a_starter_bot_proves_itself_gives_nonces_and_refuses_strangers(url: str) -> None:
    async def called() -> None:
        other = await serve("random", seed=1)
        await is_a_proper_bot(url, other.url)
        await other.close()

    asyncio.run(asyncio.wait_for(called(), PATIENCE_S * 3))


def test_a_starter_bot_shows_its_name_and_games_and_refuses_forged_unsigned_and_old_calls(url: str) -> None:
    async def called() -> tuple[client.HandshakeResult, list[int]]:
        body = messages.challenge_body("bot_test", "n" * 32)
        strange, unsigned = (client.CallTarget("bot_test", url, secrets) for secrets in ((STRANGE,), ()))
        callers = [client.BotCaller(target, LOOPBACK) for target in (strange, unsigned)]
        callers += [caller(url), caller(url, now=None)]  # expired, and current
        replies = [await one.post("/notify", body, "chl_1", 5000) for one in callers]
        shown = await client.fetch_manifest(callers[-1])
        for one in callers:
            one.close()
        return shown, [reply.status for reply in replies]

    shown, statuses = asyncio.run(called())

    assert statuses == [401, 401, 401, 200]
    assert shown.manifest is not None
    assert shown.manifest.name == NAME
    assert sorted(shown.manifest.games) == sorted(catalogue())


@pytest.mark.parametrize("game", sorted(catalogue()))
def test_a_starter_bot_plays_every_game_to_its_end_without_a_fault(url: str, game: str) -> None:
    entrants = matches.parse_entrants([url, "house:1"])
    plan = matches.LocalMatchPlan(game, {}, entrants, "starter", Limits(), secrets=(SECRET,))

    played = asyncio.run(matches.play_numbered_match(plan, 0))

    assert played.result["faults"] == [0, 0]


def test_a_starter_bot_that_errs_plays_the_default_says_why_and_goes_on(language: str, folder: Path) -> None:
    """The secret comes from the environment, which overrides the file."""
    program = folder / LANGUAGES[language].file
    right, wrong, error = MISTAKES[language]
    assert program.read_text().count(right) == 1
    program.write_text(program.read_text().replace(right, wrong))
    (folder / "secret.txt").write_text("whsec_" + "A" * 32)
    match = begun(2)
    request = match.requests()[0]

    async def asked(url: str) -> list[tuple[object, str]]:
        seat = BotSeat(caller(url + "/below", now=None), match.header, request.seat)
        answers: list[tuple[object, str]] = [((await seat.ask(request)).action, seat.error) for _ in range(2)]
        assert seat.last is not None
        check("decide_reply", seat.last[1].body)
        seat.close()
        return answers

    with started(language, folder, REFEREE_BOT_SECRET=SECRET) as url:
        answers = asyncio.run(asked(url))

    assert [action for action, _ in answers] == [request.default_action, request.default_action]
    assert all(told.startswith(error) for _, told in answers)


def test_a_starter_bot_reads_its_secret_at_each_call_and_plays_with_nobody_if_it_is_spoilt(
    language: str, tmp_path: Path
) -> None:
    write_bot(tmp_path, language)

    async def challenged(url: str, secrets: tuple[str, ...]) -> bytes:
        bot = client.BotCaller(client.CallTarget("bot_test", url, secrets), LOOPBACK)
        reply = await bot.post("/notify", messages.challenge_body("bot_test", "n" * 32), "chl_1", 5000)
        bot.close()
        return reply.body

    with started(language, tmp_path) as url:
        before = asyncio.run(challenged(url, (SECRET,)))
        (tmp_path / "secret.txt").write_text(f"{SECRET}\n")
        after = asyncio.run(challenged(url, (SECRET,)))
        (tmp_path / "secret.txt").write_bytes(b"\xff\xfe!")  # the beginning of a file in UTF-16
        spoilt = asyncio.run(challenged(url, ()))

    proof = challenge_proof(SECRET, "n" * 32)
    assert proof not in before.decode()
    assert json.loads(after) == {"proof": proof}
    assert b"proof" not in spoilt


def test_a_starter_bot_whose_port_is_taken_says_so_in_a_sentence(language: str, folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        ended = subprocess.run(
            [*command(language, folder), port], cwd=folder, capture_output=True, text=True, timeout=60, check=False
        )

    assert ended.returncode == 1
    assert "address already in use" in ended.stderr.lower()
    assert len(ended.stderr.splitlines()) == 1
    assert "cannot listen on 127.0.0.1" in ended.stderr
    assert "try another port" in ended.stderr


def test_a_starter_bot_listens_where_HOST_says(language: str, folder: Path) -> None:
    with started(language, folder, HOST="127.0.0.2") as url:
        assert url.startswith("http://127.0.0.2:")
        with socket.create_connection(("127.0.0.2", int(url.rpartition(":")[2]))):
            pass


def test_new_bot_writes_only_into_a_new_or_an_empty_folder(tmp_path: Path) -> None:
    full, file, empty = tmp_path / "full of things", tmp_path / "file", tmp_path / "empty"
    for folder in (full, empty):
        folder.mkdir()
    (full / "mine").touch()
    file.touch()

    for place, status, reason in ((full, 2, "is not empty"), (file, 2, "is a file"), (file / "bot", 1, "Cannot write")):
        assert reason in says({}, "new-bot", str(place), status=status).output
    says({}, "new-bot", str(empty))

    assert [path.name for path in full.iterdir()] == ["mine"]
    assert sorted(path.name for path in empty.iterdir()) == [".gitignore", "README.md", "bot.py"]
    assert json.dumps("empty") in (empty / "bot.py").read_text()


def test_a_bot_is_named_after_its_folder_as_far_as_a_card_may_show_it() -> None:
    names = {"my bot": "my bot", "x" * 100: "x" * 64, "Zoë\u202e": "Zoë", "\n": "starter", "/": "starter"}

    assert {folder: manifest_name(Path("/tmp") / folder) for folder in names} == names
