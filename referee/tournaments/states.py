"""Define the states of tournaments, of their rounds and of the preflight of an entry.

The values are stored in the database or returned by the API.
"""

from enum import StrEnum
from typing import Final


class TournamentState(StrEnum):
    DRAFT = "draft"
    OPEN = "open"  # for entries
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    CANCELLED = "cancelled"


BEFORE_START: Final = frozenset({TournamentState.DRAFT, TournamentState.OPEN})
IN_PROGRESS: Final = frozenset({TournamentState.RUNNING, TournamentState.PAUSED})
UNFINISHED: Final = BEFORE_START | IN_PROGRESS
OVER: Final = frozenset(TournamentState) - UNFINISHED


class RoundState(StrEnum):
    DECIDED = "decided"  # paired, but without matches so far
    PLAYING = "playing"
    OVER = "over"


class Preflight(StrEnum):
    NONE = "none"
    ASKED = "asked"
    READY = "ready"
    ABSENT = "absent"


NOT_READY: Final = frozenset({Preflight.ASKED, Preflight.ABSENT})  # the bot must still pass a handshake


class InvitationKind(StrEnum):
    """List what an invitation concerning a tournament asks for. Extras add what accounts run together."""

    TOURNAMENT = "tournament"  # to run it together with its organisers
    ENTRY = "entry"  # to let a bot play in a tournament


class InvitationState(StrEnum):
    PENDING = "pending"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    LAPSED = "lapsed"  # was pending or declined when the tournament started or, for organisers and late entries, ended


DECIDABLE: Final = (InvitationState.PENDING, InvitationState.DECLINED)  # who declined may still accept
