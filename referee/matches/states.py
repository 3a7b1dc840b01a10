"""Define the states of matches and deal groups, the ways to share cards, and the sets of states that queries use.

The values are stored in the database and shown by the API.
"""

from enum import StrEnum
from typing import Final


class MatchState(StrEnum):
    WAITING = "waiting"  # until its paused tournament is resumed
    DUE = "due"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    STUCK = "stuck"  # too many of its runners were lost
    VOID = "void"


QUEUED: Final = frozenset({MatchState.WAITING, MatchState.DUE})
PLAYABLE: Final = QUEUED | {MatchState.RUNNING}
OPEN: Final = PLAYABLE | {MatchState.STUCK}  # a stuck match is open until it is retried, cancelled or voided
ENDED: Final = frozenset(MatchState) - OPEN
PLAYED: Final = frozenset({MatchState.FINISHED, MatchState.VOID})  # played to the end, even if voided later
WITHOUT_RESULT: Final = ENDED - {MatchState.FINISHED}  # ended without a result that counts


class VoidState(StrEnum):
    """List the states of the void of a match that had ended."""

    PROPOSED = "proposed"  # has no effect until a second account confirms it
    CONFIRMED = "confirmed"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"  # the match was voided in another way while the void was only proposed


class MatchKind(StrEnum):
    """List the kinds of matches that share slots of runners and requests of bots by rules of their own."""

    ORGANISED = "organised"  # rated or of a tournament
    FRIENDLY = "friendly"


class DealGroupState(StrEnum):
    NEW = "new"  # its bots are being asked for their nonces
    PLAYING = "playing"
    REVEALED = "revealed"


class DealSharing(StrEnum):
    """List the ways in which matches of a tournament share their cards."""

    OWN = "own"  # no matches share cards
    COMMON = "common"  # all matches of a round share cards
    DUPLICATE = "duplicate"  # matches of the same bots in different seats share cards
