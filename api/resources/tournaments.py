"""Tournaments: announced and run by organisers, entered by owners, watched by everybody."""

from typing import Any

from api import etags
from api.auth import asker
from api.errors import invalid
from api.pagination import PageQuery, after, envelope, everything, list_of
from api.resources.matches import master_key, page_of_matches
from api.schemas.matches import MatchView
from api.schemas.tournaments import (
    EntryBody,
    NewTournament,
    StandingsRow,
    TournamentChanges,
    TournamentQuery,
    TournamentView,
    WholeTournamentView,
)
from api.views import Resource, record
from referee.clocks import Limits
from referee.errors import Forbidden, NotFound
from referee.standings import Row
from referee.store import announcing, bots, entering, matches, starting, tournaments
from referee.store import progress as progresses
from referee.store.paging import Page
from referee.store.schema import Bot, Tournament
from referee.store.standings import event_standings

resource = Resource("tournaments", "/api/v1/tournaments", "Events: many matches that make one table.")


@resource.on("POST")
@resource.organiser
@resource.takes(NewTournament)
@resource.once
@resource.gives(WholeTournamentView, 201)
def announce(new: dict[str, Any]) -> Any:
    """Draft a tournament

    For organisers. It takes entries once it is opened.
    """
    limits = Limits(**new.pop("time"))
    return whole(announcing.draft(record(), new.pop("name"), created_by=asker().id, limits=limits, **new))


@resource.on("GET")
@resource.anyone
@resource.asks(TournamentQuery)
@resource.reads
@resource.gives(list_of(TournamentView))
def list_tournaments(query: dict[str, Any]) -> Any:
    """Tournaments, the newest first"""
    found = tournaments.list_tournaments(
        record(), status=query.get("status"), game=query.get("game"), limit=query["limit"], cursor=after(query)
    )
    return envelope(Page([shown(one) for one in found.items], found.next), query)


@resource.on("GET", '/<id("trn"):tournament_id>')
@resource.anyone
@resource.reads
@resource.gives(WholeTournamentView)
def show(tournament_id: str) -> Any:
    """A tournament with its entries and how far it is"""
    return whole(tournaments.get_tournament(record(), tournament_id))


@resource.on("PATCH", '/<id("trn"):tournament_id>')
@resource.organiser
@resource.takes(TournamentChanges)
@resource.conditional
@resource.writes
@resource.gives(WholeTournamentView)
def edit(changes: dict[str, Any], tournament_id: str) -> Any:
    """Change a draft"""
    tournament = mine(tournament_id)
    etags.must_match(WholeTournamentView, whole(tournament))
    if "time" in changes:
        changes["limits"] = Limits(**changes.pop("time"))
    return whole(announcing.edit(record(), tournament_id, revision=tournament.revision, **changes))


@resource.on("POST", '/<id("trn"):tournament_id>/open')
@resource.organiser
@resource.once
@resource.gives(WholeTournamentView)
def open_entries(tournament_id: str) -> Any:
    """Open a draft for entries"""
    return whole(announcing.open_entries(record(), mine(tournament_id).id))


@resource.on("POST", '/<id("trn"):tournament_id>/enter')
@resource.owner
@resource.takes(EntryBody)
@resource.once
@resource.gives(WholeTournamentView)
def enter(entry: dict[str, Any], tournament_id: str) -> Any:
    """Enter a bot

    One of your own, verified and able to play the game; an organiser may enter any bot in his tournament.
    """
    tournament = tournaments.get_tournament(record(), tournament_id)
    entering.enter(record(), tournament.id, entrant(entry["bot"], tournament).id)
    return whole(tournament)


@resource.on("POST", '/<id("trn"):tournament_id>/withdraw')
@resource.owner
@resource.takes(EntryBody)
@resource.once
@resource.gives(WholeTournamentView)
def withdraw(entry: dict[str, Any], tournament_id: str) -> Any:
    """Take a bot out

    Its matches that run are played, the others are cancelled and count for nobody.
    """
    tournament = tournaments.get_tournament(record(), tournament_id)
    try:
        entering.withdraw(record(), tournament.id, entrant(entry["bot"], tournament).id)
    except NotFound as error:
        if error.kind != "entry":
            raise
        raise invalid([("bot", "is not entered in this tournament")]) from None
    return whole(tournament)


@resource.on("POST", '/<id("trn"):tournament_id>/start')
@resource.organiser
@resource.wakes
@resource.once
@resource.gives(WholeTournamentView)
def start(tournament_id: str) -> Any:
    """Close the entries and play"""
    return whole(starting.start(record(), mine(tournament_id).id))


