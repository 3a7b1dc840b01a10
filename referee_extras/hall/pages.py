"""Serve the hall view of a tournament: one page for a projector, whose script shows its parts one after the other."""

from collections.abc import Sequence
from typing import Any, Final

from flask import Response
from markupsafe import Markup

from api.matches.presentation import match_views
from api.pages.page import Pages, page
from api.tournaments import standings_cache
from api.tournaments.access import get_visible_tournament
from api.tournaments.entry_schemas import EntryView
from api.tournaments.pages import TOURNAMENT, draw_bracket, tournament_context, visible_bracket
from api.tournaments.podium import find_podium
from api.tournaments.presentation import visible_entries
from api.tournaments.standings_schemas import StandingsRow
from api.views import current_session
from referee.errors import Conflict
from referee.matches.lists import results
from referee.standings.presentation import point_digits, shown_tie_breaks
from referee.tournaments import entries as entering
from referee.tournaments import watching
from referee.tournaments.states import BEFORE_START
from referee.tournaments.tables import Tournament
from referee.viewer.presentation import presentation, presentations

pages = Pages("hall", __name__, template_folder="templates")

Json = dict[str, Any]
ROWS: Final = 100  # rows of the standings, and entrants
COLUMNS: Final = 2  # tie-breaks beside the points
NEWEST: Final = 8
MAX_DRAWN: Final = 8  # tables in a round of a bracket that can be read from the back of a hall
NAMED: Final = 100  # tables of a round that are listed if the bracket is not drawn


@pages.view(f"{TOURNAMENT}/hall")
def show(tournament_id: str) -> Response:
    """Show everything that the hall view cycles through. Without a script, the parts are one below the other."""
    tournament = get_visible_tournament(tournament_id)
    bracket = visible_bracket(tournament)
    newest = watching.list_newest_ended(current_session(), tournament.id, limit=NEWEST)
    return page(
        "hall/show.html",
        **tournament_context(tournament),
        entrants=_entrants(tournament),
        table=_standings(tournament),
        bracket=bracket and _bracket(bracket, tournament.name),
        podium=find_podium(tournament),
        newest=match_views(newest),
        scores=results.load_public_scores(current_session(), [match.id for match in newest]),
        unit=presentation(tournament.game)["score"],
        script_data={"presentations": {tournament.game: presentations().get(tournament.game)}},
    )


def link_in_head(*, tournament_id: str) -> Markup:
    return Markup('<a href="/tournaments/{}/hall">Hall view</a>').format(tournament_id)


def _entrants(tournament: Tournament) -> Sequence[Json] | None:
    """Return the entrants of a tournament that has not started, otherwise None."""
    if tournament.status not in BEFORE_START:
        return None
    found = entering.list_entries(current_session(), tournament.id, limit=ROWS).items
    entrants: list[Json] = EntryView(many=True).dump(visible_entries(found))
    return [entrant for entrant in entrants if not entrant["withdrawn_at"]]


def _standings(tournament: Tournament) -> Json | None:
    """Return the first rows of the standings as template values, or None if there are none."""
    if tournament.started_at is None:
        return None
    try:
        kept = standings_cache.tournament_entry(tournament.id)
    except Conflict:  # there are too many results
        return None
    rows = standings_cache.ranked_entrants(kept)
    columns = shown_tie_breaks(tournament.format, tournament.seats, all_columns=True)
    shown = standings_cache.attach_error_bars(kept, tournament.id, rows[:ROWS], computed=False)
    return {
        "columns": [column for column in columns if column.name != "points"][:COLUMNS],
        "digits": point_digits(tournament.seats),
        "lines": StandingsRow(many=True).dump(shown),
        "length": len(rows),
    }


def _bracket(bracket: Json, name: str) -> Json:
    """Return the drawing of a small bracket; of a large one, the tables of the newest round."""
    most = max(len(level["tables"]) for level in bracket["rounds"])
    newest = bracket["rounds"][-1]
    if most <= MAX_DRAWN:
        return {**draw_bracket(bracket, name), "listed": None}
    return {"drawing": None, "listed": {**newest, "tables": newest["tables"][:NAMED]}}
