"""The pages of an event besides its front page: stages, matches, entries, crosstable, bracket, luck, files."""

from collections.abc import Callable
from typing import Final

from flask import Blueprint, Response, request

from api import pairings, standings_cache
from api.caching import CacheEntry
from api.errors import not_found
from api.pages.charts import bracket as bracket_drawing
from api.pages.charts import crosstable as heat
from api.pages.formatting import size
from api.pages.page import page, page_view
from api.pages.paging import numbered_page, requested_number
from api.pages.parameters import choice
from api.pagination import envelope, read_cursor
from api.presentation import Extended, match_views, visible_entry
from api.queries import takes
from api.tournaments.entry_schemas import EntryView
from api.tournaments.pages import EVENT, LINES, Json, entry_page, head
from api.tournaments.round_schemas import TableView
from api.tournaments.standings_schemas import LuckRow
from api.views import record
from referee.bots import bots
from referee.errors import Conflict, NotFound
from referee.matches import matches
from referee.matches.tables import MATCH_STATES
from referee.tournaments import bulk, round_lists, tournaments
from referee.tournaments.round_lists import StagePage
from referee.tournaments.rounds import newest
from referee.tournaments.standings import TournamentResults
from referee.tournaments.tables import Tournament

pages = Blueprint("tournament_parts", __name__)

MATCHES: Final = 50  # on a page
STAGES: Final = 50
TABLES: Final = 25
MET: Final = 30  # entrants on a page of the crosstable
DRAWN: Final = 64  # tables of a bracket's stage whose matches are listed beside it


@pages.get(f"{EVENT}/stages")
@takes("page")
@page_view
def list_stages(tournament_id: str) -> Response:
    """The stages decided so far."""
    event = _get_tournament_with_rounds(tournament_id)
    numbered = numbered_page(requested_number(), STAGES, newest(record(), event.id))
    found = round_lists.list_stages(record(), event.id, limit=STAGES, cursor=[numbered.first])
    return page("tournaments/stages.html", **head(event), stages=found.items, numbered=numbered)


@pages.get(f"{EVENT}/stages/{pairings.STAGE}")
@takes("page")
@page_view
def show_stage(tournament_id: str, stage: int) -> Response:
    """A stage with its tables."""
    event = _get_tournament_with_rounds(tournament_id)
    line = round_lists.stage_line(record(), event.id, stage)
    numbered = numbered_page(requested_number(), TABLES, line.tables)
    found = round_lists.stage_page(record(), event.id, line, first=numbered.first, limit=TABLES, most_byes=TABLES)
    return page(
        "tournaments/stage.html",
        **head(event),
        stage=line,
        newest=newest(record(), event.id),
        tables=TableView(many=True).dump(pairings.table(event, found, number) for number in found.tables),
        byes=_byes(found) if line.state == "over" or pairings.tells_all(event) else [],
        numbered=numbered,
    )


@pages.get(f"{EVENT}/matches")
@takes("cursor", "status")
@page_view
def list_matches(tournament_id: str) -> Response:
    """All its matches, the newest first."""
    event = tournaments.get_tournament(record(), tournament_id)
    chosen = choice("status", MATCH_STATES)
    query = {"limit": MATCHES, "cursor": request.args.get("cursor"), "status": chosen}
    found = matches.list_matches(
        record(), tournament_id=event.id, status=chosen, limit=MATCHES, cursor=read_cursor(query)
    )
    return page(
        "tournaments/matches.html",
        **head(event),
        matches=match_views(found.items),
        chosen=chosen,
        states=MATCH_STATES,
        first=query["cursor"] is None,
        next=envelope(found, query)["next"],
    )


@pages.get(f"{EVENT}/entries")
@takes("page")
@page_view
def list_entries(tournament_id: str) -> Response:
    """Who takes part."""
    event = tournaments.get_tournament(record(), tournament_id)
    numbered, found = entry_page(event)
    items = EntryView(many=True).dump(visible_entry(entry, bot) for entry, bot in found)
    substitutes = bots.names_of(record(), [one["substitute"] for one in items if one["substitute"]])
    return page("tournaments/entries.html", **head(event), items=items, substitutes=substitutes, numbered=numbered)


@pages.get(f"{EVENT}/crosstable")
@takes("page")
@page_view
def show_crosstable(tournament_id: str) -> Response:
    """Who scored what against whom; of a large field, neighbours in the table among themselves."""
    return _from_results("tournaments/crosstable.html", tournament_id, _crosstable)


