"""Decide over HTTP who may enter a tournament: join code, guests, requests that need approval."""

from typing import Any, Final

from api.auth import account, current_account
from api.extended import Extended
from api.pagination import list_of, single_page
from api.tournaments import access
from api.tournaments.admission_schemas import AdmissionBody, AdmissionView, EntryRequestView, NewEntryRequest, Refusal
from api.tournaments.entry_schemas import EntryView
from api.tournaments.presentation import visible_entry
from api.views import Resource, current_session
from referee.accounts.act_kinds import ActKind
from referee.accounts.scopes import Scope
from referee.bots import bots
from referee.bots.tables import Bot
from referee.errors import Forbidden
from referee.tournaments import admission, tournaments
from referee.tournaments.tables import EntryRequest

resource = Resource("admission", access.TOURNAMENT, "Who may enter a tournament.")

REQUEST: Final = '/requests/<id("bot"):bot_id>'


@resource.get("/admission", account, AdmissionView, secret=True, scope=Scope.ORGANISE)
def show_admission(tournament_id: str) -> Any:
    """Get the join code and the guests of a tournament

    Only its organisers and the operator may do this.
    """
    return admission.load_admission(current_session(), access.get_managed_tournament(tournament_id))


@resource.put("/admission", account, AdmissionView, body=AdmissionBody, secret=True, scope=Scope.ORGANISE)
def set_admission(body: dict[str, Any], tournament_id: str) -> Any:
    """Set the join code and the guests of a tournament

    An account may enter bots if it is a guest or sends the code. With neither a code nor guests, every account may.
    Bots that are entered stay.
    """
    tournament = access.get_managed_tournament(tournament_id)
    found = admission.set_admission(current_session(), tournament.id, **body)
    guests = [guest.id for guest in found.guests]
    access.record_act(ActKind.ADMISSION_SET, tournament, has_code=found.join_code is not None, guests=guests)
    return found


@resource.post(
    "/requests", account, EntryRequestView, body=NewEntryRequest, status=201, scope=Scope.PLAY, **access.WITH_CODE
)
def request_entry(wish: dict[str, Any], tournament_id: str) -> Any:
    """Ask the organiser to enter your bot

    For tournaments with `approval`. Asking again changes nothing. The answer comes as the notification
    `tournament.entry_decided`.
    """
    tournament = access.get_visible_tournament(tournament_id)
    bot = access.get_entrant_bot(wish["bot"], tournament)
    admission.check_may_enter(current_session(), tournament, current_account(), wish.get("code"))
    request = admission.request_entry(current_session(), tournament_id, bot.id)
    return _visible_request(request, bot), {"Location": f"/api/v1/tournaments/{tournament_id}/requests"}


@resource.get("/requests", account, list_of(EntryRequestView))
def list_requests(tournament_id: str) -> Any:
    """List requests to enter a tournament, the oldest first

    Organisers of the tournament see all, others see those for their own bots.
    """
    tournament = access.get_visible_tournament(tournament_id)
    caller = current_account()
    owner_id = None if tournaments.is_manager(caller, tournament) else caller.id
    found = admission.list_requests(current_session(), tournament.id, owner_id=owner_id)
    return single_page([_visible_request(request, bot) for request, bot in found])


@resource.post(f"{REQUEST}/approve", account, EntryView, wakes_runner=True, scope=Scope.ORGANISE)
def approve(tournament_id: str, bot_id: str) -> Any:
    """Enter a bot whose owner asked for it

    Its owner is notified. Only organisers of the tournament and the operator may do this. Without an open request, the
    response is a 404; if the bot cannot be entered now, for example because the tournament is full, it is a 409.
    """
    tournament = access.get_managed_tournament(tournament_id)
    entry = admission.approve(current_session(), tournament.id, bot_id)
    access.record_act(ActKind.REQUEST_APPROVED, tournament, bot_id)
    return visible_entry(entry, bots.get_bot(current_session(), bot_id))


@resource.post(f"{REQUEST}/refuse", account, EntryRequestView, body=Refusal, scope=Scope.ORGANISE)
def refuse(wish: dict[str, Any], tournament_id: str, bot_id: str) -> Any:
    """Refuse a bot whose owner asked to enter it

    Its owner cannot ask again; you can still invite them to enter it (`POST …/invitations`).
    """
    tournament = access.get_managed_tournament(tournament_id)
    request = admission.refuse(current_session(), tournament.id, bot_id, wish["reason"])
    access.record_act(ActKind.REQUEST_REFUSED, tournament, bot_id, reason=wish["reason"])
    return _visible_request(request, bots.get_bot(current_session(), bot_id))


@resource.delete(REQUEST, account, scope=Scope.PLAY)
def withdraw_request(tournament_id: str, bot_id: str) -> None:
    """Withdraw your request to enter a bot

    Without an open request for this bot, the response is a 404. A refused request cannot be withdrawn.
    """
    if bots.get_bot(current_session(), bot_id).owner_id != current_account().id:
        raise Forbidden("This bot belongs to another account.")
    admission.withdraw_request(current_session(), tournament_id, bot_id)


def _visible_request(request: EntryRequest, bot: Bot) -> Extended:
    return Extended(request, bot=bot)
