"""Show owners: the accounts that have registered a bot."""

from typing import Any

from api.auth import anyone
from api.bots.schemas import OwnerView
from api.views import Resource, current_session
from referee.bots import owners

resource = Resource("owners", "/api/v1/owners", "Owners of bots, with their public names.")


@resource.get('/<id("acc"):owner_id>', anyone, OwnerView)
def show(owner_id: str) -> Any:
    """Get an owner

    An account that has never registered a bot is not public, and the response is a 404. `GET /bots?owner=…` lists the
    bots.
    """
    return owners.get_owner(current_session(), owner_id)
