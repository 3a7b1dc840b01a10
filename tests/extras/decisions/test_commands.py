"""`referee reask` and `referee fork`: a match taken back to a decision, from its log alone."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from referee.cli import main
from referee.match.canonical import Json
from referee.match.log import parse_row
from referee.match.verification import verify
from referee_extras.sdk import Bot
from referee_extras.sdk.serving import serving

GAMES = {"saint-poker": "rounds=2", "prince-albert": "max_rounds=1", "prisoners": "", "pool-nap": "rounds=1"}


class Heard(Bot):
    """Plays the default, or the last legal action, and remembers all it was asked."""

    def __init__(self, *, last: bool = False, illegal: bool = False) -> None:
        super().__init__()
        self.last, self.illegal = last, illegal
        self.questions: list[Json] = []

    def answer(self, body: Json) -> Json:
        self.questions.append(body)
        action = (
            {"type": "cheat"} if self.illegal else body["legal_actions"][-1] if self.last else body["default_action"]
        )
        return {"decision": body["decision"]["id"], "action": action, "note": "as ever"}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def rows(log: Path) -> list[Json]:
    return [parse_row(line) for line in log.read_bytes().splitlines()]


def played(directory: Path, game: str) -> tuple[Path, list[Json]]:
    """A match of a bot over HTTP against a house player: its log, and what the bot was asked."""
    bot, log = Heard(), directory / f"{game}.ndjson"
    option = ("--option", GAMES[game]) if GAMES[game] else ()
    with serving(bot) as url:
        done = run("play", game, url, "house:1", "house:3", "--seed", "3", *option, "--log", str(log))
    assert done.exit_code == 0, done.output
    return log, bot.questions


@pytest.mark.parametrize("game", GAMES)
def test_a_bot_is_asked_exactly_what_it_was_asked(tmp_path: Path, game: str) -> None:
    log, questions = played(tmp_path, game)

    with serving(Heard()) as url:
        for question in (questions[0], questions[len(questions) // 2], questions[-1]):
            again = run("reask", str(log), question["decision"]["id"], url, "--json")

            assert again.exit_code == 0, again.output
            told = json.loads(again.output)
            assert told["question"] == question
            assert told["same"]
            assert told["then"]["action"] == told["now"]["action"] == question["default_action"]


def test_old_and_new_answer_stand_side_by_side(tmp_path: Path) -> None:
    log, questions = played(tmp_path, "saint-poker")
    question = next(one for one in questions if one["legal_actions"][-1] != one["default_action"])
    asked = ("reask", str(log), question["decision"]["id"])
    with serving(Heard(last=True)) as url, serving(Heard(illegal=True)) as cheat:
        other, illegal = run(*asked, url), run(*asked, cheat)

    assert (other.exit_code, illegal.exit_code) == (0, 1)
    assert json.dumps(question["legal_actions"][-1]) in other.output
    assert json.dumps(question["default_action"]) in other.output
    assert other.output.endswith("another answer\n")
    assert "as ever" in other.output
    assert f"seat {question['match']['seat'] + 1}, phase" in other.output
    assert "fault: the action is not legal here" in illegal.output


@pytest.mark.parametrize("game", ["saint-poker", "rummy-royal"])
def test_a_fork_keeps_what_was_played_and_the_cards_to_come(tmp_path: Path, game: str) -> None:
    log, new = tmp_path / "match.ndjson", tmp_path / "fork.ndjson"
    run("play", game, "house:1", "house:1", "house:first", "--seed", "4", "--log", str(log), "--quiet")
    before = rows(log)
    n = [row["n"] for row in before if row["type"] == "decision" and row["source"] == "bot"][5]

    forked = run("fork", str(log), str(n), "house:first", "house:3", "--seat", "2", "--out", str(new), "--json")

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
    run("play", "pool-nap", "house:first", "house:3", "--option", "rounds=2", "--log", str(log), "--quiet")
    n = next(row["n"] for row in rows(log)[8:] if row["type"] == "decision" and row["source"] == "bot")

    run("fork", str(log), str(n), "house:first", "house:3", "--seat", "1", "--out", str(new))

    assert rows(new)[-2]["scores"] == rows(log)[-2]["scores"]
    assert len(rows(new)) == len(rows(log))


def refusals(log: Path, altered: Path, secret: Path) -> dict[tuple[str, ...], tuple[int, str]]:
    return {
        ("reask", str(log), "9999", "http://127.0.0.1:9000"): (2, "no bot was asked at decision 9999; the nearest"),
        ("reask", str(log), "x", "http://127.0.0.1:9000"): (2, "'x' is not a decision"),
        ("reask", str(log), "s1_q999", "http://127.0.0.1:9000"): (2, "there is no question s1_q999; questions to"),
        ("reask", str(log), "1", "http://127.0.0.1:9000"): (2, "several seats choose at decision 1; pass one of 1, 2"),
        ("reask", str(log), "1", "--seat", "1", "http://127.1:9000"): (2, "An IPv4 address is four decimal numbers"),
        ("reask", str(log), "1", "--seat", "7", "http://127.0.0.1:9000"): (
            2,
            "seat 7 was not asked at decision 1; pass one of 1, 2",
        ),
        ("reask", str(log.with_name("none")), "1", "http://127.0.0.1:9000"): (1, "cannot be read"),
        ("reask", str(altered), "1", "http://127.0.0.1:9000"): (1, "is not a valid log: row"),
        ("fork", str(secret), "1", "house:first"): (1, "its seed is not revealed yet"),
        ("fork", str(log), "1", "--seat", "1", "house:nobody"): (2, "Unknown house player"),
        ("fork", str(log), "1", "--seat", "5", "house:first"): (2, "the match has seats 1 to 2"),
        ("fork", str(log), "1", "--seat", "1", *["house:first"] * 3): (2, "3 players, but the match has 2 seats"),
    }


def test_what_cannot_be_recalled_is_refused(tmp_path: Path) -> None:
    log, altered, secret = (tmp_path / name for name in ("log", "altered", "secret"))
    run("play", "saint-poker", "house:first", "house:1", "--log", str(log), "--quiet")
    altered.write_bytes(log.read_bytes().replace(b'"ms":0', b'"ms":1', 1))
    secret.write_bytes(b"".join(line + b"\n" for line in log.read_bytes().splitlines()[:-1]))

    for arguments, (status, complaint) in refusals(log, altered, secret).items():
        refused = run(*arguments)
        assert (refused.exit_code, complaint in refused.output) == (status, True), refused.output
