"""`referee register` and `watch` against a service that runs, with a bot that answers nonsense."""

import json
import os
import re
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from referee.bots.checks import GIVEN_UP
from referee.cli.bot_check import format_report
from referee.cli.service.api_client import Api
from referee.protocol.signing import challenge_proof
from tests.cli.answering import Answer, Call, answering
from tests.cli.hall import RunningHall
from tests.cli.running import comes_true, says
from tests.cli.test_starter_bots import started

MANIFEST = {"protocol": "2", "name": "babbler", "version": "7", "games": ["saint-poker"]}


class Babbler:
    """A bot that knows nothing but its secret, once it has received it."""

    secret = ""
    url = ""

    def answer(self, call: Call) -> Answer:
        status, said = self.reply(call.path, json.loads(call.body or "{}"))
        return status, {"Content-Type": "application/json"}, json.dumps(said, ensure_ascii=False).encode()

    def reply(self, path: str, body: Any) -> tuple[int, Any]:
        if path == "/":
            return 200, MANIFEST
        if not self.secret:
            return 401, {}
        if body.get("type") == "challenge":
            return 200, {"proof": challenge_proof(self.secret, body["nonce"])}
        return 200, {"well": "\x1b[31mlet me see"} if path == "/decide" else {}


@contextmanager
def babbling() -> Iterator[Babbler]:
    bot = Babbler()
    with answering(bot.answer) as bot.url:
        yield bot


@pytest.fixture(scope="module")
def there(running_hall: RunningHall) -> dict[str, str]:
    """Return the environment of an author's commands, once there are house bots to play."""
    with Api(running_hall.url) as anybody:
        assert comes_true(lambda: list(anybody.items("/bots?status=house")))
    return running_hall.as_author("Author")


def test_a_bot_is_registered_checked_plays_the_house_and_its_faults_are_told(
    there: dict[str, str], tmp_path: Path
) -> None:
    with babbling() as bot:
        secret_file = tmp_path / "secret.txt"
        register = ("register", bot.url, "--name", "Babbler", "--secret-file", str(secret_file))
        described_as = ("--language", "Python", "--link", "https://example.org/bot")

        refused = says(there, "register", "http://10.0.0.1:9000", "--name", "Hidden", status=1)
        unproven = says(there, *register, *described_as, status=1)
        bot.secret = secret_file.read_text().strip()
        saved = tmp_path / "requests"
        bot_id = re.findall(r"bot_\w{26}", unproven.stdout)[0]
        says(there, "api", "POST", f"/bots/{bot_id}/pause")
        played = says(there, *register, "--practice", "saint-poker", "--save", str(saved), status=1)
        lost = says(there, "register", bot.url, "--name", "Second", "--secret-file", str(secret_file), status=2)
        change = ("--summary", "Talks a lot", "--language", "", "--no-check")
        described = says(there, "register", bot.url, "--name", "Babbler", *change, "--json")
        match_id = re.findall(r"mat_\w{26}", played.stdout)[0]
        watched = says(there, "watch", match_id)

    assert "tunnel" in refused.output
    about = json.loads(described.stdout)
    assert (about["summary"], about["language"], about["link"]) == ("Talks a lot", None, "https://example.org/bot")
    assert "was changed: summary, language" in described.stderr
    assert stat.S_IMODE(os.stat(secret_file).st_mode) == 0o600
    assert bot.secret not in unproven.output
    assert "fail  POST /notify with a challenge: bad_status" in unproven.stdout
    assert "secret.txt" in unproven.stdout
    assert "already exists" in lost.output
    assert "is verified" in played.stdout
    assert "no rating before it passes its check" in played.stdout
    assert "fail  POST /decide: the body was JSON but not an answer" in played.stdout
    assert "breaks decision (saint-poker, river)" in played.stdout
    assert "no certificate, so no rated matches" in played.stdout
    assert "Babbler had 3 faults in 3 decisions; the default actions were played." in played.stdout
    assert "  It was retired in 1 match, and not asked any more" in played.stdout
    assert "  bad_schema, 3 times\n    what it means: " in played.stdout
    assert f"  more: {there['REFEREE_URL']}/matches/{match_id}\n" in played.stdout
    assert "curl" not in played.stdout
    assert "curl " in (saved / "01-decision.sh").read_text()
    assert re.search(rf"\) is verified\n{there['REFEREE_URL']}/bots/bot_\w+$", played.stdout.rstrip())
    assert "\x1b" not in played.stdout
    assert "is already registered to you" in played.stderr
    assert "its pause ends (paused by its owner)" in played.stderr
    assert "while other matches wait for slots, it may last for 15 minutes" in played.stderr
    assert match_id in watched.stdout
    assert ", friendly, finished" in watched.stdout
    assert "Babbler" in watched.stdout


