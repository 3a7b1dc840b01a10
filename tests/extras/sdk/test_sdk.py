"""The SDK: its functions are called, its views match the observations, its page is correct."""

import asyncio
import copy
import gzip
import json
import logging
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from referee.botclient import client
from referee.botclient.reply import Reply
from referee.cli import main
from referee.errors import BadLog, BadOption
from referee.games import catalogue
from referee.house.server import serve as serve_house
from referee.local import matches
from referee.match.time_limits import Limits
from referee.protocol import messages
from referee_extras.sdk import Bot, Question, Replayed, View, decides, members, replay, serving
from referee_extras.sdk.rules_pages import phases
from tests.botclient.hostile import PATIENCE_S, SECRET, caller
from tests.house.test_server import is_a_proper_bot

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "sdk.md").read_text()
GOLDEN = sorted((ROOT / "tests" / "golden").glob("*.ndjson"))
POOL_NAP = ROOT / "tests" / "golden" / "pool-nap-3.ndjson"


class Last(Bot):
    """A bot that plays the last legal action and stores questions and notices."""

    name = "last"

    def __init__(self) -> None:
        super().__init__()
        self.told: list[View] = []

    def decide(self, question: Question) -> dict[str, Any]:
        return question.legal_actions[-1]

    def on_notice(self, notice: View) -> None:
        self.told.append(notice)


