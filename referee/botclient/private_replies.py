"""Keep what an address on a private network replies before it has proved that it is a bot.

Otherwise an owner could register addresses of other devices, and read from reports what runs there.
"""

from typing import Final

from referee.botclient.address_guard import Policy, parse_url
from referee.botclient.reply import Reply
from referee.errors import UrlRefused

NOT_PROVEN: Final = "not_proven"
_CONNECTED: Final = (
    "this address accepts connections, but did not prove that it is your bot; for addresses on the private network, "
    "nothing more is said before the proof"
)
_NOT_CONNECTED: Final = "no connection to this address and port"


def is_private_url(url: str, policy: Policy) -> bool:
    """Return whether the URL of a bot names an address in the private ranges of the policy."""
    try:
        return parse_url(url, policy).is_private(policy)
    except UrlRefused:
        return False  # not called at all


def hide_private_failure(reply: Reply) -> Reply:
    """Return what the owner of a bot may know of a failed challenge: that a connection was accepted, or that none was.

    A refusal of the address guard stays, since nothing was sent.
    """
    if reply.fault == "egress_denied":
        return Reply(reply.fault, reply.detail)
    if reply.dialled:
        return Reply(NOT_PROVEN, _CONNECTED, dialled=True)
    return Reply("unreachable", _NOT_CONNECTED)
