"""States of bots, of their handshakes and checks; why certificates end.

The values are stored, and shown by the API.
"""

from enum import StrEnum
from typing import Final


class BotState(StrEnum):
    UNVERIFIED = "unverified"
    VERIFIED = "verified"
    PAUSED = "paused"
    RETIRED = "retired"
    HOUSE = "house"


SEATED: Final = frozenset({BotState.VERIFIED, BotState.HOUSE})  # get seats in new matches
PROVEN: Final = frozenset({BotState.VERIFIED, BotState.PAUSED})  # bots in other states only receive the challenge


class CheckState(StrEnum):
    """States of a handshake, and of a check with the conformance suite."""

    IDLE = "idle"
    DUE = "due"
    RUNNING = "running"


class CertificateEnd(StrEnum):
    """Why a certificate ended: the outcome of a later check."""

    REPLACED = "replaced"
    FAILED = "failed"