@pages.get(f"{EVENT}/luck")
@takes("page")
@page_view
def show_luck(tournament_id: str) -> Response:
    """Scores less the luck of the cards."""
    return _from_results("tournaments/luck.html", tournament_id, _luck)


@pages.get(f"{EVENT}/bracket")
@page_view
def show_bracket(tournament_id: str) -> Response:
    """A knockout as a tree, and stage by stage."""
    event = _get_started_tournament(tournament_id)
    if event.format != "knockout":
        raise NotFound("bracket", event.id)
    drawn = pairings.bracket(event)
    return page(
        "tournaments/bracket.html",
        **head(event),
        drawing=bracket_drawing.tree(drawn, event.name),
        stages=[{**stage, "tables": _with_legs(event, stage)} for stage in drawn["stages"]],
        to_come=drawn["to_come"],
        most=DRAWN,
    )


@pages.get(f"{EVENT}/downloads")
@page_view
def list_downloads(tournament_id: str) -> Response:
    """Everything there is to take home, and what is needed to check it."""
    event = _get_started_tournament(tournament_id)
    extent = bulk.extent(record(), event.id, bulk.DownloadCursor())
    stored = bulk.stored_size(record(), event.id)
    return page(
        "tournaments/downloads.html", **head(event), extent=extent, size=size(stored.size_bytes), rows=stored.rows
    )


def _byes(found: StagePage) -> list[Json]:
    byes = found.stage.byes[:TABLES]
    return [{**pairings.place(bye["entrant"], found.names), "reason": bye["reason"]} for bye in byes]


def _from_results(
    template: str, tournament_id: str, context: Callable[[str, CacheEntry[TournamentResults], int], Json]
) -> Response:
    """Return a page of what ``context`` computes from the results; of a huge event it says why there is none."""
    event = _get_started_tournament(tournament_id)
    number = requested_number()
    try:
        kept = standings_cache.of_event(event.id)
    except Conflict as error:
        return page(template, **head(event), refusal=str(error))
    return page(template, **head(event), **context(event.id, kept, number))


def _crosstable(tournament_id: str, kept: CacheEntry[TournamentResults], number: int) -> Json:
    table = standings_cache.table(kept)
    numbered = numbered_page(number, MET, len(table))
    rows = numbered.rows(table)
    names = standings_cache.names(tournament_id, [str(row.entrant) for row in rows])
    lines = [(row.place, str(row.entrant), names[str(row.entrant)]) for row in rows]
    grid = heat.grid(lines, standings_cache.met(kept))
    return {"grid": grid, "levels": heat.LEVELS, "numbered": numbered}


def _luck(tournament_id: str, kept: CacheEntry[TournamentResults], number: int) -> Json:
    table, adjusted = standings_cache.table(kept), standings_cache.less_luck(kept)
    found = [(row, less) for row in table if (less := adjusted[str(row.entrant)]) is not None]
    compared = [row for row, less in sorted(found, key=lambda pair: -pair[1].points.value)]
    numbered = numbered_page(number, LINES, len(compared))
    named = standings_cache.attach_people(tournament_id, numbered.rows(compared))
    lines = LuckRow(many=True).dump(Extended(row, adjusted=adjusted[str(row.entrant)]) for row in named)
    return {"lines": lines, "left_out": len(table) - len(compared), "numbered": numbered}


def _with_legs(event: Tournament, stage: Json) -> list[Json]:
    """The tables of a stage with the matches played at them; of a huge stage its page tells them."""
    if len(stage["tables"]) > DRAWN:
        return []
    numbers = [table["table"] for table in stage["tables"]]
    played = round_lists.matches_at(record(), event.id, stage["stage"], numbers)
    return [{**table, "matches": match_views(played.get(table["table"], []))} for table in stage["tables"]]


def _get_started_tournament(tournament_id: str) -> Tournament:
    """An event that was started; the pages of one that was not say nothing yet and are not there."""
    event = tournaments.get_tournament(record(), tournament_id)
    if event.started_at is None:
        raise not_found()
    return event


def _get_tournament_with_rounds(tournament_id: str) -> Tournament:
    event = _get_started_tournament(tournament_id)
    if event.format == "ladder":
        raise not_found()
    return event
