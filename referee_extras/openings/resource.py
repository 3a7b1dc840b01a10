"""List the openings of deals that ended without a deal."""

from typing import Any

from api.auth import account, anyone, current_account
from api.views import Resource, current_session
from referee.bots import bots
from referee_extras.openings.listing import list_failed_nonces
from referee_extras.openings.presentation import list_openings
from referee_extras.openings.schemas import FailedNonceView, ListedOpeningView, OpeningQuery

resource = Resource("openings", "/api/v1", "Openings of deals that ended without a deal.")


@resource.get("/openings", anyone, items=ListedOpeningView, query=OpeningQuery)
def list_ended(query: Any) -> Any:
    """List openings that ended without a deal

    A bot ends an opening when it does not give the nonce that it promised, or when it finds its nonce missing or
    changed. The matches then get a new deal group. The list is newest first.
    """
    return list_openings(query)


@resource.get('/bots/<id("bot"):bot_id>/openings', account, items=FailedNonceView)
def list_failed(query: Any, bot_id: str) -> Any:
    """List what your bot answered when it ended openings

    The list is newest first, and only for the owner of the bot.
    """
    bot = bots.get_bot(current_session(), bot_id, owner_id=current_account().id)
    return list_failed_nonces(current_session(), bot.id, **query)
