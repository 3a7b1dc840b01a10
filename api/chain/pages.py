"""Serve the page that explains signatures and shows the public keys, the head of the chain, and restores."""

from flask import Response

from api.chain.presentation import list_keys, present_signature
from api.pages.page import Pages, page
from api.views import current_session
from referee.accounts import acts
from referee.accounts.act_kinds import ActKind
from referee.accounts.acts import ActFilter
from referee.errors import DamagedChain
from referee.matches.logs import chain

pages = Pages("chain", __name__)


@pages.view("/keys")
def keys() -> Response:
    """Show the public keys, how to check a signature, and the head of the chain."""
    problem = ""
    try:
        head = chain.find_checked_head(current_session())
    except DamagedChain as error:
        head, problem = None, str(error)
    return page(
        "chain/keys.html",
        keys=list_keys(),
        head=None if head is None else present_signature(head),
        problem=problem,
        restores=acts.list_acts(current_session(), ActFilter(kind=ActKind.SERVICE_RESTORED)).items,
    )
