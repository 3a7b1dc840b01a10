"""Every command that plays a bot reports its problems: its own errors, its faults, and that it was not reached."""

import io
import json
import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from referee.match.canonical import Json, dumps
from referee.match.log import parse_row
from referee.runtime.output_tail import MAX_BYTES, PIECE_BYTES, TRACEBACK, OutputTail
from tests.cli.answering import Answer, Call, answering
from tests.cli.running import PATIENCE_S, says

STARTER = Path(__file__).parents[2] / "bots" / "python" / "bot.py"
ERROR = "KeyError: 'legall'"
MANIFEST = {"protocol": "2", "name": "mistaken", "version": "1", "games": ["saint-poker"]}
SHORT = ("--option", "rounds=1", "--seed", "1")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in a temporary folder, so that the commands write no files into the project."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def crashing(tmp_path: Path) -> str:
    """Return a starter bot with a misspelt name."""
    return starter(tmp_path / "crashing", 'choice(question["legal_actions"])', 'choice(question["legall"])')


def starter(folder: Path, right: str, wrong: str) -> str:
    """Return the folder of a starter bot with a change."""
    text = STARTER.read_text()
    assert text.count(right) == 1
    folder.mkdir()
    (folder / "bot.py").write_text(text.replace(right, wrong))
    return str(folder)


def run(*arguments: str, status: int = 0) -> Result:
    return says({}, *arguments, status=status)


def play(*arguments: str, status: int = 0) -> Result:
    return run("play", "saint-poker", *arguments, "house:first", *SHORT, status=status)


def shows_the_traceback(told: str) -> bool:
    _, found, after = told.partition(TRACEBACK.decode())
    return bool(found) and 'choice(question["legall"])' in after and after.rstrip().endswith(ERROR)


# -- errors of the bot's own --


def test_a_bot_that_crashes_in_its_decisions_is_told_of_with_count_error_and_traceback(crashing: str) -> None:
    shown, document = play(crashing), json.loads(play(crashing, "--json").stdout)

    problems = document["problems"][0]
    count = problems["decisions"]
    assert count > 2
    counted = {"decisions": count, "unreached": False, "retired": 0, "faults": {}, "errors": count}
    assert problems == counted | {"first_error": ERROR, "last_error": ERROR}
    assert document["problems"][1] is None
    assert re.search(rf"crashing +\d+ +0 +{count}$", shown.stdout, re.M)
    assert f"The code of crashing failed in {count} of {count} decisions" in shown.stderr
    assert f"first, in phase river: {ERROR}" in shown.stderr
    assert shows_the_traceback(shown.stderr)
    assert not any("legall" in Path(file).read_text() for file in ("replay.ndjson", "replay.html"))  # only the owner's


def test_several_matches_add_up_what_went_wrong(crashing: str) -> None:
    played = play(crashing, "--matches", "2")
    each = play(crashing, "--matches", "2", "--json")

    count = sum(sum(own["errors"] for own in json.loads(line)["problems"] if own) for line in each.stdout.splitlines())
    assert re.search(rf"^crashing .* {count}$", played.stdout, re.M)
    assert f"failed in {count} of {count} decisions" in played.stderr


def test_a_slow_bot_is_told_of_with_its_times_until_the_limits_are_off(tmp_path: Path) -> None:
    slow = starter(tmp_path / "slow", "    return random.Random", "    time.sleep(0.02)\n    return random.Random")
    tight = ("--budget-ms", "10", "--bank-ms", "600000")

    shown = play(slow, *tight)
    figures = json.loads(play(slow, *tight, "--json").stdout)["ms"]
    patient = play(slow, "--no-time-limits")
    both = play(slow, *tight, "--no-time-limits", status=2)

    assert re.search(r"slow was slow: (\d+) answers of \1 took longer than the budget of 10 ms", shown.stderr)
    assert figures[0]["p50"] >= 20
    assert figures[1] is None
    assert patient.stderr == ""
    assert "errors" not in patient.stdout
    (header, *_) = map(parse_row, Path("replay.ndjson").read_bytes().splitlines())
    assert header["time"] == {"budget_ms": 600_000, "bank_ms": 3_600_000}
    assert "not both" in both.output


