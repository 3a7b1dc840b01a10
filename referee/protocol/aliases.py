"""Derive ids that replace the ids of bots in anonymous matches. Each is valid in one match only."""

import base64
import hmac
from collections.abc import Sequence

PREFIX = "p_"
DIGITS = 16  # of base32: 80 bits


def aliases(master_key: bytes, match_id: str, bot_ids: Sequence[str]) -> list[str]:
    """Return the ids that replace those of these bots in this match, in the same order. Each call returns the same ids.

    Without the master key, nobody can find out which bot an id belongs to.
    """
    key = hmac.digest(master_key, b"referee/aliases", "sha256")
    return [_alias(key, f"{match_id}|{bot_id}") for bot_id in bot_ids]


def _alias(key: bytes, name: str) -> str:
    return PREFIX + base64.b32encode(hmac.digest(key, name.encode(), "sha256")).decode().lower()[:DIGITS]
