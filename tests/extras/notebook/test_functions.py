"""`play`: matches between functions, house players, files and URLs, in one call of Python."""

import asyncio
import html
import statistics
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from referee.local.matches import LocalEntrant, make_plan, parse_entrants
from referee.match.canonical import Json
from referee.match.time_limits import Limits
from referee.match.verification import verify
from referee_extras.notebook import CannotPlay, functions, play
from referee_extras.notebook.function_seat import FunctionSeat
from referee_extras.sdk import Bot, replay
from referee_extras.sdk.serving import serving

STARTER = Path(__file__).parents[3] / "bots" / "python" / "bot.py"


def first(question: Json) -> Json:
    action: Json = question["legal_actions"][0]
    return action


def last(question: Json) -> Json:
    action: Json = question["legal_actions"][-1]
    return action


def test_a_function_plays_against_house_players_and_others_and_equal_seeds_give_equal_logs() -> None:
    one, two, other = (
        play("pool-nap", [first, "house:3", last], matches=3, seed=seed, options={"rounds": 2}) for seed in (7, "7", 8)
    )

    assert [result.player for result in one.results] == ["first", "house:3", "last"]
    assert all(verify(match.log).ok for match in one)
    assert [match.players.index("first") for match in one] == [0, 2, 1]
    assert sum(result.score for result in one.results) == pytest.approx(1.5)  # half of all pairs
    assert all(len(result.placements) == 3 and not result.faults and not result.errors for result in one.results)
    assert [match.log for match in one] == [match.log for match in two]
    assert [match.log for match in one] != [match.log for match in other]


def test_a_function_gets_the_question_that_a_bot_gets_over_http(tmp_path: Path) -> None:
    asked: list[Json] = []

    def listening(question: Json) -> Json:
        asked.append(question)
        return first(question)

    series = play("saint-poker", [listening, "house:first"], seed="same", options={"rounds": 1})
    (log,) = series.save(tmp_path / "logs")
    replayed = replay(log, Bot(), seat=0)

    assert [question["decision"]["id"] for question in asked] == [one.question.id for one in replayed]
    assert [question["observation"]["hand"] for question in asked] == [
        list(one.question.seen["hand"]) for one in replayed
    ]
    assert asked[0]["time"] == {"budget_ms": 1000, "bank_ms": 10_000, "last_ms": None}


def test_the_matches_of_a_deal_share_their_cards_and_the_error_is_that_of_deals() -> None:
    series = play("saint-poker", [first, "house:3"], matches=6, seed=2)

    headers = [match.played.header["group"]["id"] for match in series]
    shares = [1.0 if place == 1 else 0.0 for place in series.results[0].placements]
    tied = [match.placements == [1, 1] for match in series]
    shares = [0.5 if tie else share for tie, share in zip(tied, shares, strict=True)]
    deals = [sum(shares[number : number + 2]) / 2 for number in (0, 2, 4)]
    assert headers[0] == headers[1] != headers[2] == headers[3] != headers[4]
    assert series.results[0].score == pytest.approx(sum(shares) / 6)
    assert series.results[0].standard_error == pytest.approx(statistics.stdev(deals) / 3**0.5)
    assert play("saint-poker", [first, "house:3"], matches=2).results[0].standard_error is None


def crashing(question: Json) -> Json:
    action: Json = question["legall"]
    return action


def test_exceptions_do_not_end_the_match_and_are_shown_with_their_traceback() -> None:
    series = play("saint-poker", [crashing, "house:first"], seed=1, options={"rounds": 1})

    result = series.results[0]
    assert result.errors > 2
    assert result.faults == {}
    assert result.traceback.startswith("Traceback (most recent call last):\n")
    assert result.traceback.endswith("KeyError: 'legall'")
    assert "function_seat" not in result.traceback
    assert "During handling" not in result.traceback
    assert f"crashing raised an exception {result.errors} times" in repr(series)
    assert "KeyError: 'legall'" in repr(series)
    assert html.escape("KeyError: 'legall'") in series._repr_html_()
    assert not any(b"legall" in line for line in series[0].log)


