"""Define the states of bots, of their handshakes and checks, and the reasons why certificates end.

The values are stored in the database and shown by the API.
"""

from enum import StrEnum
from typing import Final


class BotState(StrEnum):
    UNVERIFIED = "unverified"
    VERIFIED = "verified"
    PAUSED = "paused"
    RETIRED = "retired"
    HOUSE = "house"


SEATED: Final = frozenset({BotState.VERIFIED, BotState.HOUSE})  # bots that get seats in new matches
PROVEN: Final = frozenset({BotState.VERIFIED, BotState.PAUSED})  # bots in other states only receive the challenge


class CheckState(StrEnum):
    """List the states of a handshake or of a check with the conformance suite."""

    IDLE = "idle"
    DUE = "due"
    RUNNING = "running"


class CertificateEnd(StrEnum):
    """List the outcomes of a later check that end a certificate."""

    REPLACED = "replaced"
    FAILED = "failed"
