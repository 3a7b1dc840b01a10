"""Implement `referee tournament standings`, `crosstable`, `bracket` and other commands that show results."""

from collections.abc import Callable, Sequence
from itertools import islice

import click

from referee.cli.browser import open_option, open_page
from referee.cli.options import Number
from referee.cli.table_layout import terminal_width, wrap
from referee.cli.tables import TextTable, number
from referee.cli.tables import standings as standings_table
from referee.cli.tournament import formatting, lookup
from referee.cli.tournament.bracket import render_bracket
from referee.cli.tournament.remote import Remote, tournament_command
from referee.match.canonical import Json

PAGES = {"crosstable": "/crosstable", "luck": "/luck"}  # of results that have one of their own
NO_BOTS = "No bots are entered."
SQUARE = 20  # maximum number of bots shown as a square table


def result_command(render: Callable[[Json], str]) -> click.Command:
    """Make a command that fetches all pages of the result named after ``render``, and shows the rendered text."""

    @open_option
    def fetch_and_show(remote: Remote, tournament_id: str, opens: bool) -> None:
        document = _fetch_all_pages(remote, f"/tournaments/{tournament_id}/{render.__name__}?limit=100")
        remote.show(document, render(document))
        if opens:
            _open_page(remote, tournament_id, PAGES.get(render.__name__, ""))

    fetch_and_show.__doc__ = render.__doc__
    return tournament_command(render.__name__)(fetch_and_show)


@tournament_command(example="--limit 10")
@click.option("--limit", type=Number(1), help="Maximum number of rows to show. [default: all]")
@click.option("--bot", metavar="BOT", help="Show only the row of this bot.")
@click.option("--all-columns", is_flag=True, help="Add the other tie-breaks, matches, returns and error bars.")
@open_option
def standings(
    remote: Remote, tournament_id: str, limit: int | None, bot: str | None, all_columns: bool, opens: bool
) -> None:
    """Show the standings.

    A draw is a match in which a bot shared the first place. With --all-columns, tie-breaks are in the order in which
    they decide, and the points per match are followed by their 95 % confidence interval and, in brackets, the number of
    deal groups on which it is based. --json and the file standings.csv have all columns.
    """
    tournament = remote.api.get(f"/tournaments/{tournament_id}")
    path = f"/tournaments/{tournament_id}/standings"
    if bot is None:
        document = _fetch_all_pages(remote, f"{path}?limit={min(limit or 100, 100)}", limit)
        rows = document["items"]
    else:
        document = remote.api.get(f"{path}/{lookup.bot_id(remote.api, bot)}")
        rows = [document["row"]]
    title = f"{formatting.title(tournament)}; {formatting.progress(tournament)}"
    remote.show(document, standings_table(title, rows, all_columns=all_columns).plain() if rows else NO_BOTS)
    if opens:
        open_page(remote.page(f"tournaments/{tournament_id}/standings"))


@result_command
def crosstable(document: Json) -> str:
    """Show the score of every bot against every other.

    The score 1.5/2 means 1.5 points from 2 matches at the same table: 1 point for each match placed ahead of the other
    bot, half a point for each equal placement. Columns are numbered like the rows.
    """
    rows = document["items"]
    return _square(rows) if len(rows) <= SQUARE else _pairs(rows)


@tournament_command(of="Winter knockout")
@open_option
def bracket(remote: Remote, tournament_id: str, opens: bool) -> None:
    """Draw the bracket of a knockout.

    Seeds precede the names, and points follow them. A ? stands for a bot in a rated match that is not over.
    """
    document = remote.api.get(f"/tournaments/{tournament_id}/bracket")
    remote.show(document, render_bracket(document))
    if opens:
        _open_page(remote, tournament_id, "/bracket")


