"""Enter, withdraw and seed bots in tournaments, and ask owners to let organisers enter their bots."""

from typing import Any

from api.auth import account, anyone, current_account, require_scope
from api.invitations.presentation import present_sent
from api.invitations.schemas import InvitationView, InvitedBot
from api.tournaments import access
from api.tournaments import entry_schemas as schemas
from api.tournaments.presentation import attach_progress, visible_entries, visible_entry
from api.tournaments.schemas import WholeTournamentView
from api.views import Resource, current_session
from referee.accounts.act_kinds import ActKind
from referee.accounts.scopes import Scope
from referee.bots import bots
from referee.bots.tables import Bot
from referee.db.paging import Page
from referee.errors import Forbidden
from referee.tournaments import admission, disqualification, entries, tournaments
from referee.tournaments.tables import Tournament, TournamentEntry
from referee.workflows.accounts import invitations

resource = Resource("entries", access.TOURNAMENT, "Entries of tournaments.")


@resource.get("/entries", anyone, items=schemas.EntryView, query=schemas.EntryQuery)
def list_entries(query: dict[str, Any], tournament_id: str) -> Any:
    """List the entries of a tournament, in order of entry

    The list includes withdrawn entries.
    """
    tournament = access.get_visible_tournament(tournament_id)
    found = entries.list_entries(current_session(), tournament.id, **query)
    return Page(visible_entries(found.items), found.next)


@resource.post(
    "/enter", account, schemas.EntryView, wakes_runner=True, body=schemas.NewEntry, scope=Scope.PLAY, **access.WITH_CODE
)
def enter(entry: dict[str, Any], tournament_id: str) -> Any:
    """Enter a bot

    The bot must be yours, be verified and support the game. An organiser may also enter bots of others in their own
    tournament, as far as the owners allow it (`entry_consent` of their accounts): a 409 `needs_acceptance` says that
    the owner decides, whom `POST …/invitations` asks, also after they have withdrawn the bot. Owners are notified of
    such entries. If late entries are allowed,
    a bot may also enter a running tournament; it plays from the next round on. A tournament with `requires_code` needs
    the join code unless you are a guest; one with `approval` takes requests instead (`POST …/requests`).
    """
    tournament = access.get_visible_tournament(tournament_id)
    if "seed" in entry and not tournaments.is_manager(current_account(), tournament):
        raise Forbidden("Only the organiser of the tournament may set seeds. Leave out `seed`.")
    if "seed" in entry:
        require_scope(Scope.ORGANISE)
    access.check_admission(tournament, entry.get("code"))
    entered, bot = _enter_bot(tournament, entry["bot"])
    if "seed" in entry:
        entries.set_seeds(current_session(), tournament.id, {bot.id: entry["seed"]})
    return visible_entry(entered, bot)


@resource.post(
    "/entries",
    account,
    schemas.EnteredView,
    wakes_runner=True,
    body=schemas.NewEntries,
    scope=Scope.PLAY,
    **access.WITH_CODE,
)
def enter_together(batch: dict[str, Any], tournament_id: str) -> Any:
    """Enter several bots in one transaction

    The same conditions hold as for one bot. If one of the bots is refused, none is entered.
    """
    tournament = access.get_visible_tournament(tournament_id)
    access.check_admission(tournament, batch.get("code"))
    return {"items": visible_entries([_enter_bot(tournament, bot_id) for bot_id in batch["bots"]])}


def _enter_bot(tournament: Tournament, bot_id: str) -> tuple[TournamentEntry, Bot]:
    """Enter a bot that the caller may enter, and record the act if it belongs to another account."""
    bot = access.get_entrant_bot(bot_id, tournament)
    access.check_may_enter_bot(bot)
    admission.check_owner_consents(current_session(), tournament, bot, current_account().id)
    entered = entries.enter_bot(current_session(), tournament.id, bot.id)
    if bot.owner_id != current_account().id:
        access.record_act(ActKind.BOT_ENTERED, tournament, bot.id)
        admission.notify_entered(current_session(), tournament, bot, current_account())
    return entered, bot


@resource.post("/invitations", account, InvitationView, body=InvitedBot, status=201, scope=Scope.ORGANISE)
def invite(wish: dict[str, Any], tournament_id: str) -> Any:
    """Ask the owner of a bot to let it play in your tournament

    For bots for which `POST …/enter` answers with a 409 `needs_acceptance`. The bot is entered when its owner accepts.
    The invitation lapses when the tournament starts or, if it was sent after the start, when it ends. An account gets
    at most 20 invitations a day, 3 from the same account. What was withdrawn is not asked again for a day.
    """
    tournament = access.get_managed_tournament(tournament_id)
    bot = access.get_entrant_bot(wish["bot"], tournament)
    access.check_may_enter_bot(bot)
    return present_sent(invitations.invite_bot(current_session(), tournament.id, bot.id, current_account()))


@resource.post("/disqualify", account, schemas.EntryView, body=schemas.Disqualification, scope=Scope.ORGANISE)
def disqualify(wish: dict[str, Any], tournament_id: str) -> Any:
    """Disqualify a bot

    Unlike a withdrawn bot it is ranked after all others and cannot enter again, and the reason is public. Its open
    matches are cancelled as in a withdrawal; results of matches that are over stay, void them if they should not count.
    """
    tournament = access.get_managed_tournament(tournament_id)
    bot = bots.get_bot(current_session(), wish["bot"])
    with access.name_unknown_entry():
        entry = disqualification.disqualify_bot(current_session(), tournament.id, bot.id, wish["reason"])
    access.record_act(ActKind.BOT_DISQUALIFIED, tournament, bot.id, reason=wish["reason"])
    return visible_entry(entry, bot)


@resource.post("/withdraw", account, schemas.EntryView, body=schemas.Withdrawal, scope=Scope.PLAY)
def withdraw(entry: dict[str, Any], tournament_id: str) -> Any:
    """Withdraw a bot

    Matches of the bot in progress are played to the end. Its other open matches are cancelled and count for nobody.
    """
    tournament = access.get_visible_tournament(tournament_id)
    bot = access.get_entrant_bot(entry["bot"], tournament)
    by_owner = bot.owner_id == current_account().id
    with access.name_unknown_entry():
        withdrawn = entries.withdraw_bot(current_session(), tournament.id, bot.id, by_owner=by_owner)
    if not by_owner:
        access.record_act(ActKind.BOT_WITHDRAWN, tournament, bot.id)
    return visible_entry(withdrawn, bot)


@resource.put("/seeds", account, WholeTournamentView, body=schemas.Seeds, scope=Scope.ORGANISE)
def set_seeds(body: dict[str, Any], tournament_id: str) -> Any:
    """Set the seeds of entries

    Seeds can be set before the start. Entries that are not named keep their seeds. A knockout uses the seeds if its
    `seeding` is `hand`; a Swiss uses them as pairing numbers.
    """
    tournament = access.get_managed_tournament(tournament_id)
    seeded = entries.set_seeds(current_session(), tournament.id, body["seeds"])
    access.record_act(ActKind.SEEDS_SET, tournament, seeds=body["seeds"])
    return attach_progress(seeded)
