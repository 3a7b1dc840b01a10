"""People read and type seats from 1; JSON, logs and ids keep 0."""

from referee.cli import watch
from referee.match.canonical import Json
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