def test_a_check_fails_a_file_that_crashes_and_shows_its_traceback(crashing: str) -> None:
    check = ("check", crashing, "--questions", "4", "--game", "saint-poker", "--seed", "1")

    shown, document = run(*check, status=1), json.loads(run(*check, "--json", status=1).stdout)

    failed = [finding for finding in document["findings"] if finding["severity"] == "fail"]
    assert [(finding["id"], finding["came"]) for finding in failed] == [("no_error", ERROR)]
    assert "fail  no_error (saint-poker, " in shown.stdout
    assert shows_the_traceback(shown.stderr)


def test_a_traceback_that_no_answer_tells_of_is_shown_and_fails_nothing(tmp_path: Path) -> None:
    head = "def answer_question(question):"
    swallowed = "    try: question['legall']\n    except KeyError: sys.stderr.write(traceback.format_exc())\n"
    noisy = starter(tmp_path / "noisy", head, f"{head}\n{swallowed}    print('a line\\n' * 20)")

    played, checked = play(noisy), run("check", noisy, "--questions", "4", "--game", "saint-poker")

    assert "pass: 0 failures, 0 warnings" in checked.stdout
    for told in (played, checked):
        assert "noisy wrote a traceback, but reported no error in its answers:" in told.stderr
        assert "question['legall']" in told.stderr
        assert told.stderr.rstrip().endswith(ERROR)


# -- players that are not reached --


@pytest.fixture
def nobody() -> str:
    """Return a URL where no bot answers."""
    with socket.create_server(("127.0.0.1", 0)) as closed_soon:
        return f"http://127.0.0.1:{closed_soon.getsockname()[1]}"


def test_a_player_who_is_not_there_is_told_of_with_what_to_do_and_a_status(nobody: str) -> None:
    shown, document = play(nobody, status=3), json.loads(play(nobody, "--json", status=3).stdout)

    assert f"{nobody} was not reached: no connection in 3 calls" in shown.stderr
    assert "unreachable, 3 times, first in phase river: no connection to port" in shown.stderr
    assert "what to do: check that the bot is running" in shown.stderr
    assert document["problems"][0]["unreached"]
    assert document["problems"][0]["faults"] == {"unreachable": 3}
    assert document["problems"][0]["retired"] == 1
    assert "  It was retired in 1 match, and not asked any more: this happens after 3 faults in a row," in shown.stderr


def test_quiet_tells_of_who_is_not_there_and_of_nothing_else(nobody: str, crashing: str) -> None:
    played = run("play", "saint-poker", nobody, crashing, *SHORT, "--quiet", status=3)

    assert played.stdout == ""
    assert f"{nobody} was not reached" in played.stderr
    assert "crashing" not in played.stderr


def test_a_file_that_dies_in_play_is_told_of_with_a_status(tmp_path: Path) -> None:
    head, dies = "def answer_question(question):", "    os._exit(print('I give up', flush=True) or 7)"
    dying = starter(tmp_path / "dying", head, f"{head}\n{dies}")

    played = play(dying, status=3)

    assert "unreachable, 3 times" in played.stderr
    assert "dying exited with status 7; it wrote:" in played.stderr
    assert "I give up" in played.stderr


# -- faults --


@contextmanager
def mistaken(answer: Callable[[Json], Json]) -> Iterator[str]:
    """Yield the URL of a bot that answers every question in its own way."""

    def answered(call: Call) -> Answer:
        told = answer(json.loads(call.body)) if call.path == "/decide" else MANIFEST
        return 200, {"Content-Type": "application/json"}, dumps(told)

    with answering(answered) as url:
        yield url


def test_faults_are_told_in_words_for_a_url_and_the_match_counts() -> None:
    by_phase: dict[str, Any] = {"river": {"action": 0}, "select": {"action": {"type": "cheat"}}}

    def answer(body: Json) -> Json:
        answer = by_phase.get(body["observation"]["phase"], {"choice": 0})
        return {"decision": body["decision"]["id"], **answer}

    with mistaken(answer) as url:
        played = play(url)
        document = json.loads(play(url, "--json").stdout)

    faults = document["problems"][0]["faults"]
    assert faults["bad_schema"] > 0
    assert sum(faults.values()) == document["faults"][0]
    assert f"{url} had {document['faults'][0]} fault" in played.stderr
    assert 'first in phase river: action must be an object; body \'{"action":0' in played.stderr
    assert "what to do: compare your answer with the section *Answers* of `docs/bot-protocol.md`" in played.stderr


