"""Golden logs: the engine still writes them byte for byte."""

import pytest

from referee.games import catalogue
from tests.golden import RECORDED, path, recorded


@pytest.mark.parametrize("name", RECORDED)
def test_the_engine_writes_the_golden_log(name: str) -> None:
    assert path(name).read_bytes().splitlines() == recorded(name)


def test_every_game_has_a_golden_log() -> None:
    assert {game for game, _, _ in RECORDED.values()} == set(catalogue())
