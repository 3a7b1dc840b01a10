"""The examination of bots: a good one passes, an odd one is caught by the rule it breaks and by no other."""

import asyncio
import json
import shlex
import shutil
import socket
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from aiohttp import web
from click.testing import CliRunner, Result

from referee.bots.client import CallLimits, Target
from referee.bots.conformance.calls import Call
from referee.bots.conformance.course import Pace
from referee.bots.conformance.examination import examine
from referee.bots.conformance.positions import Question, extremes, positions, scenarios, with_added, without_added
from referee.bots.conformance.report import Finding, Report, percentiles
from referee.bots.conformance.rules import RULES, table
from referee.bots.house import House, serve
from referee.canonical import Json
from referee.cli import main
from referee.cli.houses import Houses
from referee.clocks import Limits
from referee.games import catalogue
from tests.bots.hostile import LOOPBACK, PATIENCE_S, SECRET
from tests.bots.odd import Habit, Odd, is_signed, played, said
from tests.bots.schemas import check as fits_schema

ROOT = Path(__file__).parents[2]
GAME = "saint-poker"
LATE_S = 1.1  # later than a budget


async def examined(
    bot: House, *, secret: str | None = SECRET, questions: int = 4, games: tuple[str, ...] = (GAME,)
) -> Report:
    """The report on a bot that is being served. Pauses last no time, but the bot hears of them."""

    async def paused(_seconds: float) -> None:
        if isinstance(bot, Odd):
            bot.memory["paused"] = True

    target = Target("bot_test", bot.url, (secret,) if secret else ())
    pace = Pace(sleep=paused)
    return await examine(
        target, LOOPBACK, CallLimits(), games=games, questions=questions, dice=Random("test"), pace=pace
    )


def report_on(habit: Habit, **more: Any) -> Report:
    async def served() -> Report:
        bot = await Odd(habit).start("127.0.0.1", 0)
        try:
            async with asyncio.timeout(PATIENCE_S * 3):
                return await examined(bot, **more)
        finally:
            await bot.close()

    return asyncio.run(served())


def wanting(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.severity != "ok"]


