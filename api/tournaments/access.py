"""Check what the caller may do with a tournament and with the bots that enter it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy.orm import Session

from api import limits
from api.auth import current_account, may_organise, require_scope, viewer
from api.errors import invalid, not_found
from api.views import current_session
from referee.accounts import acts
from referee.accounts.act_kinds import ActKind
from referee.accounts.scopes import Scope
from referee.bots import bots
from referee.bots.tables import Bot
from referee.errors import Conflict, Forbidden, NotFound
from referee.tournaments import admission, tournaments
from referee.tournaments.tables import Tournament

TOURNAMENT: Final = '/api/v1/tournaments/<id("trn"):tournament_id>'
# The options of endpoints that accept a join code, which callers could guess.
WITH_CODE: Final[dict[str, Any]] = {"limit": limits.count_join_code, "limit_when": lambda body: "code" in body}


def get_managed_tournament(tournament_id: str) -> Tournament:
    """Return the tournament. Raise ``Forbidden`` unless the caller runs it."""
    return tournaments.get_tournament(current_session(), tournament_id, manager=current_account())


def get_visible_tournament(tournament_id: str, session: Session | None = None) -> Tournament:
    """Return the tournament. Raise ``NotFound`` if there is none, or if it is a draft that the caller does not run."""
    return tournaments.get_visible_tournament(session or current_session(), tournament_id, viewer())


def check_admission(tournament: Tournament, code: str | None) -> None:
    """Raise ``Forbidden`` or ``Conflict`` unless the caller may enter bots without an approval."""
    admission.check_may_enter(current_session(), tournament, current_account(), code)
    if tournament.approval and not tournaments.is_manager(current_account(), tournament):
        raise Conflict("The organiser approves the entries of this tournament. Ask with POST …/requests.")


def get_entrant_bot(bot_id: str, tournament: Tournament) -> Bot:
    """Return the bot to enter or withdraw. Raise ``Forbidden`` unless the caller owns it or runs the tournament."""
    try:
        bot = bots.get_bot(current_session(), bot_id)
    except NotFound:
        raise invalid([("bot", "No bot has this id.")]) from None
    if bot.owner_id != current_account().id and not tournaments.is_manager(current_account(), tournament):
        raise Forbidden("This bot belongs to another account, and you do not run the tournament.")
    if bot.owner_id != current_account().id:
        require_scope(Scope.ORGANISE)
    return bot


def check_may_enter_bot(bot: Bot) -> None:
    """Raise ``Forbidden`` unless the bot is the caller's, or the caller is an organiser.

    An account without the role of an organiser cannot make the bots of others play.
    """
    if bot.owner_id != current_account().id and not may_organise():
        raise Forbidden(
            "Without the role of an organiser you can enter your own bots only. Send their owners the address."
        )


@contextmanager
def name_unknown_entry() -> Iterator[None]:
    """Raise a 422 that names ``bot`` if the bot of the request is not entered in the tournament."""
    try:
        yield
    except NotFound as error:
        if error.kind != "entry":
            raise
        raise invalid([("bot", "This bot is not entered in this tournament.")]) from None


def record_act(kind: ActKind, tournament: Tournament, object_id: str | None = None, **more: Any) -> None:
    """Record an act of the caller that concerns the tournament or, with ``object_id``, an object in it."""
    acts.record_act(
        current_session(), current_account(), kind, object_id or tournament.id, tournament_id=tournament.id, **more
    )


def get_started_tournament(tournament_id: str) -> Tournament:
    """Return the tournament. Raise a 404 if it has not started, since these pages do not exist before the start."""
    tournament = get_visible_tournament(tournament_id)
    if tournament.started_at is None:
        raise not_found()
    return tournament
