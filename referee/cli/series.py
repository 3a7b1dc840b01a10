"""Implement `referee series`, which creates, changes and shows series of tournaments."""

from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import click

from referee.cli.browser import open_option, open_page
from referee.cli.options import FILE
from referee.cli.tables import TextTable, number
from referee.cli.tournament import lookup
from referee.cli.tournament.admission import change_organisers
from referee.cli.tournament.formatting import clock
from referee.cli.tournament.remote import Remote, service_command
from referee.match.canonical import Json
from referee.tournaments.states import TournamentState


class PointsList(click.ParamType[list[int]]):
    """Read numbers separated by commas."""

    name = "points"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        try:
            return [int(part) for part in str(value).split(",")]
        except ValueError:
            self.fail(f"{value!r} is not a list of whole numbers, like 10,6,4,3,2,1.", param, ctx)


POINTS = click.option(
    "--points", type=PointsList(), metavar="N,N,…", help="Points for the ranks from 1, like 10,6,4,3,2,1."
)
DESCRIPTION = click.option(
    "--description-file", "description", type=click.File(), metavar="FILE", help="File with a text in Markdown."
)


@click.group()
def series() -> None:
    """Create and show series: tournaments of any games whose ranks bring points in common standings."""


@service_command("list")
@click.option("--year", type=int, metavar="YEAR", help="Only those created in this year.")
def list_series(remote: Remote, year: int | None) -> None:
    """List series, newest first."""
    found = list(remote.api.items("/series?limit=100" + (f"&year={year}" if year else "")))
    rows = [(item["id"], item["name"], clock(item["created_at"])) for item in found]
    table = TextTable(("id", "name", "created"), rows, left=("id", "name", "created"))
    remote.show({"items": found}, table.plain() if found else "There are no series.")


@service_command("create")
@click.argument("name")
@POINTS
@click.option("--best", type=int, metavar="N", help="Number of the best results of each bot that count. [default: all]")
@DESCRIPTION
@click.option("--unlisted", is_flag=True, help="Keep the series out of lists.")
def create(
    remote: Remote, name: str, points: list[int] | None, best: int | None, description: TextIO | None, unlisted: bool
) -> None:
    """Create a series. Add tournaments with `referee series add`.

    \b
    Example:
      referee series create "Season 2030" --points 10,6,4,3,2,1 --best 5
    """
    body: Json = {"name": name, **_terms(points, best, description)}
    made = remote.api.post("/series", body | ({"listed": False} if unlisted else {}))
    remote.show(made, f"{made['id']}  {made['name']}; next: referee series add {made['id']} TOURNAMENT")


@service_command("show")
@click.argument("series", metavar="SERIES")
@open_option
def show(remote: Remote, series: str, opens: bool) -> None:
    """Show a series and its tournaments."""
    found = remote.api.get(f"/series/{lookup.series_id(remote.api, series)}")
    remote.show(found, _describe(found))
    if opens:
        open_page(remote.page(f"series/{found['id']}"))


@service_command("standings")
@click.argument("series", metavar="SERIES")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, for spreadsheets and programs.")
@click.option("--out", type=FILE, help="Write CSV or, if the name ends in .md, Markdown to FILE.")
def standings(remote: Remote, series: str, as_csv: bool, out: Path | None) -> None:
    """Show the standings of a series.

    Results in brackets are not among the best, which count.
    """
    series_id = lookup.series_id(remote.api, series)
    path = f"/series/{series_id}/standings"
    if out is not None:
        out.write_bytes(remote.api.fetch(f"/api/v1{path}{'.md' if out.suffix == '.md' else '.csv'}"))
        remote.show({"file": str(out)}, f"{out}: {out.stat().st_size} bytes")
    elif as_csv and not remote.as_json:
        click.echo(remote.api.fetch(f"/api/v1{path}.csv").decode(), nl=False)
    else:
        rows = list(remote.api.items(f"{path}?limit=100"))
        remote.show({"items": rows}, _table(remote.api.get(f"/series/{series_id}"), rows))


@service_command("edit")
@click.argument("series", metavar="SERIES")
@click.option("--name", metavar="NAME", help="New name.")
@POINTS
@click.option("--best", type=int, metavar="N", help="Number of the best results of each bot that count.")
@click.option("--all-count", is_flag=True, help="Let all results count.")
@DESCRIPTION
def edit(
    remote: Remote,
    series: str,
    name: str | None,
    points: list[int] | None,
    best: int | None,
    all_count: bool,
    description: TextIO | None,
) -> None:
    """Change a series. New points apply to all its tournaments."""
    if best is not None and all_count:
        raise click.UsageError("Pass either --best or --all-count.")
    changes = _terms(points, best, description)
    changes |= {"name": name} if name is not None else {}
    changes |= {"best": None} if all_count else {}
    if not changes:
        raise click.UsageError("Pass at least one option that changes something, such as --best.")
    changed = remote.api.patch(f"/series/{lookup.series_id(remote.api, series)}", changes)
    remote.show(changed, f"{changed['name']} is changed: {', '.join(sorted(changes))}")


