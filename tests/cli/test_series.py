"""`referee series` against a service that runs, and rounds at given times."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from referee.cli import main
from tests.cli.hall import Hall, hall

SHORT = ("--game", "saint-poker", "--seats", "2", "--option", "rounds=1", "--unrated")


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    with hall(tmp_path_factory.mktemp("hall")) as opened:
        yield opened


def says(there: Hall, *arguments: str, status: int = 0, token: str | None = None) -> str:
    """Run ``referee series …`` as the organiser or with this token, and return what it prints."""
    told = CliRunner().invoke(
        main, ["series", *arguments], env={"REFEREE_URL": there.up.url, "REFEREE_TOKEN": token or there.token}
    )
    assert told.exit_code == status, f"{arguments}: {told.output}\n{told.exception!r}"
    return told.output


def document(there: Hall, *arguments: str) -> Any:
    return json.loads(says(there, *arguments, "--json"))


def test_a_season_from_its_first_tournament_to_its_archive(there: Hall, tmp_path: Path) -> None:
    for name in ("Spring cup", "Summer cup"):
        there.says("create", name, *SHORT, "--format", "round_robin", "--open")
        there.says("enter", name, "Ada sound", "Carl random")
    there.says("start", "Spring cup", "--watch")

    made = says(there, "create", "Season 2030", "--points", "10,6", "--best", "1")
    added = says(there, "add", "Season 2030", "Spring cup", "Summer cup")
    table = says(there, "standings", "Season 2030")
    rows = list(csv.DictReader(io.StringIO(says(there, "standings", "Season 2030", "--csv"), newline="")))
    says(there, "standings", "Season 2030", "--out", str(tmp_path / "season.md"))
    refused = says(there, "delete", "Season 2030", status=1)
    changed = says(there, "edit", "Season 2030", "--all-count", "--name", "Season of 2030")
    removed = says(there, "remove", "Season of 2030", "Summer cup")

    assert "next: referee series add ser_" in made
    assert "points: 10, 6; the 1 best results" in added
    assert added.index("Spring cup") < added.index("Summer cup")
    assert {row["name"] for row in rows} == {"Ada sound", "Carl random"}
    assert sum(float(row["points"]) for row in rows) == 16
    assert table.splitlines()[0].split() == ["rank", "bot", "owner", "points", "1"]
    assert (tmp_path / "season.md").read_text().startswith("# Season 2030\n")
    assert "is finished" in refused
    assert changed == "Season of 2030 is changed: best, name\n"
    assert "no longer in the series" in removed
    assert [item["name"] for item in document(there, "list")["items"]] == ["Season of 2030"]
    assert len(document(there, "show", "Season of 2030")["tournaments"]) == 1
    assert says(there, "create", "Bad", "--points", "6,x", status=2).count("not a list of whole numbers") == 1
    assert "never increase" in says(there, "create", "Bad", "--points", "6,10", status=1)


def test_a_series_is_deleted_and_has_co_organisers(there: Hall) -> None:
    series = document(there, "create", "Short lived", "--unlisted")["id"]
    invited = says(there, "organisers", series, "--invite", "Owner of Ada sound")
    (waiting,) = json.loads(there.as_owner("invitations", "list", "--json"))["items"]
    said = there.as_owner("invitations", "accept", waiting["id"])
    together = says(there, "organisers", series)
    left = says(there, "organisers", series, "--remove", "Owner of Ada sound", token=there.owner)

    assert invited.count("\n") == 2  # the note, and the only organiser
    assert (waiting["kind"], said) == ("series", "you run Short lived now, together with its other organisers\n")
    assert together.count("\n") == 2
    assert left.count("\n") == 1
    assert says(there, "delete", series) == f"{series} is deleted\n"
    says(there, "show", series, status=1)


def test_rounds_at_given_times_are_set_and_moved(there: Hall) -> None:
    times = ("--round-time", "2090-05-01T18:00:00+02:00", "--round-time", "2090-05-02T18:00:00+02:00")
    swiss = ("--format", "swiss", "--format-option", "rounds=2", "--open")
    made = there.json("create", "Slow cup", *SHORT, *swiss, *times)
    shown = there.says("show", "Slow cup").stdout
    moved = there.json("edit", "Slow cup", *times[:2], "--round-time", "2090-05-03T16:00:00Z")
    refused = there.says("edit", "Slow cup", *times[:2], status=1).stderr

    assert made["round_times"] == ["2090-05-01T16:00:00.000Z", "2090-05-02T16:00:00.000Z"]
    assert "rounds begin" in shown
    assert moved["round_times"][1] == "2090-05-03T16:00:00.000Z"
    assert "one time for each of the 2 rounds" in refused