def test_an_illegal_action_is_told_with_what_was_sent() -> None:
    with mistaken(lambda body: {"decision": body["decision"]["id"], "action": {"type": "cheat"}}) as url:
        played = play(url)

    assert "illegal_action, 3 times, first in phase river: body" in played.stderr
    assert "cheat" in played.stderr
    assert "what to do: choose from the `legal_actions` of the question that you answer" in played.stderr


def test_an_error_of_several_lines_cannot_pass_for_what_we_tell() -> None:
    with mistaken(lambda body: defaulting(body, "boom\n\nrandom had 3 faults")) as url:
        played = play(url)
        checked = run("check", url, "--questions", "4", "--game", "saint-poker", status=1)

    assert ": boom\n    \n    random had 3 faults\n" in played.stderr
    assert "\nrandom" not in played.stderr + checked.stdout


def defaulting(body: Json, error: str) -> Json:
    return {"decision": body["decision"]["id"], "action": body["default_action"], "error": error}


def test_for_a_file_the_reason_comes_before_what_it_wrote(tmp_path: Path) -> None:
    wrong = '"action": 0 * (print("an access log") or 1)'
    faulty = starter(tmp_path / "faulty", '"action": choose(question)', wrong)

    played = play(faulty)

    reason, output = played.stderr.split("faulty wrote:")
    assert "bad_schema, 3 times" in reason
    assert "an access log" in output


# -- output of programs --


@pytest.fixture
def pipe() -> Iterator[tuple[OutputTail, io.FileIO]]:
    """Return the reader, and the end of the pipe to write to."""
    reading, writing = os.pipe()
    written, end = OutputTail(os.fdopen(reading, "rb", buffering=0)), io.FileIO(writing, "wb")
    written.follow()
    try:
        yield written, end
    finally:
        end.close()
        written.end(PATIENCE_S)


def said(pipe: tuple[OutputTail, io.FileIO], *pieces: bytes) -> OutputTail:
    written, end = pipe
    for piece in pieces:
        assert end.write(piece) == len(piece)
        written.settle(PATIENCE_S)
    return written


RAISED = TRACEBACK + b'\n  File "bot.py", line 1, in choose\n    x\nKeyError: 1\n'


@pytest.mark.parametrize("cut", [1, 9, len(TRACEBACK) - 1, len(TRACEBACK), len(TRACEBACK) + 5, len(RAISED) - 3])
def test_a_traceback_is_found_wherever_it_is_cut_and_whatever_follows(
    pipe: tuple[OutputTail, io.FileIO], cut: int
) -> None:
    noise = b"GET / 200\n" * (MAX_BYTES // 5)

    written = said(pipe, noise + RAISED[:cut], RAISED[cut:], noise, noise)

    assert written.traceback(12) == RAISED.decode().rstrip()
    assert TRACEBACK.decode() not in written.lines(12)


def test_the_last_of_several_tracebacks_is_kept_and_a_long_one_loses_its_beginning(
    pipe: tuple[OutputTail, io.FileIO],
) -> None:
    long = TRACEBACK + b"\n" + b"  deep\n" * 40 + b"RecursionError: too deep\n"

    written = said(pipe, RAISED, b"well\n", long)

    assert written.traceback(3).splitlines() == ["  deep", "  deep", "RecursionError: too deep"]


@pytest.mark.parametrize("raised", [b"BrokenPipeError: [Errno 32] Broken pipe", b"ConnectionResetError: [Errno 104]"])
def test_tracebacks_of_connections_that_we_broke_off_do_not_count(
    pipe: tuple[OutputTail, io.FileIO], raised: bytes
) -> None:
    hung_up = RAISED.replace(b"KeyError: 1", raised)

    assert said(pipe, hung_up).traceback(12) == ""
    assert said(pipe, RAISED, hung_up).traceback(12) == RAISED.decode().rstrip()


@pytest.mark.parametrize("end", [b"", b"----\n", b"\n", b"Exception occurred during processing of request\n"])
def test_half_a_traceback_or_one_that_threads_wrote_across_is_not_shown(
    pipe: tuple[OutputTail, io.FileIO], end: bytes
) -> None:
    assert said(pipe, RAISED.partition(b"KeyError")[0] + end).traceback(12) == ""


def test_all_that_was_written_has_been_read_after_settling(pipe: tuple[OutputTail, io.FileIO]) -> None:
    for number in range(50):
        assert said(pipe, f"line {number}\n".encode()).lines(1) == f"line {number}"
    assert len(said(pipe, b"x" * (PIECE_BYTES - 1)).lines(1)) == MAX_BYTES
