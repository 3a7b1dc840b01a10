"""Events: the list, and each one's front page with its table. Its other pages stand in ``tournament_parts``."""

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from flask import Blueprint, Response, request
from sqlalchemy import func, select

from api import standings_cache
from api.caching import CacheEntry
from api.errors import invalid
from api.pages.page import page, page_view
from api.pagination import envelope, read_cursor
from api.presentation import match_views
from api.queries import takes
from api.tournaments import terms
from api.tournaments.schemas import ProgressView
from api.tournaments.standings_schemas import StandingsRow
from api.views import record
from referee.accounts.tables import Account
from referee.bots.tables import Bot
from referee.db.paging import newest_first
from referee.errors import Conflict
from referee.games import catalogue
from referee.ladders.tables import Result
from referee.matches.tables import Match
from referee.standings import TIE_BREAKS
from referee.tournaments import entries as entering
from referee.tournaments import progress as progresses
from referee.tournaments import tournaments
from referee.tournaments.standings import EventResults
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
    """What goes on, what takes entries, what is over; or one state, or one game, alone."""
    status, game = one_of("status", TOURNAMENT_STATES), one_of("game", sorted(catalogue()))
    query = {"limit": LISTED, "cursor": request.args.get("cursor"), "status": status, "game": game}
    first = query["cursor"] is None
    rest = [status] if status else ["finished", "cancelled"]
    found = _list_tournaments(rest, game, read_cursor(query))
    groups = {"rest": found.items}
    if first and not status:
        groups |= {
            "running": _list_tournaments(["running", "paused"], game).items,
            "open": _list_tournaments(["open"], game).items,
        }
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
    return page("tournaments/standings.html", **head(event), table=table(event, number_of_page()))


def head(event: Tournament) -> Json:
    """What every page of an event shows at its top."""
    found = progresses.progress(record(), event.id)
    organiser = record().get(Account, event.created_by)
    entries = asdict(entering.counts(record(), event.id))
    # What messages of its stream are compared with: all of it but the moment at which it may end.
    known = {**asdict(found), "estimated_end": None, "entries": entries}
    return {
        "event": event,
        "organiser": organiser.name if organiser else event.created_by,
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
    first = begin(number, LINES, len(everybody))
    rows = everybody[first : first + LINES]
    digits = terms.digits("points", event.seats)
    return {
        "columns": columns,
        "digits": digits,
        "blank": _blank(columns),
        "script": {
            "columns": [{key: column[key] for key in ("name", "digits", "unit")} for column in columns],
            "digits": digits,
            "standIn": event.stand_in is not None,
            "seq": kept.made.as_of_seq,
        },
        "lines": _lines(kept, event.id, rows),
        "of": len(everybody),
        "number": number,
        "pages": max(1, -(-len(everybody) // LINES)),
        "results": len(kept.made.outcomes),
    }


def newest(event: Tournament) -> list[Json]:
    """The matches that ended last."""
    query = select(Match).join(Result, Result.match_id == Match.id).where(Match.tournament_id == event.id)
    found = list(record().scalars(query.order_by(Result.seq.desc()).limit(NEWEST)))
    return match_views(found)


def number_of_page() -> int:
    """The page that is asked for, from 1; refuses anything else."""
    text = request.args.get("page", "1")
    if not re.fullmatch("[1-9][0-9]{0,6}", text, re.ASCII):
        raise invalid([("page", "a whole number from 1")])
    return int(text)


def begin(number: int, size: int, length: int) -> int:
    """Where this page begins; refuses one behind the last."""
    first = (number - 1) * size
    if first and first >= length:
        raise invalid([("page", f"there are {max(1, -(-length // size))}")])
    return first


def _lines(kept: CacheEntry[EventResults], tournament_id: str, rows: Sequence[Any]) -> list[Json]:
    ids = [str(row.entrant) for row in rows]
    query = select(TournamentEntry.bot_id, Bot.name).join(Bot, Bot.id == TournamentEntry.stand_in_id)
    query = query.where(TournamentEntry.tournament_id == tournament_id, TournamentEntry.bot_id.in_(ids))
    stand_ins = dict(record().execute(query).all())
    shown = StandingsRow(many=True).dump(standings_cache.attach_error_bars(kept, tournament_id, rows))
    return [{**line, "stand_in": stand_ins.get(line["bot"])} for line in shown]


def _blank(columns: Sequence[Json]) -> Json:
    """A line of nobody, for the script to fill."""
    return {
        "bot": "",
        "place": "",
        "name": "",
        "withdrawn": False,
        "version_changed": False,
        "stand_in": None,
        "points": 0,
        "matches": 0,
        "points_per_match": None,
        "error_bar": {"low": None, "high": None},
        "tie_breaks": [{"name": column["name"], "value": None} for column in columns],
    }


def _list_tournaments(states: Sequence[str], game: str | None, cursor: Any = None) -> Any:
    query = select(Tournament).where(Tournament.status.in_(states))
    if game is not None:
        query = query.where(Tournament.game == game)
    return newest_first(record(), query, Tournament.created_at, Tournament.id, limit=LISTED, cursor=cursor)


def _count_entries(events: Sequence[Tournament]) -> dict[str, Json]:
    """By event: how many bots are entered, and how far it is where it goes on."""
    ids = [event.id for event in events]
    query = select(TournamentEntry.tournament_id, func.count()).group_by(TournamentEntry.tournament_id)
    query = query.where(TournamentEntry.tournament_id.in_(ids), TournamentEntry.withdrawn_at.is_(None))
    entered = dict(record().execute(query).all())
    going_on = {event.id for event in events if event.status in ("running", "paused")}
    return {
        id: {
            "entered": entered.get(id, 0),
            "progress": progresses.progress(record(), id) if id in going_on else None,
        }
        for id in ids
    }


def one_of(name: str, known: Sequence[str]) -> str | None:
    """A filter of the list; nothing, or everything, is None."""
    wanted = request.args.get(name) or None
    if wanted is not None and wanted not in known:
        raise invalid([(name, f"one of {', '.join(known)}")])
    return wanted
