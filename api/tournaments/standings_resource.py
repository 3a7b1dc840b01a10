"""Serve the standings of a tournament over HTTP."""

from typing import Any, Final

from flask import Response

from api.auth import anyone
from api.pagination import PageQuery, page_in_memory
from api.tournaments import standings_cache
from api.tournaments.access import get_visible_tournament
from api.tournaments.standings_files import standings_csv, standings_markdown
from api.tournaments.standings_schemas import OwnStandingView, StandingsPage
from api.views import Resource
from referee.errors import NotFound

resource = Resource(
    "standings", "/api/v1/tournaments", "Standings of tournaments, and other figures from their results."
)

Json = dict[str, Any]
TOURNAMENT: Final = '/<id("trn"):tournament_id>'


@resource.get(
    f"{TOURNAMENT}/standings",
    anyone,
    StandingsPage,
    query=PageQuery,
    transaction=None,
)
def show(query: Json, tournament_id: str) -> Any:
    """Get the standings, best first

    Each row has all tie-breaks that apply, and an error bar of the points per match (bootstrap over deal groups). All
    rows of a page count the same results, up to `as_of_seq`. In a large tournament, the newest results may not be
    included yet.
    """
    kept = standings_cache.tournament_entry(tournament_id)
    page = page_in_memory(
        standings_cache.ranked_entrants(kept),
        query,
        lambda rows: standings_cache.attach_error_bars(kept, tournament_id, rows),
    )
    return {**standings_cache.snapshot(kept), "samples": standings_cache.samples_of(kept.made), **page}


@resource.get(f'{TOURNAMENT}/standings/<id("bot"):bot_id>', anyone, OwnStandingView, transaction=None)
def show_own(tournament_id: str, bot_id: str) -> Any:
    """Get the row of a bot in the standings

    The row is the one that `GET …/standings` has, with the number of all rows. A bot that is not in the standings is a
    404.
    """
    kept = standings_cache.tournament_entry(tournament_id)
    index = standings_cache.row_indexes(kept).get(bot_id)
    if index is None:
        raise NotFound("entry", bot_id)
    ranked, samples = standings_cache.ranked_entrants(kept), standings_cache.samples_of(kept.made)
    (row,) = standings_cache.attach_error_bars(kept, tournament_id, [ranked[index]])
    return {**standings_cache.snapshot(kept), "samples": samples, "total": len(ranked), "row": row}


@resource.get(f"{TOURNAMENT}/standings.csv", anyone)
@resource.file_response("text/csv", "One row per entrant, best first.")
def download_csv(tournament_id: str) -> Response:
    """Download the standings for spreadsheets

    Tie-breaks that are no columns of every table follow `wins`, in the order in which they apply. Texts that a
    spreadsheet could run as formulas begin with an apostrophe.
    """
    tournament = get_visible_tournament(tournament_id)
    return _file("text/csv", f"{tournament_id}-standings.csv", standings_csv(tournament))


@resource.get(f"{TOURNAMENT}/standings.md", anyone)
@resource.file_response("text/markdown", "A heading, a sentence about the state, a table.")
def download_markdown(tournament_id: str) -> Response:
    """Download the standings as a text in Markdown

    The table has the bots with their owners, points and the tie-breaks of the format. In a large tournament, the newest
    results may not be included yet.
    """
    tournament = get_visible_tournament(tournament_id)
    return _file("text/markdown", f"{tournament_id}-standings.md", standings_markdown(tournament))


def _file(media_type: str, name: str, text: str) -> Response:
    return Response(text, mimetype=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})