@pytest.mark.parametrize(
    ("returned", "code", "said"),
    [
        (None, "bad_schema", "returned None, which is not an action"),
        ({"type": "bet", "on": {1}}, "bad_schema", "not JSON"),
        ({"type": "fly"}, "illegal_action", ""),
    ],
)
def test_what_is_no_action_is_a_fault_with_the_reason(returned: Any, code: str, said: str) -> None:
    series = play("saint-poker", [lambda _: returned, "house:first"], seed=1, options={"rounds": 1})

    (result, _) = series.results
    assert set(result.faults) == {code}
    assert said in result.fault_detail[code]
    assert f"× {code}" in repr(series)


def test_files_urls_and_functions_with_one_name_sit_at_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "mybot"
    folder.mkdir()
    (folder / "bot.py").write_text(STARTER.read_text())

    with serving(Bot("by url")) as url:
        series = play("pool-nap", [first, first, folder, url], seed=1, options={"rounds": 1})

    assert [result.player for result in series.results] == ["first 1", "first 2", "mybot", url]
    assert [result.faults for result in series.results] == [{}] * 4


def test_the_series_and_its_matches_show_themselves(tmp_path: Path) -> None:
    def choose(question: Json) -> Json:
        return first(question)

    choose.__name__ = "<script>alert('a long name which nobody wants to read in a table')</script>"
    series = play("saint-poker", [choose, "house:3"], matches=4, seed=1)

    lines = repr(series).splitlines()
    assert lines[0] == "saint-poker, 4 matches, seed 1"
    assert lines[1].split() == ["player", "score", "average", "place", "wins", "returns", "faults"]
    assert max(map(len, lines)) <= 80
    assert "house:3" in repr(series[0])
    assert series._repr_html_().count("<tr>") == 3
    assert "<script" not in series._repr_html_()
    assert "sandbox=" in series[0]._repr_html_()
    page = series[0].save(tmp_path / "match.html").read_text()
    assert page.lower().startswith("<!doctype html>")
    assert [path.name for path in series.save(tmp_path / "logs")] == [
        f"{m.played.header['match']}.ndjson" for m in series
    ]


@pytest.mark.parametrize(
    ("game", "players", "options", "said"),
    [
        ("poker", [first, "house:1"], {}, "poker"),
        ("saint-poker", [first], {}, "2"),
        ("saint-poker", [first, "house:9"], {}, "house:9"),
        ("saint-poker", [first, "absent.py"], {}, "absent.py"),
        ("saint-poker", [first, "house:1"], {"rounds": "many"}, "rounds"),
    ],
)
def test_wrong_arguments_are_explained(game: str, players: list[Any], options: dict[str, Any], said: str) -> None:
    with pytest.raises(CannotPlay, match=said):
        play(game, players, options=options)
    with pytest.raises(ValueError, match="at least 1, not 0"):
        play("saint-poker", [first, "house:1"], matches=0)


def test_it_can_be_called_where_an_event_loop_runs_as_in_a_notebook() -> None:
    async def cell() -> int:
        return len(play("saint-poker", [first, "house:4"], seed=1, options={"rounds": 1}))

    async def wrong_cell() -> None:
        play("saint-poker", [first, "absent.py"])

    assert asyncio.run(cell()) == 1
    with pytest.raises(CannotPlay):
        asyncio.run(wrong_cell())


def test_after_a_stop_no_further_match_begins() -> None:
    stop = threading.Event()

    def stopping(question: Json) -> Json:
        stop.set()
        return first(question)

    entrants = [LocalEntrant("stopping", "function:stopping"), *parse_entrants(["house:1"])]
    plan = make_plan("saint-poker", entrants, {"rounds": 1}, "s", Limits(), seats=2)
    plan = replace(plan, local_seats={"stopping": partial(FunctionSeat, stopping)})

    assert len(asyncio.run(functions._play_all(plan, 5, stop))) == 1
