"""Tables on a narrow terminal: no line is too wide, and no name is cut."""

import io
from itertools import pairwise
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from referee.cli import tables
from referee.cli.live_view import LiveView
from referee.cli.table_layout import wrap
from referee.cli.tables import TextTable
from referee.db.names import MAX_LENGTH
from referee.pairing.kinds import TournamentFormat

WIDTH = 80
NAMES = ("A" * MAX_LENGTH, "\N{CJK UNIFIED IDEOGRAPH-725B}" * MAX_LENGTH, "Ada")


def row(rank: int, name: str) -> dict[str, Any]:
    ties = [{"name": name, "value": 1.0} for name in ("wins", "head_to_head", "median_buchholz", "opponent_points")]
    bar = {"low": 0.25, "high": 0.75, "groups": 1200}
    counts = {"matches": 12_000, "points": 6_000.5, "wins": 6_000, "returns": 80_000, "points_per_match": 0.5}
    counts |= {"draws": 1, "losses": 5_999}
    states = {"owner_name": "Lovelace", "disqualification": None, "withdrawn": False, "version_changed": False}
    return {"rank": rank, "bot": f"bot_{rank}", "name": name, "tie_breaks": ties, "error_bar": bar, **counts, **states}


def standings() -> TextTable:
    rows = [row(rank, name) for rank, name in enumerate(NAMES, 1)]
    swiss = {"format": TournamentFormat.SWISS, "seats": 10}
    return tables.standings(swiss, f"{NAMES[0]}: prisoners, 10 seats, swiss; in progress", rows, all_columns=True)


def too_wide(text: str, width: int = WIDTH) -> list[str]:
    return [line for line in text.splitlines() if cell_len(line) > width]


def test_a_table_that_fits_is_printed_as_ever_and_any_table_is_where_there_is_no_terminal() -> None:
    small = TextTable(["rank", "bot"], [["1", "Ada"]])

    assert small.plain(WIDTH) == small.plain() == "rank  bot\n   1  Ada"
    assert len(standings().plain().splitlines()) == 1 + 1 + len(NAMES)


@pytest.mark.parametrize("width", [40, 64, WIDTH, 100])
def test_rows_take_several_lines_where_they_do_not_fit(width: int) -> None:
    folded = standings().plain(width)

    joined = "".join(folded.split())
    assert too_wide(folded, width) == []
    assert [name for name in NAMES if name not in joined] == []  # a name that is wider than a line goes on below
    assert folded.count("0.25 to 0.75 (1200)") == len(NAMES)


def test_at_80_columns_every_name_is_whole() -> None:
    folded = standings().plain(WIDTH)

    assert [name for name in NAMES if not any(name in line for line in folded.splitlines())] == []


def test_columns_stay_aligned_over_folded_rows() -> None:
    folded = TextTable(["a", "b", "c"], [["1" * 10, "2", "3" * 12], ["1", "22", "3"]]).plain(20)

    assert folded.splitlines() == [
        *("         a   b", "                 c"),
        *("1111111111   2", "      333333333333"),
        *("         1  22", "                 3"),
    ]


def test_a_long_text_continues_at_a_space_or_inside_a_word() -> None:
    assert wrap("one two three", 7) == ["one two", "three"]
    assert wrap("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]
    assert wrap("a line", None) == ["a line"]


def test_wide_letters_count_twice() -> None:
    lines = TextTable(["bot", "points"], [[NAMES[1], "1"], ["Ada", "2"]]).plain().splitlines()

    assert len({cell_len(line) for line in lines}) == 1


def test_the_live_view_shows_every_row_that_it_shows_whole() -> None:
    output = io.StringIO()
    with LiveView(Console(file=output, force_terminal=True, width=WIDTH, height=40), steps=2) as view:
        view.show(standings(), "5 of 10", 5, 10)

    assert NAMES[0] in output.getvalue()
    assert "0.25 to 0.75 (1200)" in output.getvalue()


def test_the_live_view_has_no_more_lines_than_it_is_allowed() -> None:
    shown = TextTable(["bot", "points"], [[NAMES[1], str(index)] for index in range(50)]).render_styled(10, width=60)

    assert len(shown.plain.splitlines()) == 1 + 10


def test_lines_are_in_the_order_of_the_rows() -> None:
    folded = standings().plain(WIDTH)

    assert all(folded.index(first) < folded.index(second) for first, second in pairwise(NAMES))
