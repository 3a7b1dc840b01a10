"""Decide who may enter a tournament: the join code, the guests, the closing of entries, requests for approval.

``entries`` enters the bots; it enforces what holds for everybody, such as the largest number of entries.
"""

import hmac
import unicodedata
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Final

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from referee.accounts import accounts
from referee.accounts.entry_consent import EntryConsent
from referee.accounts.tables import Account
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.db.reporting import notify
from referee.errors import BadOption, Conflict, Forbidden, NeedsAcceptance, NotFound, QuotaExceeded
from referee.events import BotEntered, EntryDecided, GuestsInvited
from referee.tournaments import entries
from referee.tournaments.states import UNFINISHED, TournamentState
from referee.tournaments.tables import EntryRequest, Tournament, TournamentEntry, TournamentGuest
from referee.tournaments.tournaments import CO_ORGANISERS, is_manager, lock_in_state

MIN_CODE_LENGTH: Final = 6
MAX_CODE_LENGTH: Final = 40
MAX_GUESTS: Final = 1000
MAX_REQUESTS: Final = 1000


@dataclass(frozen=True, slots=True)
class Admission:
    """Hold who may enter a tournament: those who know the code, and the guests. Without both, everybody may."""

    join_code: str | None
    guests: Sequence[Account]


def load_admission(session: Session, tournament: Tournament) -> Admission:
    query = select(Account).join(TournamentGuest, TournamentGuest.account_id == Account.id)
    query = query.where(TournamentGuest.tournament_id == tournament.id).order_by(Account.name, Account.id)
    return Admission(tournament.join_code, session.scalars(query).all())


def has_guests(session: Session, tournament_id: str) -> bool:
    """Return whether the tournament has a list of guests."""
    guests = select(TournamentGuest.account_id).where(TournamentGuest.tournament_id == tournament_id)
    return session.scalar(guests.limit(1)) is not None


def set_admission(session: Session, tournament_id: str, *, join_code: str | None, guests: Sequence[str]) -> Admission:
    """Set the join code and the guests, which are names or ids of accounts. Bots that are entered stay.

    Notify the new guests if the tournament is open.
    Raise ``BadOption`` for a bad code or an unknown account, ``Conflict`` if the tournament is over.
    """
    tournament = lock_in_state(session, tournament_id, *UNFINISHED)
    code = None if join_code is None else _normalize_code(join_code)
    if len(guests) > MAX_GUESTS:
        raise BadOption("guests", f"must name at most {MAX_GUESTS} accounts")
    found = {_find_guest(session, guest).id for guest in guests}
    accounts.lock_present(session, *found)
    earlier = {guest.id for guest in load_admission(session, tournament).guests}
    session.execute(delete(TournamentGuest).where(TournamentGuest.tournament_id == tournament_id))
    session.add_all(TournamentGuest(tournament_id=tournament_id, account_id=id) for id in sorted(found))
    tournament.join_code = code
    tournament.revision += 1
    session.flush()
    notify_guests(session, tournament, found - earlier)
    return load_admission(session, tournament)


def notify_guests(session: Session, tournament: Tournament, account_ids: Set[str]) -> None:
    """Report to these accounts that they are guests, if the tournament is open. Leave out its organisers."""
    if tournament.status == TournamentState.OPEN:
        invited = sorted(account_ids - CO_ORGANISERS.ids(session, tournament))
        about = {"tournament": tournament.id, "name": tournament.name, "game": tournament.game}
        notify(session, GuestsInvited(accounts=invited, **about))


def check_may_enter(session: Session, tournament: Tournament, account: Account, code: str | None) -> None:
    """Raise ``Conflict`` after the closing of entries, ``Forbidden`` unless the account is a guest or knows the code.

    Organisers of the tournament and the operator may always enter bots.
    """
    if is_manager(account, tournament):
        return
    closing = tournament.entries_close_at
    if closing is not None and closing <= current_time(session):
        raise Conflict(
            f"Entries closed at {closing.isoformat(timespec='seconds')}. Ask the organiser to enter the bot."
        )
    guests_only = has_guests(session, tournament.id)
    if tournament.join_code is None and not guests_only:
        return
    if guests_only and session.get(TournamentGuest, (tournament.id, account.id)) is not None:
        return
    if tournament.join_code is None:
        raise Forbidden(
            "Only guests may enter this tournament, and your account is not on its list. Ask the organiser."
        )
    if code is None:
        raise Forbidden("This tournament needs a join code. Ask its organiser for the code, and send it as `code`.")
    if not hmac.compare_digest(_normalize_code(code).encode(), tournament.join_code.encode()):
        raise Forbidden("The join code is wrong. Check it, or ask the organiser for the present code.")


