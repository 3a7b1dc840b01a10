"""`referee tournament standings`, `crosstable`, `bracket` and others: the results of a tournament so far."""

from collections.abc import Sequence
from itertools import islice

import click

from referee.cli.tables import Table, number
from referee.cli.tables import standings as standings_table
from referee.cli.tournament import formatting, lookup
from referee.cli.tournament.bracket import render_bracket
from referee.cli.tournament.remote import Remote, asks_service, tournament_argument
from referee.match.canonical import Json

SQUARE = 20  # bots that a crosstable can show side by side


@click.command()
@tournament_argument
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Largest number of rows to show. [default: all]")
@click.option("--bot", metavar="BOT", help="Show only the row of this bot.")
@asks_service
def standings(remote: Remote, tournament_id: str, limit: int | None, bot: str | None) -> None:
    """Show the standings.

    Tie-breaks are shown in the order in which they decide. The points per match come with their 95 % confidence
    interval and, in brackets, the number of deal groups that it rests on.

    \b
    Example:
      referee tournament standings "Spring cup" --limit 10
    """
    event = remote.api.get(f"/tournaments/{tournament_id}")
    path = f"/tournaments/{tournament_id}/standings"
    if bot is None:
        document = _fetch_all_pages(remote, f"{path}?limit={min(limit or 100, 100)}", limit)
        rows = document["items"]
    else:
        document = remote.api.get(f"{path}/{lookup.bot_id(remote.api, bot)}")
        rows = [document["row"]]
    title = f"{formatting.title(event)}; {formatting.progress(event)}"
    remote.tell(document, standings_table(title, rows, error_bars=True).plain() if rows else "No bots are entered.")


@click.command()
@tournament_argument
@asks_service
def crosstable(remote: Remote, tournament_id: str) -> None:
    """Show the score of every bot against every other.

    The score 1.5/2 means 1.5 points from 2 matches at the same table: 1 point for each match placed ahead of the other
    bot, half a point for each equal placement. Columns have the numbers of the rows.

    \b
    Example:
      referee tournament crosstable "Spring cup"
    """
    document = _fetch_all_pages(remote, f"/tournaments/{tournament_id}/crosstable?limit=100")
    rows = document["items"]
    remote.tell(document, _square(rows) if len(rows) <= SQUARE else _pairs(rows))


@click.command()
@tournament_argument
@asks_service
def bracket(remote: Remote, tournament_id: str) -> None:
    """Draw the bracket of a knockout.

    Seeds stand before the names and points after them; ? is a bot in a rated match that is not over.

    \b
    Example:
      referee tournament bracket "Winter knockout"
    """
    document = remote.api.get(f"/tournaments/{tournament_id}/bracket")
    remote.tell(document, render_bracket(document))


@click.command()
@tournament_argument
@asks_service
def strengths(remote: Remote, tournament_id: str) -> None:
    """Show the estimated strength of the bots.

    Strengths are fitted to all results at once, in points as on the ladder (400 points are odds of ten to one), with
    95 % intervals, the ranks these leave open, and the likelihood of being stronger than the next bot.

    \b
    Example:
      referee tournament strengths "Spring cup"
    """
    document = _fetch_all_pages(remote, f"/tournaments/{tournament_id}/strengths?limit=100")
    remote.tell(document, "\n".join(_strengths(document)))


@click.command()
@tournament_argument
@asks_service
def opponents(remote: Remote, tournament_id: str) -> None:
    """Show the seats and opponents of every bot.

    For each bot: matches in each seat, byes, and opponents with the most frequent first.

    \b
    Example:
      referee tournament opponents "Spring cup"
    """
    document = _fetch_all_pages(remote, f"/tournaments/{tournament_id}/opponents?limit=100")
    names = {row["bot"]: row["name"] for row in document["items"]}
    rows = [
        (
            *(row["name"], " ".join(map(str, row["seats"])), str(row["byes"])),
            ", ".join(f"{names[one['bot']]} {one['matches']}" for one in row["opponents"]),
        )
        for row in document["items"]
    ]
    heads = ("bot", "by seat", "byes", "opponents")
    table = Table(heads, rows, left=("bot", "by seat", "opponents"))
    remote.tell(document, table.plain() if rows else "No bots are entered.")


@click.command()
@tournament_argument
@asks_service
def luck(remote: Remote, tournament_id: str) -> None:
    """Show luck-adjusted scores.

    Scores per match, compared with the mean of all bots that held the same seat in the same deals; the standard error
    follows the sign ±. This needs deals that are shared between tables.

    \b
    Example:
      referee tournament luck "Spring cup"
    """
    document = _fetch_all_pages(remote, f"/tournaments/{tournament_id}/luck?limit=100")
    rows = [
        (row["name"], _mean(row["points"]), _mean(row["returns"]), str(row["matches"]), str(row["groups"]))
        for row in document["items"]
    ]
    table = Table(("bot", "points", "returns", "matches", "deal groups"), rows)
    remote.tell(document, table.plain() if rows else "No bots are entered.")


def _mean(found: Json | None) -> str:
    if found is None:
        return "-"
    return f"{found['value']:+.2f}" + ("" if found["error"] is None else f" ± {found['error']:.2f}")


def _fetch_all_pages(remote: Remote, path: str, limit: int | None = None) -> Json:
    """The first page with the lines of all following ones."""
    first: Json = remote.api.get(path)
    items = list(islice(remote.api.items(path), limit)) if first["next"] else first["items"][:limit]
    return first | {"items": items, "next": None}


def _square(rows: Sequence[Json]) -> str:
    numbers = [str(at) for at in range(1, len(rows) + 1)]
    met = [{rival["bot"]: _score(rival) for rival in row["rivals"]} for row in rows]
    lines = [
        [at, row["name"], *("·" if one is row else of.get(one["bot"], "-") for one in rows)]
        for at, row, of in zip(numbers, rows, met, strict=True)
    ]
    return Table(["", "bot", *numbers], lines).plain() if rows else "No bots are entered."


def _pairs(rows: Sequence[Json]) -> str:
    names = {row["bot"]: row["name"] for row in rows}
    told = [
        f"{at} {row['name']}: " + ", ".join(f"{names[one['bot']]} {_score(one)}" for one in row["rivals"])
        for at, row in enumerate(rows, 1)
    ]
    return "\n".join(told)


def _score(rival: Json) -> str:
    return f"{number(rival['points'])}/{rival['matches']}"


def _strengths(document: Json) -> list[str]:
    heads = ("rank", "bot", "strength", "95 % interval", "matches", "ranks left open", "above the next")
    rows = [
        (
            *(str(one["rank"]), one["name"], f"{one['points']:.0f}", f"{one['low']:.0f} to {one['high']:.0f}"),
            *(str(one["matches"]), f"{one['best_rank']} to {one['worst_rank']}", _percent(one["superior_to_next"])),
        )
        for one in document["items"]
    ]
    lines = [Table(heads, rows).plain()] if rows else ["No matches have been played yet."]
    lines += [] if document["converged"] else ["the fit has not settled to a hundredth of a point"]
    lines += [] if document["exact"] else ["so many bots: the intervals are approximate"]
    return lines


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"
