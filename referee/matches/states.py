"""States of matches and deal groups, and how matches share cards, with the groups of states that queries ask for.

The values are stored, and shown by the API.
"""

from enum import StrEnum
from typing import Final


class MatchState(StrEnum):
    WAITING = "waiting"  # for its paused tournament to be resumed
    DUE = "due"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    STUCK = "stuck"  # it lost too many runners
    VOID = "void"


QUEUED: Final = frozenset({MatchState.WAITING, MatchState.DUE})
PLAYABLE: Final = QUEUED | {MatchState.RUNNING}
OPEN: Final = PLAYABLE | {MatchState.STUCK}  # a stuck match is open until it is retried, cancelled or voided
ENDED: Final = frozenset(MatchState) - OPEN
PLAYED: Final = frozenset({MatchState.FINISHED, MatchState.VOID})  # ended by its last move, whatever became of it
WITHOUT_RESULT: Final = ENDED - {MatchState.FINISHED}  # no result of theirs counts


class DealGroupState(StrEnum):
    NEW = "new"  # its bots are being asked for their nonces
    PLAYING = "playing"
    REVEALED = "revealed"


class DealSharing(StrEnum):
    """Which matches of a tournament share their cards."""

    OWN = "own"  # none
    COMMON = "common"  # the tables of a round
    DUPLICATE = "duplicate"  # the matches of the same bots in different seats
