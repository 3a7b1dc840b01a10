"""Events: the list, and each one's front page with its table. Its other pages stand in ``tournament_parts``."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from flask import Blueprint, Response, request

from api import standings_cache
from api.caching import CacheEntry
from api.pages.page import page, page_view
from api.pages.paging import NumberedPage, numbered_page, requested_number
from api.pages.parameters import choice
from api.pagination import envelope, read_cursor
from api.presentation import match_views
from api.queries import takes
from api.tournaments import terms
from api.tournaments.schemas import ProgressView
from api.tournaments.standings_schemas import StandingsRow
from api.views import record
from referee.accounts import accounts
from referee.bots.tables import Bot
from referee.errors import Conflict
from referee.games import catalogue
from referee.standings import TIE_BREAKS
from referee.tournaments import entries as entering
from referee.tournaments import progress as progresses
from referee.tournaments import tournaments, watching
from referee.tournaments.standings import TournamentResults
from referee.tournaments.tables import TOURNAMENT_STATES, Tournament, TournamentEntry

pages = Blueprint("tournaments", __name__)

Json = dict[str, Any]
EVENT: Final = '/tournaments/<id("trn"):tournament_id>'
LISTED: Final = 25  # events of a kind on a page
LINES: Final = 50  # of a table on a page; the stream tells as many
NEWEST: Final = 8  # matches on the front page


@pages.get("/tournaments")
@takes("cursor", "game", "status")
@page_view
def contents() -> Response:
    """Show tournaments in progress, open for entries and finished; or those of one state, or one game."""
    status, game = choice("status", TOURNAMENT_STATES), choice("game", sorted(catalogue()))
    query = {"limit": LISTED, "cursor": request.args.get("cursor"), "status": status, "game": game}
    first = query["cursor"] is None
    rest = status or ("finished", "cancelled")
    found = tournaments.list_tournaments(record(), status=rest, game=game, limit=LISTED, cursor=read_cursor(query))
    groups = {"rest": found.items}
    if first and not status:
        for group, states in (("running", ("running", "paused")), ("open", ("open",))):
            groups[group] = tournaments.list_tournaments(record(), status=states, game=game, limit=LISTED).items
    return page(
        "tournaments/contents.html",
        groups=groups,
        counted=_count_entries([event for events in groups.values() for event in events]),
        chosen=status,
        game=game,
        first=first,
        next=envelope(found, query)["next"],
        formats=terms.FORMATS,
        states=TOURNAMENT_STATES,
    )


@pages.get(EVENT)
@page_view
def show(tournament_id: str) -> Response:
    """How it stands, live; its terms."""
    event = tournaments.get_tournament(record(), tournament_id)
    return page(
        "tournaments/show.html",
        **head(event),
        table=table(event, 1),
        newest=newest(event),
        lines=list(terms.lines(event)),
    )


@pages.get(f"{EVENT}/standings")
@takes("page")
@page_view
def lines(tournament_id: str) -> Response:
    """The table, page by page."""
    event = tournaments.get_tournament(record(), tournament_id)
    return page("tournaments/standings.html", **head(event), table=table(event, requested_number()))


def head(event: Tournament) -> Json:
    """What every page of an event shows at its top."""
    found = progresses.progress(record(), event.id)
    entries = asdict(entering.counts(record(), event.id))
    # What messages of its stream are compared with: all of it but the moment at which it may end.
    known = {**asdict(found), "estimated_end": None, "entries": entries}
    return {
        "event": event,
        "organiser": accounts.get_account(record(), event.created_by).name,
        "progress": found,
        "estimated_end": ProgressView().dump(found)["estimated_end"],
        "entries": entries,
        "known": {**known, "status": event.status, "reason": event.status_reason},
        "over": event.status in ("finished", "cancelled"),
        "format": terms.FORMATS[event.format],
        "terms": terms,
    }


def table(event: Tournament, number: int) -> Json | None:
    """A page of the standings, None before the start."""
    if event.started_at is None:
        return None
    columns = terms.columns(TIE_BREAKS[event.format], event.seats)
    try:
        kept = standings_cache.of_event(event.id)
    except Conflict as error:
        return {"refusal": str(error), "columns": columns}
    everybody = standings_cache.table(kept)
    numbered = numbered_page(number, LINES, len(everybody))
    digits = terms.digits("points", event.seats)
    return {
        "columns": columns,
        "digits": digits,
        "blank": _blank(columns),
        "script": {
            "columns": [{key: column[key] for key in ("name", "digits", "unit")} for column in columns],
            "digits": digits,
            "substitute": event.substitute is not None,
            "seq": kept.made.as_of_seq,
        },
        "lines": _lines(kept, event.id, numbered.rows(everybody)),
        "numbered": numbered,
        "results": len(kept.made.outcomes),
    }


def newest(event: Tournament) -> list[Json]:
    """The matches that ended last."""
    return match_views(watching.newest_ended(record(), event.id, limit=NEWEST))


def entry_page(event: Tournament) -> tuple[NumberedPage, list[tuple[TournamentEntry, Bot]]]:
    """Return the page of entries that is asked for, withdrawn ones among them."""
    numbered = numbered_page(requested_number(), LINES, entering.count_entries(record(), event.id))
    return numbered, entering.list_entries(record(), event.id, limit=LINES, cursor=numbered.cursor).items


def _lines(kept: CacheEntry[TournamentResults], tournament_id: str, rows: Sequence[Any]) -> list[Json]:
    ids = [str(row.entrant) for row in rows]
    substitutes = entering.substitute_names(record(), tournament_id, ids)
    shown = StandingsRow(many=True).dump(standings_cache.attach_error_bars(kept, tournament_id, rows))
    return [{**line, "substitute": substitutes.get(line["bot"])} for line in shown]


def _blank(columns: Sequence[Json]) -> Json:
    """A line of nobody, for the script to fill."""
    return {
        "bot": "",
        "place": "",
        "name": "",
        "withdrawn": False,
        "version_changed": False,
        "substitute": None,
        "points": 0,
        "matches": 0,
        "points_per_match": None,
        "error_bar": {"low": None, "high": None},
        "tie_breaks": [{"name": column["name"], "value": None} for column in columns],
    }


def _count_entries(events: Sequence[Tournament]) -> dict[str, Json]:
    """By event: how many bots are entered, and how far it is where it goes on."""
    ids = [event.id for event in events]
    entered = entering.count_entered(record(), ids)
    going_on = {event.id for event in events if event.status in ("running", "paused")}
    return {
        id: {
            "entered": entered.get(id, 0),
            "progress": progresses.progress(record(), id) if id in going_on else None,
        }
        for id in ids
    }