@service_command("delete")
@click.argument("series", metavar="SERIES")
def delete(remote: Remote, series: str) -> None:
    """Delete a series of which no tournament is finished. The tournaments stay."""
    series_id = lookup.series_id(remote.api, series)
    remote.api.delete(f"/series/{series_id}")
    remote.show({"deleted": series_id}, f"{series_id} is deleted")


@service_command("add")
@click.argument("series", metavar="SERIES")
@click.argument("tournaments", metavar="TOURNAMENT…", nargs=-1, required=True)
def add(remote: Remote, series: str, tournaments: Sequence[str]) -> None:
    """Add tournaments that you run at the end of a series, in this order. If one is refused, none is added."""
    series_id = lookup.series_id(remote.api, series)
    wanted = [lookup.tournament_id(remote.api, item) for item in tournaments]
    found = remote.api.post(f"/series/{series_id}/tournaments", {"tournaments": wanted})
    remote.show(found, _describe(found))


@service_command("remove")
@click.argument("series", metavar="SERIES")
@click.argument("member", metavar="TOURNAMENT")
def remove(remote: Remote, series: str, member: str) -> None:
    """Take a tournament out of a series. Its points no longer count."""
    series_id, tournament_id = lookup.series_id(remote.api, series), lookup.tournament_id(remote.api, member)
    remote.api.delete(f"/series/{series_id}/tournaments/{tournament_id}")
    remote.show({"removed": tournament_id}, f"{tournament_id} is no longer in the series")


@service_command("organisers")
@click.argument("series", metavar="SERIES")
@click.option("--invite", "invited", metavar="ACCOUNT", multiple=True, help="Invite an account to run it. Repeatable.")
@click.option(
    "--remove", "removed", metavar="ACCOUNT", multiple=True, help="Remove an organiser, or yourself. Repeatable."
)
def organisers(remote: Remote, series: str, invited: tuple[str, ...], removed: tuple[str, ...]) -> None:
    """Show, invite or remove those who run a series.

    An invited account runs it when it has accepted. `referee invitations list --series` shows who has not. If you
    created the series and leave it, its first co-organiser takes it over.
    """
    change_organisers(remote, f"/series/{lookup.series_id(remote.api, series)}", invited, removed)


def _terms(points: list[int] | None, best: int | None, description: TextIO | None) -> Json:
    given = {"points": points, "best": best, "description": None if description is None else description.read()}
    return {name: value for name, value in given.items() if value is not None}


def _describe(found: Json) -> str:
    counting = f"the {found['best']} best results of each bot count" if found["best"] else "all results count"
    lines = [
        f"{found['id']}  {found['name']}",
        f"points: {', '.join(map(str, found['points']))}; {counting}",
        f"organisers: {', '.join(item['name'] for item in found['organisers'])}",
    ]
    rows = [
        (str(place), item["id"], item["name"], item["game"], item["status"], clock(item["finished_at"]))
        for place, item in enumerate(found["tournaments"], 1)
    ]
    heads = ("no", "id", "tournament", "game", "status", "ended")
    lines.append(TextTable(heads, rows, left=heads[1:]).plain() if rows else "no tournaments yet")
    return "\n".join(lines)


def _table(found: Json, rows: Sequence[Json]) -> str:
    if not rows:
        return "No tournament of this series is finished."
    finished = [
        (str(place), item["id"])
        for place, item in enumerate(found["tournaments"], 1)
        if item["status"] == TournamentState.FINISHED
    ]
    lines = []
    for row in rows:
        by_id = {result["tournament"]: result for result in row["results"]}
        cells = [_result(by_id.get(id)) for _, id in finished]
        lines.append([str(row["rank"]), row["name"], row["owner_name"], number(row["points"]), *cells])
    heads = ["rank", "bot", "owner", "points", *(place for place, _ in finished)]
    return TextTable(heads, lines, left=("bot", "owner")).plain()


def _result(result: Json | None) -> str:
    if result is None:
        return "-"
    return number(result["points"]) if result["counts"] else f"({number(result['points'])})"


for command in (list_series, create, show, standings, edit, delete, add, remove, organisers):
    series.add_command(command)
