"""Write the standings of a tournament as CSV and as Markdown."""

from typing import Any, Final

from api.downloads.tables import csv_text, escape_markdown, markdown_table
from api.fields import UtcDateTime
from api.tournaments import standings_cache
from api.tournaments.standings_schemas import StandingsRow
from referee.standings import TIE_BREAKS
from referee.standings.presentation import text_columns, tie_break
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament
from referee.tournaments.terms import FORMATS

Json = dict[str, Any]

FIRST: Final = ("rank", "bot", "name", "owner", "owner_name", "matches", "byes", "points", "points_exact", "wins")
LAST: Final = ("draws", "losses", "returns", "withdrawn", "disqualification")


def standings_csv(tournament: Tournament) -> str:
    """Return the standings as CSV: a row for each entrant, with the tie-breaks of the format in their order."""
    names = [name for name in TIE_BREAKS[tournament.format] if name not in FIRST]
    rows = [
        [*(row[name] for name in FIRST), *(tie_break(row, name) for name in names), *(row[name] for name in LAST)]
        for row in _rows(tournament, with_bars=False)
    ]
    return csv_text([*FIRST, *names, *LAST], rows)


def standings_markdown(tournament: Tournament) -> str:
    """Return the standings as a text in Markdown, with a heading and a sentence about their state."""
    columns = text_columns(tournament.format, tournament.seats, all_columns=True)
    rows = [[column.write(row) for column in columns] for row in _rows(tournament, with_bars=True)]
    headings = [column.heading for column in columns]
    table = markdown_table(headings, rows, left=("Bot", "Owner")) if rows else "No bots are entered.\n"
    return f"# {escape_markdown(tournament.name)}\n\n{_state(tournament)}\n\n{table}"


def _rows(tournament: Tournament, *, with_bars: bool) -> list[Json]:
    kept = standings_cache.tournament_entry(tournament.id)
    rows = standings_cache.ranked_entrants(kept)
    extended = standings_cache.attach_error_bars(kept, tournament.id, rows, computed=with_bars)
    found: list[Json] = StandingsRow(many=True).dump(extended)
    return found


def _state(tournament: Tournament) -> str:
    format = FORMATS[tournament.format][0]
    if tournament.status == TournamentState.FINISHED:
        ended = UtcDateTime()._serialize(tournament.finished_at, None, None)
        return f"Final standings, {format}, finished {ended}."
    return f"Standings so far, {format}; the tournament is {tournament.status}."
