"""People read and type seats from 1; JSON, logs and ids keep 0."""

import pytest

from referee.cli import watch
from referee.games import catalogue
from referee.match.canonical import Json
from referee.rulebook import rules_page
from referee.workflows.explaining.waiting_reasons import Reason


def seat(number: int, placement: int) -> Json:
    return {"seat": number, "name": f"bot {number}", "version": "1", "placement": placement, "returns": 0}


def test_the_result_of_a_watched_match_counts_seats_from_1() -> None:
    match = {"id": "mat_1", "game": "pool-nap", "rated": True, "status": "finished", "reason": None}

    lines = watch.result({**match, "seats": [seat(0, 2), seat(1, 1)]}).splitlines()

    assert [line.split()[-2] for line in lines[-2:]] == ["2", "1"]


def test_a_reason_to_wait_counts_the_seat_of_the_opponent_from_1() -> None:
    reason = Reason("rival_full", seat=0)

    assert reason.text.startswith("the bot in seat 1 has no free call")
    assert reason.seat == 0


@pytest.mark.parametrize("game", catalogue())
def test_the_rules_say_from_where_seats_are_counted(game: str) -> None:
    rules = " ".join(rules_page(game).split())

    assert "Seats are numbered clockwise" in rules
    assert "from 0 in messages and logs, from 1 on pages and in commands" in rules