def block(name: str) -> str:
    found = re.search(rf"<!-- test: {name} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found, name
    return found[1]


# -- views and observations --


def test_a_view_is_read_as_attributes_and_members_and_never_changed() -> None:
    view = View({"hand": ["Kc", "As"], "river": [{"card": "8s", "from": None}]})

    assert view.hand == view["hand"] == ("Kc", "As")
    assert view.river[0]["from"] is None
    assert view.to_json() == {"hand": ["Kc", "As"], "river": [{"card": "8s", "from": None}]}
    assert pickle.loads(pickle.dumps(view)) == copy.deepcopy(view) == view
    with pytest.raises(AttributeError, match="read-only"):
        view.hand = ()
    with pytest.raises(AttributeError, match="no member 'hands'; it has hand, river"):
        view.hands  # noqa: B018  # reading must not fail


@pytest.mark.parametrize("log", GOLDEN, ids=lambda log: log.stem)
def test_the_rules_page_explains_every_member_and_phase_of_a_recorded_match(log: Path) -> None:
    replayed = replay(log, Last(), 0)

    assert replayed
    for one in replayed:
        assert members(one.question.game).keys() == one.question.seen.keys()
        assert one.question.phase in phases(one.question.game)
        assert one.legal


# -- functions by phase --


def test_functions_and_marked_methods_are_asked_by_phase_and_else_decide_or_the_default() -> None:
    bot = Bot("by phase")

    @bot.decides("pool-nap", "bid")
    def boldest(question: Question) -> dict[str, Any]:
        return question.legal_actions[-1]

    class Passing(Last):
        @decides("pool-nap", "bid")
        @decides("prisoners", "bid")
        def leave_it(self, question: Question) -> None:
            return None

    for asked, bold in ((bot, "bid"), (Passing(), "play")):
        replayed = replay(POOL_NAP, asked, 1)
        assert {one.question.phase for one in replayed} == {"bid", "play"}
        for one in replayed:
            wanted = one.question.legal_actions[-1] if one.question.phase == bold else one.question.default_action
            assert one.action == wanted
    assert bot.games == ["pool-nap"]
    assert Passing().games == sorted(catalogue())


def test_a_game_or_phase_that_does_not_exist_is_refused_at_once() -> None:
    bot = Bot()

    with pytest.raises(BadOption, match="unknown game 'whist'"):
        decides("whist")
    with pytest.raises(BadOption, match="available: bid, play"):
        bot.decides("pool-nap", "pickup")
    bot.decides("pool-nap")(lambda question: None)
    with pytest.raises(BadOption, match="phase 'play' of pool-nap already has a function"):
        bot.decides("pool-nap", "play")(lambda question: None)


def ask_over_http(bot: Bot, times: int = 1) -> list[Reply]:
    """Ask a served bot the example question of the page on the protocol."""

    async def asked(url: str) -> list[Reply]:
        one = caller(url, now=None)
        replies = [await one.post("/decide", _example_question().encode(), "id", 5000) for _ in range(times)]
        one.close()
        return replies

    with serving(bot) as url:
        return asyncio.run(asked(url))


@pytest.mark.parametrize(
    ("text", "told"), [("no such card", "ValueError: no such card"), ("\ud800" + "ä" * 40_000, "ValueError: ?ää")]
)
def test_a_function_that_raises_costs_the_choice_alone(text: str, told: str, caplog: pytest.LogCaptureFixture) -> None:
    bot, body = Bot(), json.loads(_example_question())

    @bot.decides("saint-poker")
    def broken(question: Question) -> None:
        raise ValueError(text)

    if len(text) > 100:
        caplog.set_level(logging.CRITICAL, "referee_extras.sdk")  # the whole message would fill a screen
    (reply,) = ask_over_http(bot)

    read = messages.read_decision(reply.body, body["decision"]["id"], len(body["legal_actions"]))
    assert read.error.startswith(told)
    assert json.loads(reply.body)["action"] == body["default_action"]
    assert ("ValueError: no such card" in caplog.text) == (len(text) < 100)


def _example_question() -> str:
    page = (ROOT / "docs" / "bot-protocol.md").read_text()
    found = re.search(r"<!-- schema: decide_request -->\n```json\n(.*?)```", page, re.DOTALL)
    assert found
    return found[1]


# -- replaying --


def test_replaying_tells_what_is_illegal_and_what_was_raised() -> None:
    bot = Bot()

    @bot.decides("pool-nap", "bid")
    def too_much(question: Question) -> dict[str, Any]:
        return {"type": "bid", "tricks": 6}

    @bot.decides("pool-nap", "play")
    def broken(question: Question) -> dict[str, Any]:
        return {"type": "play", "card": question.seen.hand[9]}

    by_phase: dict[str, Replayed] = {one.question.phase: one for one in replay(POOL_NAP, bot, 0)}

    assert not by_phase["bid"].legal
    assert by_phase["bid"].action == {"type": "bid", "tricks": 6}
    assert by_phase["bid"].error
    assert by_phase["play"].action is None
    assert by_phase["play"].error.startswith("IndexError")


def test_a_log_is_taken_packed_or_as_lines_and_refused_when_it_does_not_hold(tmp_path: Path) -> None:
    text = POOL_NAP.read_bytes()
    packed = tmp_path / "log.ndjson.gz"
    packed.write_bytes(gzip.compress(text))
    lines = text.splitlines()

    assert len(replay(packed, Last(), 2)) == len(replay(lines, Last(), 2))
    with pytest.raises(BadLog, match="row 3"):
        replay([*lines[:3], lines[3].replace(b"seat", b"site"), *lines[4:]], Last(), 0)
    with pytest.raises(BadOption, match="seats 0 to 2"):
        replay(lines, Last(), 3)


# -- serving --


def test_a_served_bot_is_a_proper_bot() -> None:
    async def called(url: str) -> None:
        other = await serve_house("random", seed=1)
        await is_a_proper_bot(url, other.url)
        await other.close()

    bot = Last()
    with serving(bot, secret=SECRET) as url:
        asyncio.run(asyncio.wait_for(called(url), PATIENCE_S * 3))
        played = asyncio.run(matches.play_numbered_match(_plan(url), 0))

    assert played.result["faults"] == [0, 0]
    assert [notice.type for notice in bot.told] == ["group_end"]
    assert (bot.told[0].head.number, bot.told[0].head.digest) == (1, "0" * 64)


def _plan(url: str) -> matches.LocalMatchPlan:
    return matches.LocalMatchPlan(
        "prisoners", {}, matches.parse_entrants([url, "house:1"]), "sdk", Limits(), secrets=(SECRET,)
    )


def test_a_served_bot_answers_strangers_and_nonsense_with_a_status() -> None:
    async def statuses(url: str) -> list[int]:
        known, old = caller(url, now=None), caller(url)
        body = messages.challenge_body("bot_test", "nonce")
        calls = [(old, "/notify", body), (known, "/decide", b"{}"), (known, "/decide", b"["), (known, "/x", body)]
        replies = [await one.post(path, sent, "id", 5000) for one, path, sent in calls]
        known.close()
        old.close()
        return [reply.status for reply in replies]

    with serving(Bot(), secret=SECRET) as url:
        assert asyncio.run(statuses(url)) == [401, 400, 400, 404]


def test_a_question_that_comes_again_gets_the_answer_it_had() -> None:
    class Counting(Bot):
        asks = 0

        def decide(self, question: Question) -> dict[str, Any]:
            self.asks += 1
            return question.legal_actions[self.asks % len(question.legal_actions)]

    bot = Counting()
    first, second = ask_over_http(bot, times=2)

    assert first.body == second.body
    assert bot.asks == 1


def test_a_secret_file_that_is_written_while_the_bot_runs_is_enough(tmp_path: Path) -> None:
    file = tmp_path / "secret.txt"
    with pytest.raises(ValueError, match="whsec_"), serving(Bot(), secret="password"):
        pass

    async def challenged(url: str) -> str:
        one = caller(url, now=None)
        found = await client.challenge(one)
        one.close()
        return found.fault

    with serving(Bot(), secret_file=file) as url:
        faults = [asyncio.run(challenged(url))]
        for text in ("password", SECRET + "\n"):
            file.write_text(text)
            faults.append(asyncio.run(challenged(url)))

    assert faults == ["bad_schema", "bad_status", ""]


# -- the page --


def test_what_the_page_shows_can_be_run(tmp_path: Path) -> None:
    (tmp_path / "mybot.py").write_text(block("mybot"))
    command = block("match").split()[1:]
    command[command.index("match.ndjson")] = str(tmp_path / "match.ndjson")
    assert CliRunner().invoke(main, command).exit_code == 0
    program = "\n".join(block(name) for name in ("class", "members", "serving", "replay")) + "\nCareful()\n"

    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 0, done.stderr
    told, url, *others = done.stdout.splitlines()
    assert f'print(members("pool-nap")["out_round"])  # {told}' in PAGE
    assert url.startswith("http://127.0.0.1:")
    assert any("instead of" in line for line in others)
    played = subprocess.run(
        [sys.executable, "-c", block("play")], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert played.returncode == 0, played.stderr
    assert played.stdout.startswith("saint-poker, 40 matches, seed 1\nplayer ")
    assert (tmp_path / "match.html").exists()
    assert len(list((tmp_path / "logs").iterdir())) == 40
    assert PAGE.count("```python") == len(re.findall(r"<!-- test: \w+ -->\n```python", PAGE))
