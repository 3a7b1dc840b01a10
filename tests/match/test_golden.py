"""Golden logs: the engine still writes them byte for byte."""

import pytest

from referee.games import catalogue
from referee.match.canonical import Json
from referee.match.log import parse_row
from referee.match.verification import verify
from tests.golden import FORMAT_1, RECORDED, path, recorded


@pytest.mark.parametrize("name", RECORDED)
def test_the_engine_writes_the_golden_log(name: str) -> None:
    assert path(name).read_bytes().splitlines() == recorded(name)


@pytest.mark.parametrize("name", RECORDED)
def test_the_golden_log_verifies(name: str) -> None:
    report = verify(path(name).read_bytes().splitlines())

    assert (report.ok, report.revealed) == (True, True)


@pytest.mark.parametrize("name", sorted(file.stem for file in FORMAT_1.iterdir()))
def test_logs_of_the_first_format_still_verify(name: str) -> None:
    """They differ from today's in the number of their format, the links and the reveal row."""
    lines = (FORMAT_1 / path(name).name).read_bytes().splitlines()

    report = verify(lines)

    assert (report.ok, report.revealed) == (True, True)
    assert [without_links(line) for line in lines[1:-1]] == [without_links(line) for line in recorded(name)[1:-1]]


def without_links(line: bytes) -> Json:
    return {**parse_row(line), "prev": None}


def test_every_game_has_a_golden_log() -> None:
    assert {game for game, _, _ in RECORDED.values()} == set(catalogue())
