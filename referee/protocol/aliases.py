"""What players are called towards bots: ids that hold for one event, so that a rival can be known again in it and
nowhere else, and that tell nothing about who it is."""

import base64
import hmac
from collections.abc import Sequence

PREFIX = "p_"
DIGITS = 16  # of base32: 80 bits


def aliases(master_key: bytes, scope: str, bot_ids: Sequence[str]) -> list[str]:
    """The ids of these bots in ``scope``: the id of an event or, for a match outside of any, of the match.

    A function of its arguments alone; without the master key nobody can tell which bot bears which.
    """
    key = hmac.digest(master_key, b"referee/aliases", "sha256")
    return [_alias(key, f"{scope}|{bot_id}") for bot_id in bot_ids]


def _alias(key: bytes, name: str) -> str:
    return PREFIX + base64.b32encode(hmac.digest(key, name.encode(), "sha256")).decode().lower()[:DIGITS]
