"""Prove to the service that a request is the doctor's, so that it may say how the request arrived."""

import hmac
import time
from typing import Final

from referee.master_keys import key_ring

HEADER: Final = "Referee-Doctor"
SEEN_HEADER: Final = "Referee-Seen"  # of the response: a JSON object
VALID_S: Final = 300


def make_proof(master_key: bytes, *, now: float | None = None) -> str:
    """Return the value of the header. Who reads it learns nothing about the key, and may use it for five minutes."""
    moment = str(int(time.time() if now is None else now))
    return f"{moment}.{_digest(master_key, moment)}"


def is_proof(master_key: bytes, text: str, *, now: float | None = None) -> bool:
    """Return whether ``text`` was made a moment ago with this key, or with one that is accepted."""
    moment, _, digest = text.partition(".")
    if not (moment.isascii() and moment.isdigit() and len(moment) < 20 and digest.isascii()):
        return False
    is_recent = abs(int(moment) - (time.time() if now is None else now)) <= VALID_S
    return is_recent and any(hmac.compare_digest(digest, _digest(key, moment)) for key in key_ring(master_key))


def _digest(master_key: bytes, moment: str) -> str:
    return hmac.digest(master_key, f"api|doctor|{moment}".encode(), "sha256").hex()
