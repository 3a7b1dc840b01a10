"""The conformance suite: a correct bot passes, an incorrect one fails exactly the rule that it breaks."""

import asyncio
import json
import shlex
import socket
from pathlib import Path
from random import Random
from typing import Any

import pytest
from aiohttp import web
from click.testing import CliRunner, Result

from referee.botclient.client import CallLimits, CallTarget
from referee.cli import main
from referee.conformance.calls import Call, CallChannel
from referee.conformance.positions import (
    ProbeQuestion,
    add_unknown_members,
    collect_questions,
    extreme_values,
    remove_unknown_members,
    scenarios,
    start_match,
)
from referee.conformance.report import ConformanceReport, Finding, percentiles
from referee.conformance.rules import RULES
from referee.conformance.storage import report_to_json
from referee.games import catalogue
from referee.match.canonical import Json
from referee.match.time_limits import Limits
from tests.botclient.habits import HABITS, does_one_thing_at_a_time, is_trusted, selects_one_card
from tests.botclient.hostile import LOOPBACK, SECRET
from tests.botclient.odd import GAME, Habit, Odd, check_bot, house, is_correct, said, served
from tests.machine import require
from tests.protocol.schemas import check as fits_schema

ROOT = Path(__file__).parents[2]


def report_on(habit: Habit, **more: Any) -> ConformanceReport:
    return asyncio.run(check_bot(Odd(habit), **more))


def wanting(report: ConformanceReport) -> list[Finding]:
    return [finding for finding in report.findings if finding.severity != "ok"]


NOT_REACHED = {
    "manifest": {"known_game", "same_version"},
    "nonce_promise": {"nonce_accepted", "nonce_missed"},
    "nonce_kept": {"nonce_accepted", "nonce_missed"},
    "nonce_accepted": {"nonce_missed"},
    "resent": {"resent_same"},
}
ELSEWHERE = {"reachable", "secret_needed", "in_time", "stays_up"}  # tested separately below


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


async def test_a_good_bot_passes_with_every_game_and_nothing_to_find() -> None:
    report = await check_bot(house("sound", SECRET), questions=60, games=())

    assert wanting(report) == []
    assert not report.skipped
    assert report.verdict == "pass"
    assert report.bot
    assert report.bot["name"] == "House 3 Sound"
    assert report.rules == {name: rules.rules_version for name, rules in catalogue().items()}
    assert report.latency["total"]["calls"] > 60
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
    def drawn() -> list[ProbeQuestion]:
        dice = Random(game)
        some = scenarios(catalogue()[game], dice)
        return [found for _ in range(4) for found in collect_questions(next(some), Limits(), dice)]

    first, again = drawn(), drawn()

    assert [question.body for question in first] == [question.body for question in again]
    for question in first:
        assert fits_schema("decide_request", question.body)["decision"]["id"] == question.id
        assert question.judge_reply(b'{"decision": "%s", "choice": 0}' % question.id.encode()).fault == ""
        legal = json.dumps({"decision": question.id, "action": question.legal_actions[-1]}).encode()
        assert question.judge_reply(legal).fault == ""
        illegal = json.dumps({"decision": question.id, "action": {"type": "cheat"}}).encode()
        assert question.judge_reply(illegal).fault == "illegal_action"


def test_a_bot_cannot_tell_by_the_questions_being_unrated_that_it_is_checked() -> None:
    dice = Random(0)
    scenario = next(scenarios(catalogue()[GAME], dice))

    matches = [start_match(scenario, Limits(), dice)[0] for _ in range(16)]

    assert {match.header["rated"] for match in matches} == {True, False}


def test_extremes_are_drawn_as_far_as_they_go_together() -> None:
    for rules in catalogue().values():
        some = scenarios(rules, Random(1))
        drawn = [next(some) for _ in range(14)]
        for spec in rules.option_specs:
            met = [one.options[spec.name] for one in drawn]
            unmet = [value for value in extreme_values(spec) if value not in met and value != 0]
            assert not unmet, (rules.name, spec.name, unmet)


def test_members_are_added_to_every_object_but_those_whose_names_are_data() -> None:
    question = {"observation": {"board": {"Th": 3}, "river": [{"card": "2c"}]}, "legal_actions": [{"type": "pass"}]}

    crowded = add_unknown_members(question)

    added = {"x_unknown": {"more": [1, "two", None]}}
    assert (
        crowded
        == {
            "observation": {"board": {"Th": 3}, "river": [{"card": "2c"} | added]} | added,
            "legal_actions": [{"type": "pass"} | added],
        }
        | added
    )
    assert remove_unknown_members(crowded) == question


