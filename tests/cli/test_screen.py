"""Tables and the live view: what a terminal shows, and what is printed where there is none."""

import io

from rich.console import Console

from referee.cli import tables
from referee.cli.live_view import LiveView
from referee.cli.tables import TextTable
from referee.pairing.kinds import TournamentFormat

ROW = {
    "rank": 1,
    "bot": "bot_1",
    "name": "Ada [red]",
    "owner_name": "Lovelace",
    "matches": 3,
    "points": 1.5,
    "wins": 1,
    "draws": 1,
    "losses": 1,
    "returns": 8,
    "points_per_match": 0.5,
    "disqualification": None,
    "withdrawn": False,
    "version_changed": False,
    "error_bar": {"low": None, "high": None, "groups": 1},
}

SWISS = {"format": TournamentFormat.SWISS, "seats": 3}


def ties(**values: float | None) -> list[dict[str, object]]:
    return [{"name": name, "value": value} for name, value in values.items()]


def test_standings_show_owners_results_and_who_is_disqualified_and_the_rest_on_request() -> None:
    decided = ties(points=1.5, buchholz=2.25, head_to_head=None, wins=1.0)
    last = {"rank": 2, "name": "Bob", "disqualification": "Collusion."}
    rows = [{**ROW, "tie_breaks": decided}, {**ROW, **last, "tie_breaks": decided}]

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
    found = [
        tables.standings({"format": format, "seats": 2}, "", [{**ROW, "tie_breaks": one}]).plain().splitlines()
        for format, one in ((TournamentFormat.GAUNTLET, gauntlet), (TournamentFormat.KNOCKOUT, ties(bracket=1.0)))
    ]

    assert [heads.split(maxsplit=3)[3].removesuffix("  won-drawn-lost") for heads, _ in found] == [
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


def test_a_ladder_shows_strengths_with_their_errors() -> None:
    row = {"rank": 1, "name": "Ada", "rating": 1600.0, "strength": 1598.2, "strength_error": 33.9, "games": 7}

    shown = tables.ladder("Chess", [row, {**row, "strength": None}]).plain()

    assert [line.split()[3:-1] for line in shown.splitlines()[2:]] == [["1598", "±", "34"], ["-"]]
