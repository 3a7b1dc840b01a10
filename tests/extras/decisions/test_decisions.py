"""`referee reask` and `referee fork`: a match taken back to a decision, from its log alone, and problems of bots."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from referee.accounts import accounts
from referee.cli import main
from referee.match.canonical import Json
from referee.match.log import parse_row
from referee.match.verification import verify
from referee_extras.sdk import Bot
from referee_extras.sdk.serving import serving
from tests.api.in_thread import api_in_thread
from tests.cli.running import says
from tests.cli.test_problems import ERROR, SHORT, run, shows_the_traceback
from tests.cli.test_problems import crashing as crashing
from tests.cli.test_problems import elsewhere as elsewhere
from tests.cli.test_problems import nobody as nobody

GAMES = {"saint-poker": "rounds=1", "prince-albert": "max_rounds=1", "prisoners": "", "pool-nap": "rounds=1"}


class Heard(Bot):
    """Plays the default action, another legal one or an illegal one, and remembers all it was asked."""

    def __init__(self, *, other: bool = False, illegal: bool = False) -> None:
        super().__init__()
        self.other, self.illegal = other, illegal
        self.questions: list[Json] = []

    def answer(self, body: Json) -> Json:
        self.questions.append(body)
        action = {"type": "cheat"} if self.illegal else other_action(body) if self.other else body["default_action"]
        return {"decision": body["decision"]["id"], "action": action, "note": "as ever"}


def other_action(question: Json) -> Json:
    return next(action for action in question["legal_actions"] if action != question["default_action"])


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def rows(log: Path) -> list[Json]:
    return [parse_row(line) for line in log.read_bytes().splitlines()]


def played(directory: Path, game: str) -> tuple[Path, list[Json]]:
    """A match of a bot over HTTP against a house player: its log, and what the bot was asked."""
    bot, log = Heard(), directory / f"{game}.ndjson"
    option = ("--option", GAMES[game]) if GAMES[game] else ()
    with serving(bot) as url:
        done = invoke("play", game, url, "house:1", "house:3", "--seed", "3", *option, "--log", str(log))
    assert done.exit_code == 0, done.output
    return log, bot.questions


@pytest.mark.parametrize("game", GAMES)
def test_a_bot_is_asked_exactly_what_it_was_asked_and_the_answers_are_compared(tmp_path: Path, game: str) -> None:
    log, questions = played(tmp_path, game)
    question = next(one for one in questions if len(one["legal_actions"]) > 1)
    asked = ("reask", str(log), question["decision"]["id"])

    with serving(Heard()) as url, serving(Heard(other=True)) as other, serving(Heard(illegal=True)) as cheat:
        again = [
            invoke("reask", str(log), one["decision"]["id"], url, "--json") for one in (questions[0], questions[-1])
        ]
        another, illegal = invoke(*asked, other), invoke(*asked, cheat)

    for told, one in zip([json.loads(each.stdout) for each in again], (questions[0], questions[-1]), strict=True):
        assert told["question"] == one
        assert told["same"]
        assert told["then"]["action"] == told["now"]["action"] == one["default_action"]
    assert [each.exit_code for each in (*again, another, illegal)] == [0, 0, 0, 1]
    assert json.dumps(other_action(question), sort_keys=True) in another.output
    assert json.dumps(question["default_action"], sort_keys=True) in another.output
    assert another.output.endswith("another answer\n")
    assert "as ever" in another.output
    assert f"seat {question['match']['seat'] + 1}, phase" in another.output
    assert "fault: the action is not legal here" in illegal.output


@pytest.mark.parametrize("game", ["saint-poker", "rummy-royal"])
def test_a_fork_keeps_what_was_played_and_the_cards_to_come(tmp_path: Path, game: str) -> None:
    log, new = tmp_path / "match.ndjson", tmp_path / "fork.ndjson"
    invoke("play", game, "house:1", "house:1", "house:first", "--seed", "4", "--log", str(log), "--quiet")
    before = rows(log)
    n = [row["n"] for row in before if row["type"] == "decision" and row["source"] == "bot"][5]

    forked = invoke("fork", str(log), str(n), "house:first", "house:3", "--seat", "2", "--out", str(new), "--json")

    assert forked.exit_code == 0, forked.output
    report = verify(new.read_bytes().splitlines())
    assert report.ok, report.reason
    assert report.revealed
    after = rows(new)
    start = next(place for place, row in enumerate(before) if row.get("n") == n)
    assert [row | {"prev": ""} for row in after[1:start]] == [row | {"prev": ""} for row in before[1:start]]
    assert after[start:] != before[start:]
    assert after[-1]["seed"] == before[-1]["seed"]
    assert after[0]["match"].startswith("fork_")
    assert [player["name"] for player in after[0]["players"]][1] == "house:first"  # --seat 2 is the second
    assert [player["fork"] for player in after[0]["players"]] == [
        {"match": before[0]["match"], "n": n, "before": player} for player in before[0]["players"]
    ]
    assert json.loads(forked.output)["log"] == str(new)


def test_a_fork_with_those_who_played_ends_as_the_match_did(tmp_path: Path) -> None:
    log, new = tmp_path / "match.ndjson", tmp_path / "fork.ndjson"
    invoke("play", "pool-nap", "house:first", "house:3", "--option", "rounds=2", "--log", str(log), "--quiet")
    n = next(row["n"] for row in rows(log)[8:] if row["type"] == "decision" and row["source"] == "bot")

    invoke("fork", str(log), str(n), "house:first", "house:3", "--seat", "1", "--out", str(new))

    assert rows(new)[-2]["scores"] == rows(log)[-2]["scores"]
    assert len(rows(new)) == len(rows(log))


URL = "http://127.0.0.1:9000"
REFUSED: list[tuple[str, str, tuple[str, ...], int, str]] = [  # command, log, arguments; exit status and complaint
    ("reask", "log", ("9999", URL), 2, "no bot was asked at decision 9999; the nearest"),
    ("reask", "log", ("x", URL), 2, "'x' is not a decision"),
    ("reask", "log", ("s1_q999", URL), 2, "there is no question s1_q999; questions to"),
    ("reask", "log", ("1", URL), 2, "several seats choose at decision 1; pass one of 1, 2"),
    ("reask", "log", ("1", "--seat", "1", "http://127.1:9000"), 2, "An IPv4 address is four decimal numbers"),
    ("reask", "log", ("1", "--seat", "7", URL), 2, "seat 7 was not asked at decision 1; pass one of 1, 2"),
    ("reask", "log", ("1", "--seat", "0", URL), 2, "0 is not in the range 1<=x<=99"),
    ("reask", "none", ("1", URL), 1, "cannot be read"),
    ("reask", "altered", ("1", URL), 1, "is not a valid log: row"),
    ("fork", "secret", ("1", "house:first"), 1, "its seed is not revealed yet"),
    ("fork", "log", ("1", "--seat", "1", "house:nobody"), 2, "Unknown house player"),
    ("fork", "log", ("1", "--seat", "5", "house:first"), 2, "the match has seats 1 to 2"),
    ("fork", "log", ("1", "--seat", "0", "house:first"), 2, "0 is not in the range 1<=x<=99"),
    ("fork", "log", ("1", "--seat", "1", *["house:first"] * 3), 2, "3 players, but the match has 2 seats"),
]


def test_what_cannot_be_recalled_is_refused(tmp_path: Path) -> None:
    log, altered, secret = (tmp_path / name for name in ("log", "altered", "secret"))
    invoke("play", "saint-poker", "house:first", "house:1", "--log", str(log), "--quiet")
    altered.write_bytes(log.read_bytes().replace(b'"ms":0', b'"ms":1', 1))
    secret.write_bytes(b"".join(line + b"\n" for line in log.read_bytes().splitlines()[:-1]))

    for command, file, arguments, status, complaint in REFUSED:
        refused = invoke(command, str(tmp_path / file), *arguments)
        assert (refused.exit_code, complaint in refused.output) == (status, True), refused.output
    last = re.search(r"s1_q0 to s1_q(\d+)", invoke("reask", str(log), "s1_q999", URL).output)
    assert last
    following = invoke("reask", str(log), f"s1_q{int(last[1]) + 1}", URL)
    assert (following.exit_code, last[0] in following.output) == (2, True), following.output


def test_a_match_of_a_service_is_asked_again_from_its_url_or_by_the_owner_of_the_bot(tmp_path: Path) -> None:
    with api_in_thread(tmp_path) as (url, world), serving(Bot()) as here:
        owner = world.account()
        match_id = world.play([world.bot(owner), world.bot()], rated=False).match_id
        with world.database.write() as session:
            token = accounts.create_token(session, owner, "first")[1]
        reask = ("reask", match_id, "0", "--seat", "1")
        there: dict[str, str | None] = {"REFEREE_URL": url, "REFEREE_TOKEN": ""}

        asked = says(there, *reask, here, "--json").stdout
        stranger = says(there, *reask, status=2).output
        owned = says(there | {"REFEREE_TOKEN": token}, *reask, status=1).output

    assert json.loads(asked)["question"]["match"]["id"] == match_id
    assert "Pass the bot's URL" in stranger
    assert "unreachable" in owned


def test_asking_again_and_forking_tell_of_crashes(crashing: str) -> None:
    run("play", "saint-poker", "house:first", "house:1", *SHORT, "--log", "match.ndjson")
    n = next(
        row["n"]
        for row in map(parse_row, Path("match.ndjson").read_bytes().splitlines())
        if row["type"] == "decision" and row["source"] == "bot" and row["seat"] == 0
    )

    asked = run("reask", "match.ndjson", str(n), crashing, "--seat", "1")
    again = json.loads(run("reask", "match.ndjson", str(n), crashing, "--seat", "1", "--json").stdout)
    forked = run("fork", "match.ndjson", str(n), crashing, "--seat", "1")
    document = json.loads(run("fork", "match.ndjson", str(n), crashing, "--seat", "1", "--json").stdout)

    assert re.search(rf"^error +{ERROR}$", asked.stdout, re.M)
    assert "the bot's own code failed, and it played the default action" in asked.stdout
    assert again["now"]["error"] == ERROR
    assert document["problems"][0]["errors"] > 0
    assert "The code of crashing failed in" in forked.stderr
    assert shows_the_traceback(asked.stderr)
    assert shows_the_traceback(forked.stderr)


def test_a_fork_with_a_player_who_is_not_there_ends_with_a_status(nobody: str) -> None:
    run("play", "saint-poker", "house:first", "house:1", *SHORT, "--log", "match.ndjson")

    forked = run("fork", "match.ndjson", "0", nobody, "--seat", "1", status=3)

    assert f"{nobody} was not reached" in forked.stderr