@result_command
def strengths(document: Json) -> str:
    """Show the estimated strength of the bots.

    Strengths are fitted to all results together, in points as on the ladder (400 points are odds of ten to one), with
    95 % intervals, the ranks that these intervals allow, and the probability of being stronger than the next bot.
    """
    heads = ("rank", "bot", "strength", "95 % interval", "matches", "possible ranks", "above the next")
    rows = [
        (
            *(str(row["rank"]), row["name"], f"{row['points']:.0f}", f"{row['low']:.0f} to {row['high']:.0f}"),
            *(str(row["matches"]), f"{row['best_rank']} to {row['worst_rank']}", _percent(row["superior_to_next"])),
        )
        for row in document["items"]
    ]
    lines = [TextTable(heads, rows).plain()] if rows else ["No matches have been played yet."]
    lines += [] if document["converged"] else ["The fit has not converged to a hundredth of a point."]
    lines += [] if document["exact"] else ["The intervals are approximate, because there are many bots."]
    return "\n".join(lines)


@result_command
def opponents(document: Json) -> str:
    """Show the seats and opponents of every bot.

    Each row shows how many matches the bot played in each seat, its byes, and its opponents, the most frequent first.
    """
    names = {row["bot"]: row["name"] for row in document["items"]}
    rows = [
        (
            *(row["name"], " ".join(map(str, row["seats"])), str(row["byes"])),
            ", ".join(f"{names[opponent['bot']]} {opponent['matches']}" for opponent in row["opponents"]),
        )
        for row in document["items"]
    ]
    heads = ("bot", "by seat", "byes", "opponents")
    return TextTable(heads, rows, left=("bot", "by seat", "opponents")).plain() if rows else NO_BOTS


@result_command
def luck(document: Json) -> str:
    """Show luck-adjusted scores.

    Each score per match is relative to the mean of all bots that had the same seat in the same deals. The standard
    error follows the sign ±. Luck can be adjusted only if tables share deals.
    """
    rows = [
        (row["name"], _mean(row["points"]), _mean(row["returns"]), str(row["matches"]), str(row["groups"]))
        for row in document["items"]
    ]
    return TextTable(("bot", "points", "returns", "matches", "deal groups"), rows).plain() if rows else NO_BOTS


def _open_page(remote: Remote, tournament_id: str, path: str) -> None:
    """Open a page of a tournament's results or, before its start, its first page, since there are none."""
    is_started = remote.api.get(f"/tournaments/{tournament_id}")["started_at"]
    open_page(remote.page(f"tournaments/{tournament_id}{path if is_started else ''}"))


def _mean(found: Json | None) -> str:
    if found is None:
        return "-"
    return f"{found['value']:+.2f}" + ("" if found["error"] is None else f" ± {found['error']:.2f}")


def _fetch_all_pages(remote: Remote, path: str, limit: int | None = None) -> Json:
    """Return the first page with the items of all pages, or with the first ``limit`` of them."""
    first: Json = remote.api.get(path)
    items = list(islice(remote.api.items(path), limit)) if first["next"] else first["items"][:limit]
    return first | {"items": items, "next": None}


def _square(rows: Sequence[Json]) -> str:
    numbers = [str(number) for number in range(1, len(rows) + 1)]
    scores = [{rival["bot"]: _score(rival) for rival in row["opponents"]} for row in rows]
    cells = [
        [number, row["name"], *("·" if other is row else own.get(other["bot"], "-") for other in rows)]
        for number, row, own in zip(numbers, rows, scores, strict=True)
    ]
    return TextTable(["", "bot", *numbers], cells).plain() if rows else NO_BOTS


def _pairs(rows: Sequence[Json]) -> str:
    names = {row["bot"]: row["name"] for row in rows}
    lines = (
        f"{rank} {row['name']}: " + ", ".join(f"{names[rival['bot']]} {_score(rival)}" for rival in row["opponents"])
        for rank, row in enumerate(rows, 1)
    )
    return "\n".join(part for line in lines for part in wrap(line, terminal_width()))


def _score(rival: Json) -> str:
    return f"{number(rival['points'])}/{rival['matches']}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"