def test_the_example_of_the_help_works_as_it_stands(
    there: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the address differs: it is that of a starter bot that was started before its registration."""
    shown = says({}, "register", "--help").stdout.replace("\\\n", " ")  # a backslash continues the line
    (example,) = re.findall(r"^ +referee (register https://.*)$", shown, re.M)
    command = shlex.split(example)
    folder = tmp_path / Path(command[command.index("--secret-file") + 1]).parent
    says({}, "new-bot", str(folder))
    monkeypatch.chdir(tmp_path)
    with started("python", folder) as url:
        done = says(there, *[url if part.startswith("https://") else part for part in command])

    assert ") is certified: " in done.stdout
    assert "certificate of" in done.stdout
    assert 'plays on official ladders: referee bots show "My bot" shows which' in done.stdout
    assert "finished" in done.stdout
    assert "fault" not in done.stdout
    *_, verdict, page = done.stdout.splitlines()
    assert re.fullmatch(r"bot_\w+ \(My bot\) is certified: .*saint-poker.*", verdict)
    assert page == f"{there['REFEREE_URL']}/bots/{verdict.split()[0]}"
    (told,) = (line for line in done.stdout.splitlines() if "immediate rated matches" in line)
    left = {name: int(matches) for matches, name in re.findall(r"(\d+) on ([\w ]+)[,;]", told)}
    assert left == {"Pool Nap": 30}
    assert "and a new version gets 15 more, at most 2 times in 24 hours" in told


warning = {"severity": "warn", "where": "", "expected": "it is so", "came": "not", "times": 1, "advice": "Do it."}


def checked(**check: Any) -> dict[str, Any]:
    """A bot whose check went well, as the service tells of it."""
    step = {"ok": True, "total_ms": 1}
    report = {"ok": True, "challenge": step, "manifest": step, "games": ["pool-nap"]}
    return {
        "id": "bot_1",
        "name": "Mine",
        "status": "verified",
        "version": "7",
        "url": "http://127.0.0.1:1",
        "handshake": {"report": report},
        "check": {"report": None, "version": None, **check},
        "certificate": None,
        "certified": [],
    }


def test_a_certified_bot_with_many_warnings_is_reported_in_ten_lines() -> None:
    """Five of the lines are those of the bot in 20 lines; its page and the rated matches follow from the service."""
    kinds = ("resent_same", "resent_same", "signature_wrong", "signature_old", "signature_missing")
    findings = [warning | {"id": kind, "curl": "curl -d" + " x" * 900} for kind in kinds]
    latency = {"total": {"calls": 60, "p50": 1.0, "p99": 12.0}}
    report = {"verdict": "pass", "findings": findings, "calls": 60, "questions": 40, "latency": latency}
    certificate = {"issued_at": "2027-01-31T18:00:00Z", "version": "7", "rules": {"pool-nap": 1}}
    bot = checked(report=report, version="7") | {"certificate": certificate, "certified": ["pool-nap"]}

    told = format_report(bot, "  plays on official ladders").splitlines()

    assert told == [
        "  ok    POST /notify with a challenge: 1 ms; GET / for the manifest: 1 ms",
        *(f"  warn  {kind}: Do it." for kind in kinds[1:]),
        "  checked: 40 questions, 60 calls; ms per call: median 1, 99th percentile 12",
        "  certificate of 2027-01-31 for version 7: pool-nap (rules 1)",
        "  plays on official ladders",
        "bot_1 (Mine) is certified: pool-nap",
    ]


def test_what_the_referee_could_not_finish_is_not_the_bots_fault() -> None:
    told = format_report(checked(report=GIVEN_UP, version="7"))

    assert "the referee could not finish it: not your fault, run the same command again" in told
    assert "fix the bot" not in told


@pytest.mark.parametrize("check", [{}, {"report": {"findings": []}, "version": "6"}])
def test_a_version_that_was_not_checked_is_reported(check: dict[str, Any]) -> None:
    assert "no certificate: version 7 was not checked; run the same command again" in format_report(checked(**check))
