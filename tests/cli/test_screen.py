"""Tables and the live view: what a terminal shows, and what is printed where there is none."""

import io

from rich.console import Console

from referee.cli import tables
from referee.cli.live_view import LiveView
from referee.cli.tables import TextTable

ROW = {"rank": 1, "bot": "bot_1", "name": "Ada [red]", "matches": 2, "points": 1.5, "wins": 1, "returns": 8}


def test_standings_have_the_tie_breaks_that_decide_and_ratings_where_they_are_known() -> None:
    ties = [{"name": "wins", "value": 1.0}, {"name": "head_to_head", "value": None}]

    table = tables.standings("Cup", [{**ROW, "tie_breaks": ties}], ratings={"bot_1": 1512.34})

    assert table.plain().splitlines() == [
        "Cup",
        "rank  bot        matches  points  head to head  wins  returns  rating",
        "   1  Ada [red]        2     1.5             -     1        8  1512.3",
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
