"""Searches in other processes: the same action as in this one, even if a process dies, and no delay of the loop."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from random import Random

import pytest

from referee.games import game
from referee.games.state import State
from referee.house.players import SearchPlayer, find_player
from referee.house.pool import SearchFailed, SearchPool
from referee.house.search import search_action
from referee.match.canonical import Json
from tests.games.playing import positions


@pytest.fixture(scope="module")
def pool() -> Iterator[SearchPool]:
    made = SearchPool(1)
    yield made
    made.close()
    assert made.processes() == []


def question(state: State) -> Json:
    seat = state.pending()[0]
    members = {"legal_actions": state.legal(seat), "default_action": state.default(seat)}
    return members | {"observation": state.observation(seat)}


def questions(name: str = "pool-nap", seats: int = 3) -> list[Json]:
    """Return some questions with more than one legal action."""
    asked = [question(state) for state in positions(game(name).start(seats), Random(1)) if state.pending()]
    return [one for one in asked if len(one["legal_actions"]) > 2][:3]


async def test_a_search_elsewhere_finds_the_same_action(pool: SearchPool) -> None:
    found = await asyncio.gather(*(pool.search("pool-nap", asked, 2**127 + 5) for asked in questions()))

    assert found == [search_action("pool-nap", asked, 2**127 + 5) for asked in questions()]


async def test_a_process_that_dies_is_replaced_and_its_search_repeated(pool: SearchPool) -> None:
    asked, *_ = questions()

    await pool.search("pool-nap", asked, 7)
    (process,) = pool.processes()
    os.kill(process, signal.SIGSTOP)
    searching = asyncio.create_task(pool.search("pool-nap", asked, 7))
    await asyncio.sleep(0)
    os.kill(process, signal.SIGKILL)
    assert (await searching) == search_action("pool-nap", asked, 7)
    assert pool.processes() != [process]


def test_a_search_that_fails_in_every_process_is_an_error(pool: SearchPool, capfd: pytest.CaptureFixture[str]) -> None:
    broken = {"observation": {"phase": "bid"}, "legal_actions": [{}, {}], "default_action": {}}

    with pytest.raises(SearchFailed, match="3 processes died"):
        asyncio.run(pool.search("pool-nap", broken, 1))

    assert "KeyError" in capfd.readouterr().err


def test_the_processes_end_with_the_process_that_started_them() -> None:
    program = """
import asyncio, os, signal
from referee.house.pool import shared_pool
from tests.house.test_pool import questions
asyncio.run(shared_pool().search("pool-nap", questions()[0], 1))
print(shared_pool().processes()[0], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    # The search process inherits standard error, so that this ends only when both processes have ended.
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)

    assert run.returncode == -signal.SIGKILL
    assert run.stdout.strip().isdecimal(), run.stderr


def test_a_player_that_searches_answers_alike_in_this_process_and_in_another(
    pool: SearchPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.house.players.shared_pool", lambda: pool)
    for asked in questions():
        here = SearchPlayer(Random("key")).decide("pool-nap", asked)
        there = asyncio.run(SearchPlayer(Random("key")).answer("pool-nap", asked))
        assert here == there


@pytest.mark.parametrize(("name", "seats"), [("prince-albert", 3), ("prisoners", 3), ("rummy-royal", 3)])
def test_a_search_returns_a_legal_action_in_every_phase(name: str, seats: int) -> None:
    for asked in questions(name, seats):
        assert search_action(name, asked, 1) in asked["legal_actions"]


def test_players_are_found_by_level_and_by_title() -> None:
    assert [find_player(text).key for text in ("house:4", "4", "house:search", "sound", "house:first")] == [
        *("4", "4", "4", "3", "first")
    ]