def check_owner_consents(session: Session, tournament: Tournament, bot: Bot, organiser_id: str) -> None:
    """Raise ``Forbidden`` or ``NeedsAcceptance`` unless the owner of the bot lets this organiser enter it.

    Owners whose request to enter the bot is open have agreed to it. So have, until they withdraw the bot, owners whose
    account the organiser created for a class and who have not refused entries by organisers.
    """
    request = session.get(EntryRequest, (tournament.id, bot.id))
    if bot.owner_id == organiser_id or (request is not None and request.refused_at is None):
        return
    owner = accounts.get_account(session, bot.owner_id)
    if owner.entry_consent == EntryConsent.NOBODY:
        raise Forbidden(
            f"The owner of {bot.name!r} lets no organiser enter it. Send the owner the address of the tournament."
        )
    entry = session.get(TournamentEntry, (tournament.id, bot.id))
    has_withdrawn = entry is not None and entry.owner_withdrew_at is not None
    if has_withdrawn or (owner.entry_consent == EntryConsent.ASK and owner.class_of != organiser_id):
        why = "has withdrawn it from this tournament" if has_withdrawn else "decides about each entry"
        raise NeedsAcceptance(
            f"The owner of {bot.name!r} {why}. Ask them with POST /api/v1/tournaments/{tournament.id}/invitations."
        )


def notify_entered(session: Session, tournament: Tournament, bot: Bot, organiser: Account) -> None:
    """Notify the owner of a bot that an organiser has entered it."""
    entered = {"tournament": tournament.id, "name": tournament.name, "bot": bot.id, "bot_name": bot.name}
    notify(session, BotEntered(accounts=[bot.owner_id], **entered, by=organiser.id, by_name=organiser.name))


def request_entry(session: Session, tournament_id: str, bot_id: str) -> EntryRequest:
    """Ask the organiser to enter a bot. Asking again changes nothing.

    Raise ``Conflict`` if the tournament needs no approval or takes no entries, if the bot is entered or was refused,
    and whatever ``check_may_play`` raises.
    """
    tournament, bot = entries.lock_to_ask(session, tournament_id, bot_id)
    if not tournament.approval:
        raise Conflict("This tournament needs no approval. Enter the bot directly.")
    request = session.get(EntryRequest, (tournament_id, bot_id))
    if request is not None and request.refused_at is not None:
        raise Conflict(f"The organiser refused bot {bot.name!r}: {request.reason or 'no reason was given'}.")
    if request is None:
        pending = select(func.count()).where(EntryRequest.tournament_id == tournament_id)
        if session.scalars(pending).one() >= MAX_REQUESTS:
            raise QuotaExceeded(f"This tournament has {MAX_REQUESTS} requests already. Try again later.")
        request = EntryRequest(tournament_id=tournament_id, bot_id=bot_id, created_at=current_time(session))
        session.add(request)
        session.flush()
    return request


def withdraw_request(session: Session, tournament_id: str, bot_id: str) -> None:
    """Remove the open request of a bot. Raise ``NotFound`` if there is none."""
    session.delete(_get_open_request(session, tournament_id, bot_id))


def approve(session: Session, tournament_id: str, bot_id: str) -> TournamentEntry:
    """Enter a bot that asked for it, and notify its owner. Raise whatever ``enter_bot`` raises."""
    _get_open_request(session, tournament_id, bot_id)
    entry = entries.enter_bot(session, tournament_id, bot_id)
    _notify_owner(session, tournament_id, bot_id, approved=True, reason=None)
    return entry


def refuse(session: Session, tournament_id: str, bot_id: str, reason: str | None) -> EntryRequest:
    """Refuse a bot that asked to enter, and notify its owner. The organiser may still ask them to enter it."""
    request = _get_open_request(session, tournament_id, bot_id)
    request.refused_at, request.reason = current_time(session), reason
    _notify_owner(session, tournament_id, bot_id, approved=False, reason=reason)
    return request


def list_requests(
    session: Session, tournament_id: str, *, owner_id: str | None = None
) -> list[tuple[EntryRequest, Bot]]:
    """Return all requests, the oldest first, or those for the bots of one owner."""
    query = select(EntryRequest, Bot).join(Bot, Bot.id == EntryRequest.bot_id)
    query = query.where(EntryRequest.tournament_id == tournament_id)
    if owner_id is not None:
        query = query.where(Bot.owner_id == owner_id)
    ordered = query.order_by(EntryRequest.created_at, EntryRequest.bot_id)
    return [(request, bot) for request, bot in session.execute(ordered)]


def _get_open_request(session: Session, tournament_id: str, bot_id: str) -> EntryRequest:
    request = session.get(EntryRequest, (tournament_id, bot_id), with_for_update=True)
    if request is None or request.refused_at is not None:
        raise NotFound("entry request", bot_id)
    return request


def _notify_owner(session: Session, tournament_id: str, bot_id: str, *, approved: bool, reason: str | None) -> None:
    tournament, bot = session.get_one(Tournament, tournament_id), session.get_one(Bot, bot_id)
    about = {"tournament": tournament_id, "name": tournament.name, "bot": bot_id}
    notify(session, EntryDecided(accounts=[bot.owner_id], **about, approved=approved, reason=reason))


def _find_guest(session: Session, guest: str) -> Account:
    try:
        return accounts.find_by_id_or_name(session, guest)
    except NotFound:
        raise BadOption("guests", f"no account has the name or id {guest!r}") from None


def _normalize_code(code: str) -> str:
    """Return the code as it is compared: upper and lower case, spaces and hyphens do not matter."""
    text = "".join(sign for sign in unicodedata.normalize("NFKC", code).casefold() if sign not in " -")
    if not MIN_CODE_LENGTH <= len(text) <= MAX_CODE_LENGTH or not text.isalnum():
        raise BadOption("join_code", f"must have {MIN_CODE_LENGTH} to {MAX_CODE_LENGTH} letters and digits")
    return text