async def nothing(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return None


# -- odd habits, each named by the rule it breaks --

HABITS: dict[str, Habit] = {}


async def is_trusted(bot: Odd, request: web.Request) -> bool:
    """What a good bot makes sure of before it answers."""
    signed = is_signed(request, await request.read())
    return signed and abs(bot.now() - int(request.headers["webhook-timestamp"])) < 300


def breaks(rule: str) -> Callable[[Habit], Habit]:
    def noted(habit: Habit) -> Habit:
        HABITS[rule] = habit
        return habit

    return noted


def once_after_a_pause(bot: Odd, request: web.Request, nth: int) -> bool:
    """Whether this is the ``nth`` question after the pause."""
    if request.path != "/decide" or "paused" not in bot.memory:
        return False
    bot.memory["since"] = bot.memory.get("since", 0) + 1
    return bool(bot.memory["since"] == nth)


@breaks("challenge")
async def proves_nothing(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({"proof": "0" * 64}) if body.get("type") == "challenge" else None


@breaks("card")
async def speaks_another_protocol(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({"protocol": "2", "name": "odd", "version": "1", "games": [GAME]}) if request.method == "GET" else None


@breaks("known_game")
async def plays_chess(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    card = {"protocol": "1", "name": "odd", "version": "1", "games": ["chess"]}
    return said(card) if request.method == "GET" else None


@breaks("unknown_game")
async def plays_chess_too(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    card = {"protocol": "1", "name": "odd", "version": "1", "games": ["chess", GAME]}
    return said(card) if request.method == "GET" else None


@breaks("slow_start")
async def wakes_slowly(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if bot.calls == 1:
        await asyncio.sleep(LATE_S)
    return None


@breaks("nonce_promise")
async def promises_nonsense(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({"nonce_hash": "none of your business"}) if body.get("step") == 1 else None


@breaks("nonce_kept")
async def breaks_its_promise(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({"nonce": "another"}) if body.get("step") == 2 else None


@breaks("decision")
async def selects_one_card(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if body.get("observation", {}).get("phase") != "select":
        return None
    return said({"decision": body["decision"]["id"], "action": {"type": "select", "cards": ["Th"]}})


@breaks("budget")
async def ponders_once(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path == "/decide" and not bot.memory.setdefault("pondered", False):
        bot.memory["pondered"] = True
        await asyncio.sleep(LATE_S)
    return None


@breaks("resent")
async def answers_nothing_twice(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path != "/decide" or not await is_trusted(bot, request):
        return None
    known = bot.memory.setdefault("known", set())
    if body["decision"]["id"] in known:
        return said({"error": "asked before"}, 409)
    known.add(body["decision"]["id"])
    return None


@breaks("resent_same")
async def changes_its_mind(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path != "/decide" or not await is_trusted(bot, request):
        return None
    return played(body, bot.calls % len(body["legal"]))


@breaks("stale")
async def keeps_the_newest_question(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path != "/decide" or not await is_trusted(bot, request):
        return None
    match, asked = body["match"]["id"], body["decision"]
    if match not in bot.memory or bot.memory[match]["n"] <= asked["n"]:
        bot.memory[match] = asked
        return None
    return said({"decision": bot.memory[match]["id"], "choice": 0})


@breaks("unknown_members")
async def knows_every_member(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    strange = "match" in body and "x_unknown" in body["match"]
    return said({"error": "what is x_unknown?"}, 500) if strange else None


@breaks("huge")
async def takes_small_bodies(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({}, 413) if (request.content_length or 0) > 100_000 else None


@breaks("parallel")
async def does_one_thing_at_a_time(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if "paused" in bot.memory:
        return None
    if bot.memory.get("busy"):
        return said({"error": "busy"}, 503)
    bot.memory["busy"] = True
    try:
        await asyncio.sleep(0.02)
    finally:
        bot.memory["busy"] = False
    return None


@breaks("unknown_notice")
async def dislikes_the_weather(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({}, 500) if body.get("type") == "weather_report" else None


@breaks("end_notices")
async def cannot_end(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({}, 500) if body.get("type") == "match_end" else None


@breaks("keep_alive")
async def hangs_up(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path != "/decide" or not await is_trusted(bot, request):
        return None
    answer = played(body)
    answer.force_close()
    return answer


@breaks("idle")
async def falls_asleep(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({}, 503) if once_after_a_pause(bot, request, 1) else None


@breaks("reconnect")
async def wants_its_old_connection(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({}, 503) if once_after_a_pause(bot, request, 2) else None


@breaks("hung_up")
async def takes_offence(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({}, 503) if once_after_a_pause(bot, request, 4) else None


@breaks("stray")
async def stumbles_over_HEAD(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.method == "HEAD":
        bot.memory["down"] = True
    return said({}, 503) if request.path == "/decide" and bot.memory.pop("down", False) else None


@breaks("rotation")
async def reads_one_signature(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({}, 401) if " " in request.headers.get("webhook-signature", "") else None


@breaks("signature_wrong")
async def believes_any_signature(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    signature, sent = (request.headers.get(f"webhook-{part}", "") for part in ("signature", "timestamp"))
    return played(body) if request.path == "/decide" and signature and bot.now() - int(sent) < 300 else None


@breaks("signature_old")
async def looks_at_no_clock(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return played(body) if request.path == "/decide" and is_signed(request, await request.read()) else None


@breaks("signature_missing")
async def believes_the_unsigned(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return played(body) if request.path == "/decide" and "webhook-signature" not in request.headers else None


NOT_REACHED = {"card": {"known_game"}, "resent": {"resent_same"}}
ELSEWHERE = {"reachable", "secret_needed", "stays_up"}  # tested by themselves below


def test_there_is_an_odd_bot_for_every_rule() -> None:
    assert {*HABITS} | ELSEWHERE == {*RULES}


@pytest.mark.parametrize("rule", HABITS)
def test_an_odd_bot_is_caught_by_the_rule_it_breaks_and_no_other(rule: str) -> None:
    report = report_on(HABITS[rule])

    assert {finding.id for finding in wanting(report)} == {rule}, wanting(report)
    assert {finding.severity for finding in wanting(report)} == {RULES[rule].severity}
    assert report.verdict == ("fail" if RULES[rule].severity == "fail" else "pass")
    assert all(finding.curl for finding in wanting(report))
    assert {skipped.id for skipped in report.skipped} == NOT_REACHED.get(rule, set())


def test_a_good_bot_passes_with_every_game_and_nothing_to_find() -> None:
    async def served() -> Report:
        bot = await serve("sound", secret=SECRET, seed=1)
        try:
            return await examined(bot, questions=150, games=())
        finally:
            await bot.close()

    report = asyncio.run(served())

    assert wanting(report) == []
    assert not report.skipped
    assert report.verdict == "pass"
    assert report.bot
    assert report.bot["name"] == "house sound"
    assert report.rules == {name: rules.rules_version for name, rules in catalogue().items()}
    assert report.latency["total"]["calls"] > 150
    assert 0 < report.latency["connect"]["calls"] < report.calls / 2
    for name, rules in catalogue().items():
        covered = report.coverage[name]
        assert {kind.partition(":")[0] for kind in covered["kinds"]} == PHASES[name]
        assert {rules.seats[0], rules.seats[-1]} <= set(covered["seats"])
        for option, values in covered["options"].items():
            assert len(values) >= 2, (name, option, values)
    json.dumps(report.to_json())


PHASES = {
    "pool-nap": {"bid", "play"},
    "prince-albert": {"vote", "throw", "bet1", "bet2", "bet3", "bidding", "drawing", "all_in", "show"},
    "prisoners": {"bid", "name_suit"},
    "rummy-royal": {"dealer", "auction", "lead"},
    "saint-poker": {"river", "select", "pickup"},
}


@pytest.mark.parametrize("game", catalogue())
def test_questions_are_those_of_the_protocol_and_follow_from_the_dice(game: str) -> None:
    def drawn() -> list[Question]:
        dice = Random(game)
        some = scenarios(catalogue()[game], dice)
        return [found for _ in range(4) for found in positions(next(some), Limits(), dice)]

    first, again = drawn(), drawn()

    assert [one.body for one in first] == [one.body for one in again]
    for question in first:
        assert fits_schema("decide_request", question.body)["decision"]["id"] == question.id
        assert question.judged(b'{"decision": "%s", "choice": 0}' % question.id.encode()).fault == ""
        legal = json.dumps({"decision": question.id, "action": question.legal[-1]}).encode()
        assert question.judged(legal).fault == ""
        illegal = json.dumps({"decision": question.id, "action": {"type": "cheat"}}).encode()
        assert question.judged(illegal).fault == "illegal_action"


def test_extremes_are_drawn_as_far_as_they_go_together() -> None:
    for rules in catalogue().values():
        some = scenarios(rules, Random(1))
        drawn = [next(some) for _ in range(14)]
        for spec in rules.option_specs:
            met = [one.options[spec.name] for one in drawn]
            unmet = [value for value in extremes(spec) if value not in met and value != 0]
            assert not unmet, (rules.name, spec.name, unmet)


def test_members_are_added_to_every_object_but_those_whose_names_are_data() -> None:
    question = {"observation": {"board": {"Th": 3}, "river": [{"card": "2c"}]}, "legal": [{"type": "pass"}]}

    crowded = with_added(question)

    added = {"x_unknown": {"more": [1, "two", None]}}
    assert (
        crowded
        == {
            "observation": {"board": {"Th": 3}, "river": [{"card": "2c"} | added]} | added,
            "legal": [{"type": "pass"} | added],
        }
        | added
    )
    assert without_added(crowded) == question


def test_a_bot_that_wants_signatures_is_told_to_bring_the_secret() -> None:
    report = report_on(nothing, secret=None)

    assert [finding.id for finding in wanting(report)] == ["secret_needed"]
    assert report.verdict == "fail"
    assert report.questions == 0


def test_without_a_secret_what_is_about_signatures_is_left_out() -> None:
    async def served() -> Report:
        bot = await serve("first")
        try:
            return await examined(bot, secret=None, questions=2)
        finally:
            await bot.close()

    report = asyncio.run(served())

    assert wanting(report) == []
    unsigned = {skipped.id for skipped in report.skipped if skipped.reason == "no secret was given"}
    assert unsigned == {"challenge", "rotation", "signature_wrong", "signature_old", "signature_missing"}


def test_a_bot_that_takes_one_call_at_a_time_never_gets_two() -> None:
    async def counts(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
        card = {"protocol": "1", "name": "odd", "version": "1", "games": [GAME], "max_calls": 1}
        return said(card) if request.method == "GET" else await does_one_thing_at_a_time(bot, request, body)

    report = report_on(counts)

    assert wanting(report) == []
    assert {skipped.id: skipped.reason for skipped in report.skipped} == {
        "parallel": "the card allows one call at a time"
    }


def test_a_bot_that_goes_away_is_not_called_for_ever() -> None:
    async def dies(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
        if "paused" in bot.memory:
            assert request.transport is not None
            request.transport.abort()
        return None

    report = report_on(dies)

    assert {finding.id for finding in wanting(report)} == {"idle", "reconnect", "stays_up"}
    assert {skipped.id for skipped in report.skipped} == {
        *("keep_alive", "hung_up", "stray", "rotation", "signature_wrong", "signature_old", "signature_missing")
    }


def test_a_game_with_too_many_faults_is_given_up() -> None:
    async def always_late_with_another_id(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
        return said({"decision": "mat_other", "choice": 0}) if request.path == "/decide" else None

    report = report_on(always_late_with_another_id, questions=100)

    assert report.questions == 3
    assert report.coverage[GAME]["given_up"]
    assert {(finding.id, finding.fault) for finding in wanting(report)} == {("decision", "stale_decision")}
    assert "no question was answered properly" in {skipped.reason for skipped in report.skipped}


# -- the request to send again --


async def run_in_shell(line: str) -> str:
    process = await asyncio.create_subprocess_exec("sh", "-c", line, stdout=-1, stderr=-1)
    told, wrong = await process.communicate()
    assert process.returncode == 0, wrong
    return told.decode()


def test_the_curl_line_of_a_finding_asks_the_bot_again_and_is_signed() -> None:
    async def served() -> tuple[Finding, str]:
        bot = await Odd(selects_one_card).start("127.0.0.1", 0)
        try:
            finding = wanting(await examined(bot))[0]
            return finding, await run_in_shell(finding.curl) if shutil.which("curl") else ""
        finally:
            await bot.close()

    finding, told = asyncio.run(served())

    words = shlex.split(finding.curl)
    assert words[:2] == ["printf", "%s"]
    asked = fits_schema("decide_request", words[2].encode())
    if not told:
        warnings.warn("curl is not on this machine: its lines were read, not run", stacklevel=1)
        return
    assert told.startswith("HTTP/1.1 200")
    assert json.loads(told.splitlines()[-1]) == {
        "decision": asked["decision"]["id"],
        "action": {"type": "select", "cards": ["Th"]},
    }


def test_a_curl_line_keeps_every_byte_and_signs_as_the_protocol_says() -> None:
    body = '{"test": "it\'s $HOME `ls` \\\\ %s é"}'.encode()
    call = Call("POST", "/decide", "msg_p5jXN8AQM9LWM0D4loKWxJek", body, ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",))

    line = call.curl("http://127.0.0.1:9", 1614265330.5)

    printed = asyncio.run(run_in_shell(line.partition(" | ")[0]))
    assert printed.encode() == body
    known = Call("POST", "/decide", call.id, b'{"test": 2432232314}', call.secrets)
    signed = known.curl("http://127.0.0.1:9", 1614265330.5)
    assert "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" in signed
    assert "'webhook-timestamp: 1614265330'" in signed


# -- the command --


def checked(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["check", *arguments])


def test_the_command_tells_passes_failures_and_absence_by_its_status(tmp_path: Path) -> None:
    with Houses(["first"]) as houses:
        url = houses.urls[0]
        arguments = (url, "--game", GAME, "--questions", "2", "--seed", "a")
        passed = checked(*arguments)
        houses.tell(0, SECRET)
        (tmp_path / "secret").write_text(SECRET + "\n")
        locked = checked(*arguments, "--json")
        signed = checked(*arguments, "--json", "--secret-file", str(tmp_path / "secret"))
        wrong = checked(*arguments, "--secret", "whsec_AAAA", "--save", str(tmp_path / "requests"))
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        absent = checked(f"http://127.0.0.1:{closed.getsockname()[1]}")

    assert passed.exit_code == 0, passed.output
    assert "pass: 0 failures, 0 warnings" in passed.output
    assert (locked.exit_code, json.loads(locked.output)["findings"][0]["id"]) == (1, "secret_needed")
    assert (signed.exit_code, json.loads(signed.output)["verdict"]) == (0, "pass")
    assert json.loads(signed.output)["seed"] == "a"
    assert wrong.exit_code == 1
    assert "fail  challenge" in wrong.output
    assert (tmp_path / "requests" / "01-challenge.sh").read_text().startswith("printf %s '")
    assert absent.exit_code == 3
    assert "fail  reachable" in absent.output


def test_what_cannot_be_called_at_all_is_refused() -> None:
    assert checked("ftp://127.0.0.1:9000").exit_code == 2
    assert checked("http://127.0.0.1:9000", "--secret", "nothing").exit_code == 2


def test_percentiles_are_by_nearest_rank() -> None:
    assert percentiles([4.0, 1.0, 3.0, 2.0]) == {"calls": 4, "p50": 2.0, "p90": 4.0, "p99": 4.0, "max": 4.0}
    assert percentiles([]) == {"calls": 0, "p50": 0.0, "p90": 0.0, "p99": 0.0, "max": 0.0}


def test_the_page_lists_the_findings_as_they_are() -> None:
    page = (ROOT / "docs" / "checking.md").read_text()

    assert table() in page, f"put this into docs/checking.md:\n{table()}"
