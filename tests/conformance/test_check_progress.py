"""`referee check` says how far it is, and after Ctrl-C what it found."""

import asyncio
import signal
import sys

import pytest
from aiohttp import web
from click.testing import CliRunner

from referee.cli import main, progress
from referee.match.canonical import Json
from referee.runtime.house_servers import HouseServer
from tests.botclient.hostile import PATIENCE_S, SECRET
from tests.botclient.odd import GAME, Odd, said
from tests.cli.running import surroundings


def test_progress_is_lines_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.0)
    with HouseServer(["first"]) as houses:
        told = CliRunner().invoke(main, ["check", houses.urls[0], "--game", GAME, "--questions", "9"])
        quiet = CliRunner().invoke(main, ["check", houses.urls[0], "--game", GAME, "--questions", "9", "--json"])

    lines = told.stderr.splitlines()
    assert lines[0] == "check: 0 of 9 questions (manifest and notices)"
    assert any(line.startswith("check: 5 of 9 questions (saint-poker), median ") for line in lines), lines
    assert " (robustness), median " in lines[-1]
    assert quiet.stderr == ""


def test_progress_lines_come_every_few_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    now_s = [0.0]

    with progress.progress_bar("check", lines=True, now=lambda: now_s[0]) as update:
        for done in range(12):
            now_s[0] = float(done)
            update(done, 12, "questions")

    assert capsys.readouterr().err == "check: 5 of 12 questions\ncheck: 10 of 12 questions\n"


async def test_ctrl_c_ends_a_check_with_what_it_found() -> None:
    """The bot answers with an illegal action, and the signal comes while it thinks about its second answer."""
    checking: list[asyncio.subprocess.Process] = []

    async def interrupts(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
        if request.path != "/decide":
            return None
        bot.memory["asked"] = bot.memory.get("asked", 0) + 1
        if bot.memory["asked"] == 2:
            checking[0].send_signal(signal.SIGINT)
            await asyncio.sleep(PATIENCE_S)
        return said({"decision": body["decision"]["id"], "action": {"type": "cheat"}})

    bot = await Odd(interrupts).start("127.0.0.1", 0)
    try:
        command = (sys.executable, "-m", "referee", "check", bot.url, "--game", GAME, "--seed", "a")
        environment = surroundings(REFEREE_BOT_SECRET=SECRET)
        checking.append(await asyncio.create_subprocess_exec(*command, stdout=-1, stderr=-1, env=environment))
        told = await asyncio.wait_for(checking[0].communicate(), PATIENCE_S * 3)
    finally:
        await bot.close()

    output, errors = (text.decode() for text in told)
    assert checking[0].returncode == 130, errors
    assert "PARTIAL: Ctrl-C ended the check; this is what it had found.\n" in output
    assert "\nfail  an action of your bot is not legal in saint-poker\n" in output
    assert output.splitlines()[-1].startswith("interrupted: 1 failures, ")
    assert "Traceback" not in errors