def test_a_bot_that_wants_signatures_is_told_to_bring_the_secret() -> None:
    report = report_on(is_correct, secret=None)

    assert [finding.id for finding in wanting(report)] == ["secret_needed"]
    assert report.verdict == "fail"
    assert report.questions == 0


async def test_without_a_secret_what_is_about_signatures_is_left_out() -> None:
    report = await check_bot(house("first"), secret=None, questions=2)

    assert wanting(report) == []
    unsigned = {skipped.id for skipped in report.skipped if skipped.reason == "no secret was given"}
    assert unsigned == {"challenge", "rotation", "signature_wrong", "signature_old", "signature_missing"}


def test_a_bot_that_takes_one_call_at_a_time_never_gets_two() -> None:
    async def counts(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
        manifest = {"protocol": "2", "name": "odd", "version": "1", "games": [GAME], "max_concurrent_requests": 1}
        return said(manifest) if request.method == "GET" else await does_one_thing_at_a_time(bot, request, body)

    report = report_on(counts)

    assert wanting(report) == []
    assert {skipped.id: skipped.reason for skipped in report.skipped} == {
        "parallel": "the manifest allows one call at a time"
    }


async def test_connections_from_before_the_manifest_are_closed() -> None:
    bot = Odd(is_correct)
    await bot.start("127.0.0.1", 0)
    channel = CallChannel(CallTarget("bot_test", bot.url, (SECRET,)), LOOPBACK, CallLimits())
    await channel.send(Call("GET", "/", "msg_1"), 5_000)
    first = channel.main
    was_connected = first.is_connected

    channel.allow(1)

    assert (was_connected, first.is_connected) == (True, False)
    assert channel.main.target.max_concurrent_requests == 1
    await bot.close()


def test_a_service_sends_nothing_more_to_who_does_not_meet_the_challenge() -> None:
    report = report_on(HABITS["challenge"], unproven_ends=True)

    assert [finding.id for finding in wanting(report)] == ["challenge"]
    assert report.calls == 1


def test_a_bot_that_goes_away_is_not_called_for_ever() -> None:
    async def dies(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
        if "paused" in bot.memory:
            assert request.transport is not None
            request.transport.abort()
        return None

    report = report_on(dies)

    assert {finding.id for finding in wanting(report)} == {"idle", "reconnect", "stays_up"}
    assert {skipped.id for skipped in report.skipped} == {
        *("keep_alive", "hung_up", "stray", "rotation", "signature_wrong", "signature_old", "signature_missing"),
        "same_version",
    }


def test_a_game_with_too_many_faults_is_given_up() -> None:
    async def always_late_with_another_id(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
        return said({"decision": "mat_other", "choice": 0}) if request.path == "/decide" else None

    report = report_on(always_late_with_another_id, questions=100)

    assert report.questions == 3
    assert report.coverage[GAME]["given_up"]
    assert {(finding.id, finding.fault) for finding in wanting(report)} == {("decision", "stale_decision")}
    assert "no question was answered without a fault" in {skipped.reason for skipped in report.skipped}


async def errs_in_poker(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if not await is_trusted(bot, request) or body["match"]["game"] != GAME:
        return None
    bot.memory["errors"] = bot.memory.get("errors", 0) + 1
    error = f"KeyError: {bot.memory['errors']}"
    return said({"decision": body["decision"]["id"], "action": body["default_action"], "error": error})


def test_a_bot_whose_code_fails_gets_no_certificate_for_the_game_and_its_owner_sees_why() -> None:
    report = report_on(errs_in_poker, games=(GAME, "pool-nap"), questions=12)

    (failed,) = report.findings_of("fail")
    assert (failed.id, failed.fault, failed.came) == ("no_error", "error", "KeyError: 1")
    assert failed.where.startswith(f"{GAME}, ")
    assert failed.times > 6
    asked = fits_schema("decide_request", shlex.split(failed.curl)[2].encode())
    assert asked["match"]["game"] == GAME
    assert report.verdict == "fail"
    assert [*report.passed] == ["pool-nap"]
    first = report_to_json(report, "seed")["findings"][0]
    assert (first["id"], first["came"], bool(first["advice"]), bool(first["curl"])) == ("no_error", "KeyError: 1", 1, 1)


# -- commands that repeat a request --


async def run_in_shell(line: str) -> str:
    process = await asyncio.create_subprocess_exec("sh", "-c", line, stdout=-1, stderr=-1)
    told, wrong = await process.communicate()
    assert process.returncode == 0, wrong
    return told.decode()


async def test_the_curl_line_of_a_finding_asks_the_bot_again_and_is_signed() -> None:
    require("curl", "the command that repeats a request")

    bot = Odd(selects_one_card)
    finding = wanting(await check_bot(bot))[0]
    await bot.start("127.0.0.1", int(bot.url.rpartition(":")[2]))
    told = await run_in_shell(finding.curl)
    await bot.close()

    words = shlex.split(finding.curl)
    assert words[:2] == ["printf", "%s"]
    asked = fits_schema("decide_request", words[2].encode())
    assert told.startswith("HTTP/1.1 200")
    assert json.loads(told.splitlines()[-1]) == {
        "decision": asked["decision"]["id"],
        "action": {"type": "select", "cards": ["Th"]},
    }


async def test_a_curl_line_keeps_every_byte_and_signs_as_the_protocol_says() -> None:
    body = '{"test": "it\'s $HOME `ls` \\\\ %s é"}'.encode()
    call = Call("POST", "/decide", "msg_p5jXN8AQM9LWM0D4loKWxJek", body, ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",))

    line = call.curl("http://127.0.0.1:9", 1614265330.5)

    printed = await run_in_shell(line.partition(" | ")[0])
    assert printed.encode() == body
    known = Call("POST", "/decide", call.id, b'{"test": 2432232314}', call.secrets)
    signed = known.curl("http://127.0.0.1:9", 1614265330.5)
    assert "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" in signed
    assert "'webhook-timestamp: 1614265330'" in signed


# -- the command --


def checked(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["check", *arguments])


def test_the_command_tells_passes_failures_and_absence_by_its_status(tmp_path: Path) -> None:
    bot = house("first")
    with served(bot) as url:
        arguments = (url, "--game", GAME, "--questions", "2", "--seed", "a")
        passed = checked(*arguments)
        bot.secret = SECRET
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
    assert "fail  your bot answers 401 to signed calls" in wrong.output
    assert "breaks challenge: " in wrong.output
    assert (tmp_path / "requests" / "01-challenge.sh").read_text().startswith("printf %s '")
    assert absent.exit_code == 3
    assert "fail  no connection to your bot could be opened" in absent.output


def test_what_cannot_be_called_at_all_is_refused() -> None:
    assert checked("ftp://127.0.0.1:9000").exit_code == 2
    assert checked("http://127.0.0.1:9000", "--secret", "nothing").exit_code == 2


def test_percentiles_are_by_nearest_rank() -> None:
    assert percentiles([4.0, 1.0, 3.0, 2.0]) == {"calls": 4, "p50": 2.0, "p90": 4.0, "p99": 4.0, "max": 4.0}
    assert percentiles([]) == {"calls": 0, "p50": 0.0, "p90": 0.0, "p99": 0.0, "max": 0.0}


def test_every_line_of_the_table_of_findings_is_a_rule() -> None:
    head, *rows = (ROOT / "docs" / "checking.md").read_text().partition("\n## Findings\n\n")[2].splitlines()

    assert head == "| finding | weight | expected | what to do |"
    assert [row.split("`")[1] for row in rows[1:]] == list(RULES)
    assert all(rule.expected and rule.advice for rule in RULES.values())


def test_a_report_is_kept_small_and_still_asks_the_same() -> None:
    many = [
        Finding("decision", "fail", "…", "x" * 9_000, f"saint-poker, {number}", curl="c" * 8_000)
        for number in range(90)
    ]
    many[1] = Finding("decision", "fail", "…", curl="c" * 9_000)
    report = ConformanceReport("http://a.example", "1", "0.1.0", True, findings=many)

    small = report_to_json(report, "seed")

    assert (small["seed"], small["verdict"], small["findings_left_out"]) == ("seed", "fail", 30)
    assert [finding["curl_cut"] for finding in small["findings"][:3]] == [False, True, False]
    assert len(json.dumps(small)) < 250_000


def test_what_fails_in_one_game_speaks_against_that_game_alone() -> None:
    rules = {"saint-poker": 1, "pool-nap": 1, "prisoners": 1}
    asked = {game: {"questions": 3, "given_up": game == "prisoners"} for game in rules}

    def passed(*findings: Finding) -> Json:
        return ConformanceReport("", "1", "", True, rules=rules, coverage=asked, findings=findings).passed

    assert passed(Finding("huge", "warn", "…", where="pool-nap, bid")) == {"saint-poker": 1, "pool-nap": 1}
    assert passed(Finding("decision", "fail", "…", where="pool-nap, bid")) == {"saint-poker": 1}
    assert passed(Finding("resent", "fail", "…", where="pool-nap, bid")) == {}
    assert passed(Finding("unknown_members", "fail", "…", where="group_start")) == {}
