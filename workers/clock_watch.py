"""Watch whether the clock of this host is wrong, so that bots that refuse our signatures for it are not blamed.

Bots refuse signatures, and TLS refuses certificates, whose time is too far from the clock. Usually that is repaired
without a verdict: a bot with a ``Date`` header gets its call signed again with its own time (``bot_clock``). For all
others, our clock is wrong only if a witness says so that no bot can influence:

- the clock of the database server, on PostgreSQL; or
- the time since boot, which never jumps: the wall clock has moved against it since the worker started.

What bots send is no evidence. Many accounts of one person could agree on a false ``Date``, and could refuse, or accept,
signatures together; many honest bots accept every signature, so that their acceptance does not acquit our clock either.
Only the bot that refuses counts: if it accepted a call signed with the clock as it is now, the clock is not its reason.

A difference counts for ``MAX_WRONG_S`` since it was noticed. Afterwards the clock is taken as it is, since a jump may
also have been its correction. So even after a real jump nobody gains more than one wait of that length, and only in
matches of their own bots. A clock that was wrong when the worker started has no witness on SQLite: a bot without a
``Date`` that checks the time is then charged.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from referee.db.clock import SystemClock
from referee.db.engine import Database

log = logging.getLogger(__name__)

TOLERATED_S: Final = 30.0
MAX_WRONG_S: Final = 600.0


@dataclass(slots=True)
class _Witness:
    """Compare the clock with one witness. ``usual_s`` is the difference at which the clock is taken to be right."""

    usual_s: float
    may_move: bool  # whether a difference that lasts becomes the usual one
    wrong_since: float | None = None  # on the clock since boot

    def judge(self, difference_s: float, boot_s: float) -> float:
        """Return by how many seconds the clock is ahead: 0 if it is right or has been wrong for too long."""
        ahead_s = difference_s - self.usual_s
        if abs(ahead_s) <= TOLERATED_S:
            self.wrong_since = None
            return 0.0
        if self.wrong_since is None:
            self.wrong_since = boot_s
            log.warning("host_clock_wrong", extra={"ahead_s": round(ahead_s, 1)})
        if boot_s - self.wrong_since < MAX_WRONG_S:
            return ahead_s
        if self.may_move:
            self.usual_s, self.wrong_since = difference_s, None
            log.warning("host_clock_taken_as_right", extra={"moved_s": round(ahead_s, 1)})
        return 0.0


class Reading(NamedTuple):
    """Hold the state of the clock at one moment."""

    offset_s: float  # wall-clock time minus time since boot, which is constant unless the clock is set
    ahead_s: float  # see ``ClockWatch.ahead_s``


class ClockWatch:
    """Compare the wall clock with its witnesses.

    A worker creates one at its start; its work-horses inherit it, and so know what happened before they were forked.
    """

    def __init__(
        self,
        wall_s: Callable[[], float] = time.time,
        boot_s: Callable[[], float] = lambda: SystemClock().boot()[1],
        server_ahead_s: Callable[[], float | None] = lambda: None,
    ) -> None:
        self.wall_s = wall_s
        self._boot_s = boot_s
        self._server_ahead_s = server_ahead_s
        self._since_boot = _Witness(wall_s() - boot_s(), may_move=True)
        self._server = _Witness(0.0, may_move=False)
        self._accepted: dict[str, float] = {}  # by bot: the offset of the clock with which it last accepted a call
        self._bot_clocks: dict[str, float] = {}  # by owner: how far the clock of their bot is ahead of ours

    @classmethod
    def for_database(cls, database: Database) -> Self:
        """Return a watch of the system's clock, with the server of the database as a witness if it has a clock."""
        return cls(server_ahead_s=lambda: database.server_clock.host_ahead_s)

    def ahead_s(self) -> float:
        """Return by how many seconds the clock is ahead of a witness, or 0 if none contradicts it.

        Call this regularly: a jump counts from the moment when it is noticed.
        """
        return self.read().ahead_s

    def read(self) -> Reading:
        """Return the state of the clock. Read it before a call, which may last until the clock is right again."""
        boot_s = self._boot_s()
        offset_s = self.wall_s() - boot_s
        jumped_s = self._since_boot.judge(offset_s, boot_s)
        server_s = self._server_ahead_s()
        return Reading(offset_s, (0.0 if server_s is None else self._server.judge(server_s, boot_s)) or jumped_s)

    def record_accepted(self, bot_id: str, reading: Reading) -> None:
        """Record that a bot accepted a call signed when the clock was in this state."""
        self._accepted[bot_id] = reading.offset_s

    def record_bot_clock(self, owner_id: str, ahead_s: float) -> None:
        """Record that a bot of this owner refused our time, and that its own clock is ahead by this much.

        Warn the operator when the bots of two owners agree. Nothing else depends on it.
        """
        if abs(self._bot_clocks.get(owner_id, 0.0) - ahead_s) <= TOLERATED_S:
            return
        self._bot_clocks[owner_id] = ahead_s
        agreeing = [other_s for other_s in self._bot_clocks.values() if abs(other_s - ahead_s) <= TOLERATED_S]
        report = log.warning if len(agreeing) > 1 else log.info
        report("bot_clocks_differ", extra={"owners": len(agreeing), "ahead_s": round(ahead_s, 1)})

    def may_be_refused_by(self, bot_id: str, before: Reading) -> bool:
        """Return whether our clock was wrong before the call or is wrong now, and the bot has not accepted it so."""
        accepted_s = self._accepted.get(bot_id, float("inf"))
        return any(
            reading.ahead_s != 0.0 and abs(reading.offset_s - accepted_s) > TOLERATED_S
            for reading in (before, self.read())
        )
