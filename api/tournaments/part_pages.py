"""The pages of an event besides its front page: stages, matches, entries, crosstable, bracket, luck, files."""

from typing import Final

from flask import Blueprint, Response, request
from sqlalchemy import func, select

from api import pairings, standings_cache
from api.errors import not_found
from api.pages.charts import bracket as bracket_drawing
from api.pages.charts import crosstable as heat
from api.pages.formatting import decimal
from api.pages.page import page, page_view
from api.pagination import envelope, read_cursor
from api.presentation import Extended, match_views, visible_entry
from api.queries import takes
from api.tournaments.entry_schemas import EntryView
from api.tournaments.pages import EVENT, LINES, Json, begin, head, number_of_page, one_of
from api.tournaments.round_schemas import TableView
from api.tournaments.standings_schemas import LuckRow
from api.views import record
from referee.bots import bots
from referee.errors import Conflict, NotFound
from referee.matches import matches
from referee.matches.tables import MATCH_STATES, Match, MatchLog
from referee.standings import crosstable, luck_adjusted
from referee.tournaments import bulk, entries, round_lists, tournaments
from referee.tournaments.tables import Tournament, TournamentEntry, TournamentRound

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
    number = number_of_page()
    last = (
        record().scalar(select(func.max(TournamentRound.number)).where(TournamentRound.tournament_id == event.id)) or 0
    )
    first = begin(number, STAGES, last)
    found = round_lists.list_stages(record(), event.id, limit=STAGES, cursor=[first])
    pages_there = max(1, -(-last // STAGES))
    return page("tournaments/stages.html", **head(event), stages=found.items, number=number, pages=pages_there)


@pages.get(f"{EVENT}/stages/{pairings.STAGE}")
@takes("page")
@page_view
def show_stage(tournament_id: str, stage: int) -> Response:
    """A stage with its tables."""
    event = _get_tournament_with_rounds(tournament_id)
    line = round_lists.stage_line(record(), event.id, stage)
    stored = record().get_one(TournamentRound, (event.id, stage))
    number = number_of_page()
    first = begin(number, TABLES, line.tables)
    numbers = list(range(first + 1, min(first + TABLES, line.tables) + 1))
    played = round_lists.matches_at(record(), event.id, stage, numbers)
    entrants = [one for at in numbers for one in stored.tables[at - 1]["entrants"]]
    names = bots.names_of(record(), [*entrants, *(bye["entrant"] for bye in stored.byes[:TABLES])])
    owners = bots.owners_of(record(), entrants)
    told = line.state == "over" or pairings.tells_all(event)
    newest = (
        record().scalar(select(func.max(TournamentRound.number)).where(TournamentRound.tournament_id == event.id))
        or stage
    )
    return page(
        "tournaments/stage.html",
        **head(event),
        stage=line,
        newest=newest,
        tables=TableView(many=True).dump(
            pairings.table(event, stored, at, played.get(at, []), names, owners) for at in numbers
        ),
        byes=[{**pairings.place(bye["entrant"], names), "reason": bye["reason"]} for bye in stored.byes[:TABLES]]
        if told
        else [],
        number=number,
        pages=max(1, -(-line.tables // TABLES)),
    )


@pages.get(f"{EVENT}/matches")
@takes("cursor", "status")
@page_view
def list_matches(tournament_id: str) -> Response:
    """All its matches, the newest first."""
    event = tournaments.get_tournament(record(), tournament_id)
    chosen = one_of("status", MATCH_STATES)
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
    number = number_of_page()
    there = select(func.count()).where(TournamentEntry.tournament_id == event.id)
    of = record().scalar(there) or 0
    first = begin(number, LINES, of)
    found = entries.list_entries(record(), event.id, limit=LINES, cursor=[first - 1] if first else None)
    items = EntryView(many=True).dump(visible_entry(entry, bot) for entry, bot in found.items)
    stand_ins = bots.names_of(record(), [one["stand_in"] for one in items if one["stand_in"]])
    return page(
        "tournaments/entries.html",
        **head(event),
        items=items,
        stand_ins=stand_ins,
        of=of,
        number=number,
        pages=max(1, -(-of // LINES)),
    )


@pages.get(f"{EVENT}/crosstable")
@takes("page")
@page_view
def show_crosstable(tournament_id: str) -> Response:
    """Who scored what against whom; of a large field, neighbours in the table among themselves."""
    event = _get_started_tournament(tournament_id)
    number = number_of_page()
    try:
        kept = standings_cache.of_event(event.id)
    except Conflict as error:
        return page("tournaments/crosstable.html", **head(event), refusal=str(error))
    table = standings_cache.table(kept)
    met = kept.part("crosstable", lambda: crosstable([row.entrant for row in table], kept.made.outcomes))
    first = begin(number, MET, len(table))
    rows = table[first : first + MET]
    people = standings_cache.names(event.id, [str(row.entrant) for row in rows])
    return page(
        "tournaments/crosstable.html",
        **head(event),
        grid=heat.grid([(row.place, str(row.entrant), people[str(row.entrant)]) for row in rows], met),
        levels=heat.LEVELS,
        of=len(table),
        first=first + 1,
        last=first + len(rows),
        number=number,
        pages=max(1, -(-len(table) // MET)),
    )


@pages.get(f"{EVENT}/luck")
@takes("page")
@page_view
def show_luck(tournament_id: str) -> Response:
    """Scores less the luck of the cards."""
    event = _get_started_tournament(tournament_id)
    number = number_of_page()
    try:
        kept = standings_cache.of_event(event.id)
    except Conflict as error:
        return page("tournaments/luck.html", **head(event), refusal=str(error))
    table = standings_cache.table(kept)
    adjusted = kept.part("luck", lambda: luck_adjusted(kept.made.entrants, kept.made.outcomes))
    found = [(row, less) for row in table if (less := adjusted[str(row.entrant)]) is not None]
    compared = [row for row, less in sorted(found, key=lambda pair: -pair[1].points.value)]
    first = begin(number, LINES, len(compared))
    rows = compared[first : first + LINES]
    named = standings_cache.attach_people(event.id, rows)
    return page(
        "tournaments/luck.html",
        **head(event),
        lines=LuckRow(many=True).dump(Extended(row, adjusted=adjusted[str(row.entrant)]) for row in named),
        left_out=len(table) - len(compared),
        first=first + 1,
        number=number,
        pages=max(1, -(-len(compared) // LINES)),
    )


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
    packed = select(func.sum(func.length(MatchLog.packed)), func.sum(MatchLog.rows))
    size, rows = record().execute(packed.join(Match).where(Match.tournament_id == event.id)).one()
    return page("tournaments/downloads.html", **head(event), extent=extent, size=_size(size or 0), rows=rows or 0)


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


def _size(size_bytes: int) -> str:
    """A size of a file as people read it."""
    for unit, least in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if size_bytes >= least:
            return f"{decimal(size_bytes / least, 1)} {unit}"
    return f"{size_bytes} bytes"
