"""Enter, withdraw and seed bots in tournaments."""

from typing import Any

from api.auth import asker
from api.errors import invalid
from api.pagination import envelope, list_of, read_cursor
from api.presentation import attach_progress, visible_entry
from api.tournaments.entry_schemas import EntryQuery, EntryView, NewEntry, Seeds, Withdrawal
from api.tournaments.schemas import WholeTournamentView
from api.views import Resource, record
from referee.bots import bots
from referee.bots.tables import Bot
from referee.db.paging import Page
from referee.errors import Forbidden, NotFound
from referee.tournaments import entries, tournaments
from referee.tournaments.tables import Tournament

resource = Resource("entries", "/api/v1/tournaments", "Entries of tournaments.")


@resource.route("GET", '/<id("trn"):tournament_id>/entries')
@resource.anyone
@resource.query(EntryQuery)
@resource.reads
@resource.response(list_of(EntryView))
def list_entries(query: dict[str, Any], tournament_id: str) -> Any:
    """List the entries of a tournament, in order of entry

    Includes withdrawn entries.
    """
    tournament = tournaments.get_tournament(record(), tournament_id)
    found = entries.list_entries(
        record(), tournament.id, preflight=query.get("preflight"), limit=query["limit"], cursor=read_cursor(query)
    )
    return envelope(Page([visible_entry(entry, bot) for entry, bot in found.items], found.next), query)


@resource.route("POST", '/<id("trn"):tournament_id>/enter')
@resource.owner
@resource.wakes_runner
@resource.body(NewEntry)
@resource.idempotent
@resource.response(EntryView)
def enter(entry: dict[str, Any], tournament_id: str) -> Any:
    """Enter a bot

    The bot must be yours, verified, and support the game; an organiser may enter and seed any bot in their tournament.
    If the tournament allows late entries, a bot may also enter while it is running and plays from the next round on.
    """
    tournament = tournaments.get_tournament(record(), tournament_id)
    bot = entrant(entry["bot"], tournament)
    if "seed" in entry and not tournaments.is_manager(asker(), tournament):
        raise Forbidden("Only the organiser of the tournament may set seeds. Leave out `seed`.")
    entered = entries.enter_bot(record(), tournament.id, bot.id)
    if "seed" in entry:
        entries.set_seeds(record(), tournament.id, {bot.id: entry["seed"]})
    return visible_entry(entered, bot)


@resource.route("POST", '/<id("trn"):tournament_id>/withdraw')
@resource.owner
@resource.body(Withdrawal)
@resource.idempotent
@resource.response(EntryView)
def withdraw(entry: dict[str, Any], tournament_id: str) -> Any:
    """Withdraw a bot

    Its running matches are played to the end. Its other matches are cancelled and count for nobody.
    """
    tournament = tournaments.get_tournament(record(), tournament_id)
    bot = entrant(entry["bot"], tournament)
    try:
        return visible_entry(entries.withdraw_bot(record(), tournament.id, bot.id), bot)
    except NotFound as error:
        if error.kind != "entry":
            raise
        raise invalid([("bot", "This bot is not entered in this tournament.")]) from None


@resource.route("PUT", '/<id("trn"):tournament_id>/seeds')
@resource.organiser
@resource.body(Seeds)
@resource.writes
@resource.response(WholeTournamentView)
def set_seeds(body: dict[str, Any], tournament_id: str) -> Any:
    """Set the seeds of entries

    Possible before the start. Entries that are not named keep their seeds. A knockout uses the seeds if its `seeding`
    is `hand`, a Swiss for its pairing numbers.
    """
    tournament = tournaments.get_tournament(record(), tournament_id, manager=asker())
    return attach_progress(entries.set_seeds(record(), tournament.id, body["seeds"]))


def entrant(bot_id: str, tournament: Tournament) -> Bot:
    """Return the bot to enter or withdraw: one of the caller's, or any bot if they run the tournament."""
    try:
        bot = bots.get_bot(record(), bot_id)
    except NotFound:
        raise invalid([("bot", "No bot has this id.")]) from None
    if bot.owner_id != asker().id and not tournaments.is_manager(asker(), tournament):
        raise Forbidden("This bot belongs to another account, and you do not run the tournament.")
    return bot
