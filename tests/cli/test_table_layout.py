"""Tables and the live view: what they say, and that on a terminal no line is too wide and no name is cut."""

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
    decided = ties(wins=1.0, head_to_head=1.0, median_buchholz=1.0, opponent_points=1.0)
    bar = {"low": 0.25, "high": 0.75, "groups": 1200}
    counts = {"matches": 12_000, "points": 6_000.5, "wins": 6_000, "returns": 80_000, "points_per_match": 0.5}
    counts |= {"draws": 1, "losses": 5_999}
    states = {"owner_name": "Lovelace", "disqualification": None, "withdrawn": False, "version_changed": False}
    return {
        "rank": rank,
        "bot": f"bot_{rank}",
        "name": name,
        "tie_breaks": decided,
        "error_bar": bar,
        **counts,
        **states,
    }


def ties(**values: float | None) -> list[dict[str, object]]:
    return [{"name": name, "value": value} for name, value in values.items()]


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
    assert all(joined.index(first) < joined.index(second) for first, second in pairwise(NAMES))
    if width >= WIDTH:
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


# -- what the cells say --

NO_BAR = {"low": None, "high": None, "groups": 1}
COUNTS = {"matches": 3, "points": 1.5, "wins": 1, "losses": 1, "returns": 8, "error_bar": NO_BAR}
SWISS = {"format": TournamentFormat.SWISS, "seats": 3}


def test_standings_show_owners_results_and_who_is_disqualified_and_the_rest_on_request() -> None:
    decided = ties(points=1.5, buchholz=2.25, head_to_head=None, wins=1.0)
    last = {"rank": 2, "name": "Bob", "disqualification": "Collusion."}
    first = {**row(1, "Ada [red]"), **COUNTS, "tie_breaks": decided}
    rows = [first, {**first, **last}]

    assert tables.standings(SWISS, "Cup", rows).plain().splitlines() == [
        "Cup",
        "rank  bot                 owner     points  won-drawn-lost",
        "   1  Ada [red]           Lovelace    1.50           1-1-1",
        "   2  Bob (disqualified)  Lovelace    1.50           1-1-1",
    ]
    assert tables.standings(SWISS, "", rows[:1], all_columns=True).plain().splitlines() == [
        "rank  bot        owner     points  buchholz  head to head  sonneborn-berger  won-drawn-lost  matches  "
        "returns  per match  95 % (groups)",
        "   1  Ada [red]  Lovelace    1.50      2.25             –                 –           1-1-1        3  "
        "      8       0.50              –",
    ]


def test_standings_that_points_do_not_decide_show_what_does() -> None:
    gauntlet = ties(points_per_match=0.5, head_to_head=None, wins=1.0)
    ada = {**row(1, "Ada"), **COUNTS}
    found = [
        tables.standings({"format": format, "seats": 2}, "", [{**ada, "tie_breaks": one}]).plain()
        for format, one in ((TournamentFormat.GAUNTLET, gauntlet), (TournamentFormat.KNOCKOUT, ties(bracket=1.0)))
    ]

    assert [heads.split(maxsplit=3)[3].removesuffix("  won-drawn-lost") for heads, _ in map(str.splitlines, found)] == [
        "points per match  points",
        "points",
    ]


def test_without_a_terminal_a_line_is_printed_at_each_step_and_in_each_phase() -> None:
    output = io.StringIO()
    with LiveView(Console(file=output), steps=2) as view:
        for phase, done in ((None, 0), (None, 4), (None, 5), (None, 6), ("second", 6), ("second", 10)):
            view.show(TextTable(["bot"], [["Ada"]]), f"{done} of 10", done, 10, phase=phase)

    assert output.getvalue().splitlines() == ["5 of 10", "6 of 10", "10 of 10"]


def test_a_terminal_shows_the_table_with_names_as_they_are_and_why_nothing_moves() -> None:
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, width=80, height=20)
    with LiveView(console, steps=2) as view:
        view.show(TextTable(["bot"], [["Ada [red]"]], title="Cup"), "5 of 10", 5, 10, trouble="the service is away")

    assert "Ada [red]" in output.getvalue()
    assert "5 of 10" in output.getvalue()
    assert "the service is away; retrying" in output.getvalue()


def test_a_ladder_shows_ratings_with_their_errors() -> None:
    row = {"rank": 1, "name": "Ada", "rating": 1598.2, "rating_error": 33.9, "games": 7}

    shown = tables.ladder("Chess", [row, {**row, "rating_error": None}]).plain()

    assert [line.split()[2:-1] for line in shown.splitlines()[2:]] == [["1598", "±", "34"], ["1598"]]