@resource.on("POST", '/<id("trn"):tournament_id>/pause')
@resource.organiser
@resource.once
@resource.gives(WholeTournamentView)
def pause(tournament_id: str) -> Any:
    """Let no further match begin"""
    return whole(announcing.pause(record(), mine(tournament_id).id))


@resource.on("POST", '/<id("trn"):tournament_id>/resume')
@resource.organiser
@resource.wakes
@resource.once
@resource.gives(WholeTournamentView)
def resume(tournament_id: str) -> Any:
    """Go on after a pause"""
    return whole(announcing.resume(record(), mine(tournament_id).id))


@resource.on("POST", '/<id("trn"):tournament_id>/cancel')
@resource.organiser
@resource.once
@resource.gives(WholeTournamentView)
def cancel(tournament_id: str) -> Any:
    """Cancel a tournament

    Matches that are over keep their results; the others are cancelled.
    """
    return whole(announcing.cancel(record(), mine(tournament_id).id, master_key=master_key()))


@resource.on("GET", '/<id("trn"):tournament_id>/standings')
@resource.anyone
@resource.reads
@resource.gives(list_of(StandingsRow))
def show_standings(tournament_id: str) -> Any:
    """The table, best first"""
    tournament = tournaments.get_tournament(record(), tournament_id)
    entered = {bot.id: bot for _, bot in tournaments.entries(record(), tournament.id)}
    table = event_standings(record(), tournament, entered)
    return everything([standings_row(row, entered[str(row.entrant)]) for row in table])


@resource.on("GET", '/<id("trn"):tournament_id>/matches')
@resource.anyone
@resource.asks(PageQuery)
@resource.reads
@resource.gives(list_of(MatchView))
def list_matches(query: dict[str, Any], tournament_id: str) -> Any:
    """The matches of a tournament, the newest first"""
    tournament = tournaments.get_tournament(record(), tournament_id)
    found = matches.list_matches(record(), tournament_id=tournament.id, limit=query["limit"], cursor=after(query))
    return page_of_matches(found, query)


def mine(tournament_id: str) -> Tournament:
    """The tournament, if the asker announced it or is the operator."""
    tournament = tournaments.get_tournament(record(), tournament_id)
    if not runs(tournament):
        raise Forbidden("only the organiser who announced a tournament runs it")
    return tournament


def runs(tournament: Tournament) -> bool:
    return asker().role == "admin" or tournament.created_by == asker().id


def entrant(bot_id: str, tournament: Tournament) -> Bot:
    """The bot to enter or withdraw: of the asker, or any bot for whoever runs the tournament."""
    try:
        bot = bots.get_bot(record(), bot_id)
    except NotFound:
        raise invalid([("bot", "no bot has this id")]) from None
    if bot.owner_id != asker().id and not runs(tournament):
        raise Forbidden("the bot is not yours")
    return bot


def whole(tournament: Tournament) -> dict[str, Any]:
    progress = progresses.progress(record(), tournament.id)
    return {
        **shown(tournament),
        "entries": [
            {"bot": bot.id, "name": bot.name, "owner": bot.owner_id, "withdrawn_at": entry.withdrawn_at}
            for entry, bot in tournaments.entries(record(), tournament.id)
        ],
        "progress": {"done": progress.done, "total": progress.total, "by_status": progress.by_status},
    }


def shown(tournament: Tournament) -> dict[str, Any]:
    return {
        "id": tournament.id,
        "name": tournament.name,
        "game": tournament.game,
        "options": tournament.options,
        "seats": tournament.seats,
        "format": tournament.format,
        "cycles": tournament.cycles,
        "rated": tournament.rated,
        "time": {"budget_ms": tournament.budget_ms, "bank_ms": tournament.bank_ms},
        "status": tournament.status,
        "organiser": tournament.created_by,
        "created_at": tournament.created_at,
        "started_at": tournament.started_at,
        "finished_at": tournament.finished_at,
    }


def standings_row(row: Row, bot: Bot) -> dict[str, Any]:
    return {
        "place": row.place,
        "bot": bot.id,
        "name": bot.name,
        "owner": bot.owner_id,
        "matches": row.matches,
        "byes": row.byes,
        "points": float(row.points),
        "points_exact": str(row.points),
        "wins": row.wins,
        "returns": row.returns,
        "tie_breaks": [
            {"name": name, "value": float(value), "exact": str(value)}
            if value is not None
            else {"name": name, "value": None, "exact": None}
            for name, value in row.tie_breaks.items()
        ],
    }
