"""`referee check` says how far it is, and after Ctrl-C what it found."""

import asyncio
import signal
import threading

import pytest
from aiohttp import web
from click.testing import CliRunner

from referee.cli import main, progress
from referee.match.canonical import Json
from tests.botclient.hostile import SECRET
from tests.botclient.odd import GAME, Odd, house, said, served


def test_progress_is_lines_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.0)
    with served(house("first")) as url:
        told = CliRunner().invoke(main, ["check", url, "--game", GAME, "--questions", "9"])
        quiet = CliRunner().invoke(main, ["check", url, "--game", GAME, "--questions", "9", "--json"])

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


def test_ctrl_c_ends_a_check_with_what_it_found() -> None:
    """The bot answers with an illegal action, and the signal comes while it thinks about its second answer."""

    async def interrupts(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
        if request.path != "/decide":
            return None
        bot.memory["asked"] = bot.memory.get("asked", 0) + 1
        if bot.memory["asked"] == 2:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            while request.transport is not None:  # noqa: ASYNC110  # the end of a connection tells nobody
                await asyncio.sleep(0.01)
        return said({"decision": body["decision"]["id"], "action": {"type": "cheat"}})

    with served(Odd(interrupts)) as url:
        arguments = ["check", url, "--game", GAME, "--seed", "a"]
        told = CliRunner().invoke(main, arguments, env={"REFEREE_BOT_SECRET": SECRET})

    assert told.exit_code == 130, told.stderr
    assert "PARTIAL: Ctrl-C ended the check; this is what it had found.\n" in told.stdout
    assert "\nfail  an action of your bot is not legal in saint-poker\n" in told.stdout
    assert told.stdout.splitlines()[-1].startswith("interrupted: 1 failures, ")
    assert "Traceback" not in told.stderr
