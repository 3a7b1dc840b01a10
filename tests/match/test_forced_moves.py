"""Forced moves: nothing that is shown before the end tells them from chosen ones."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from referee.games import game
from referee.match.canonical import Json
from referee.match.forced_moves import find_forced_moves
from referee.match.log import parse_row
from referee.match.match import Request
from referee.protocol.messages import Questions
from tests.golden import FOLDER
from tests.match.playing import chance, header, public_items
from tests.match.twins import Choose, Twins, twins

HIDING = {"prisoners": "pass", "rummy-royal": "lead"}  # games with moves of which only hidden cards show if forced
DEALS = {"prisoners": 1, "rummy-royal": 2}  # of the matches that have twins


def often_passing(dice: Random) -> Choose:
    """Return a player that mostly passes, so that free and forced passes are mixed."""

    def choose(request: Request) -> Json:
        passes = [action for action in request.legal_actions if action["type"] == "pass"]
        return passes[0] if passes and dice.random() < 0.6 else dice.choice(request.legal_actions)

    return choose


def pairs(name: str) -> Iterator[Twins]:
    """Yield twins with different numbers of questions. The match goes on afterwards."""
    for seed in (1, 4):
        dice = Random(seed)
        found = twins(header(name, 4, {"deals": DEALS[name]}), chance(4), often_passing(dice), dice)
        yield from (pair for pair in found if pair.differ_in_questions)


def requests(pair: Twins) -> list[Request]:
    """Return the questions to the viewer in both worlds."""
    return [request for world in (pair.match, pair.twin) for request in world.requests() if request.seat == pair.viewer]


@pytest.mark.parametrize("name", HIDING)
def test_D3_worlds_with_other_numbers_of_questions_look_the_same(name: str) -> None:
    compared, old_numbers, old_rows = 0, 0, 0
    for pair in pairs(name):
        compared += 1
        if pair.viewer is None:
            first, second = pair.match.log.rows, pair.twin.log.rows
            assert public_items(first) == public_items(second)
            old_rows += len(first) != len(second)
        else:
            here, there = requests(pair)
            encoder = Questions(pair.match.header, pair.viewer)
            assert encoder.encode(here) == encoder.encode(there)
            old_numbers += here.n != there.n

    assert compared >= 4
    assert old_numbers  # numbers of decision points would have told the worlds apart
    assert old_rows  # and so would rows of the log


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ndjson")), ids=lambda path: path.stem)
def test_forced_moves_are_found_beside_the_answers(path: Path) -> None:
    rows = [parse_row(line) for line in path.read_bytes().splitlines()]
    rules = game(rows[0]["game"])

    for row in rows:
        forced = Counter(move.seat for move in find_forced_moves(rules, row))
        moves = Counter(event["seat"] for event in row.get("events", []) if rules.may_be_forced(event))
        answers = moves - forced
        chosen = row["type"] == "decision" and row["action"]["type"] == HIDING.get(rules.name)
        assert answers == ({row["seat"]: 1} if chosen else {})
    found = sum(1 for row in rows for _ in find_forced_moves(rules, row))
    assert (found > 0) == (rules.name in HIDING)
