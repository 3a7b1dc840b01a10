"""Detect what goes wrong on our own side, so that bots are not blamed for it: the network, the resolver, the clock.

Outages are inferred from failures to connect in the calls of this process. A call on a connection that was open when
the network failed looks like a late answer, and counts as the bot's fault, unless it lasts longer than the kernel waits
for an acknowledgement (``UNACKNOWLEDGED_S``). When a host name is not found, or few owners have bots in play, the
canary, a name that always exists, shows whether the resolver works: bots with open connections answer even if it does
not. A host without a route to the internet cannot reach any bot. ``clock_watch`` judges our clock.
"""

import asyncio
import errno
import socket
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, Literal, Self

from referee.botclient import name_lookup
from referee.botclient.address_guard import Policy
from referee.botclient.bot_clock import REFUSED
from referee.botclient.reply import Reply
from referee.settings import Settings
from workers.clock_watch import ClockWatch, Reading

Verdict = Literal["fault", "unclear", "down"]
Outage = Literal["resolver_outage", "network_outage"]
Canary = Callable[[], Awaitable[bool]]  # returns whether the resolver answers

VERDICT_POLL_S: Final = 0.1  # pause between two attempts to find the cause of a failure to connect
WINDOW_S: Final = 10.0
MIN_OWNERS: Final = 3  # owners whose bots must be unreachable, while no bot at all is reachable
MAX_TOTAL_S: Final = 600.0  # all outages together; afterwards faults count again, so that matches do not wait forever
# Addresses of a root name server, to which a route is looked up; nothing is sent to them.
_ROUTED_ADDRESSES: Final = ((socket.AF_INET, "198.41.0.4"), (socket.AF_INET6, "2001:503:ba3e::2:30"))
_ROUTED_PORT: Final = 53
_NO_ROUTE: Final = frozenset(
    [errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT]
)
PROBE_S: Final = 2.0  # pause between two attempts during an outage


def is_unconnected(reply: Reply) -> bool:
    """Return whether the call failed to connect, even if it lost an old connection before.

    A bot that accepts a connection and then closes it was reached.
    """
    if reply.dialled:
        return False
    late = reply.fault == "deadline" and not reply.connected
    return late or reply.fault in ("unreachable", "dns_failed")


class Connectivity:
    """Record the outcomes of the calls of one process, and infer outages of its network from them."""

    def __init__(
        self,
        seconds: Callable[[], float] = time.monotonic,
        *,
        canary: Canary | None = None,
        has_route: Callable[[], bool] = lambda: True,
        clock: ClockWatch | None = None,
        probe_s: float = PROBE_S,
    ) -> None:
        self.probe_s = probe_s
        self.clock = clock or ClockWatch()
        self._canary = canary
        self._has_route = has_route
        self._seconds = seconds
        self._called: dict[str, float] = {}  # by owner: the last call to one of their bots
        self._failed: dict[str, float] = {}  # by owner: the last failure to connect since any bot was reached
        self._answered_at = float("-inf")
        self._down_since: float | None = None
        self._last_outage = (float("inf"), float("inf"))
        self._troubled_at = float("-inf")  # when ``may_wait`` was last asked
        self.waited_s = 0.0  # total duration of past outages

    @classmethod
    def create(cls, settings: Settings, policy: Policy, clock: ClockWatch) -> Self:
        """Return the watch of the network of this host.

        With bots in private ranges, a route to the internet says nothing about them.
        """
        has_private = bool(policy.allow) or policy.private is not None
        name = settings.dns_canary
        canary = partial(name_lookup.is_resolver_working, name) if name else None
        return cls(canary=canary, has_route=(lambda: True) if has_private else has_route, clock=clock)

    @property
    def is_down(self) -> bool:
        """Return whether an outage is in progress."""
        return self._down_since is not None

    @property
    def is_troubled(self) -> bool:
        """Return whether matches wait for the end of an outage, or did a moment ago."""
        return self.is_down or self._seconds() - self._troubled_at < WINDOW_S

    def record_call(self, owner_id: str) -> None:
        """Record that a bot of this owner is being called."""
        self._called[owner_id] = self._seconds()

    def record_success(self) -> None:
        """Record that a bot was reached. This ends an outage."""
        self._answered_at = self._seconds()
        if self._down_since is not None:
            self._last_outage = self._down_since, self._answered_at
            self.waited_s += self._answered_at - self._down_since
        self._failed.clear()
        self._down_since = None

    def record_failure(self, owner_id: str) -> float:
        """Record that connecting to a bot of this owner failed. Return the time of the failure, for ``verdict``."""
        self._failed[owner_id] = self._seconds()
        return self._failed[owner_id]

    async def is_resolver_down(self) -> bool:
        """Return whether the resolver does not answer for the canary, so that a name that was not found is no fault.

        Without a canary, and once outages have lasted ``MAX_TOTAL_S`` in all, return False: ``verdict`` decides.
        """
        if self._canary is None or await self._canary():
            return False
        return self.may_wait()

    async def is_network_down(self, failed_at: float) -> bool:
        """Return whether a failure to connect at ``failed_at`` is ours, although ``verdict`` blames the bot.

        It is ours if none has been reached since and this host has no route to the internet. Otherwise the canary
        decides, if bots of fewer than ``MIN_OWNERS`` owners were called: bots cannot influence either.
        """
        if self._answered_at > failed_at:
            return False
        if not self._has_route():
            return self.may_wait()
        if len(self._called) >= MIN_OWNERS:
            return False
        return await self.is_resolver_down()

    async def find_outage(
        self, reply: Reply, failed_at: float, pause: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> Outage | None:
        """Return the outage that explains a failure to connect at ``failed_at``, or None if it is the bot's fault.

        Await ``pause`` while calls to bots of other owners are pending.
        """
        if reply.unresolved and await self.is_resolver_down():
            return "resolver_outage"
        while (verdict := self.verdict(failed_at)) == "unclear":
            await pause(VERDICT_POLL_S)
        is_down = verdict == "down" or await self.is_network_down(failed_at)
        return "network_outage" if is_down else None

    def may_wait(self) -> bool:
        """Count an outage that was found without ``verdict``. Return whether matches may still wait for its end."""
        moment = self._seconds()
        since_s = moment - self._troubled_at
        self.waited_s += since_s if since_s < WINDOW_S else 0.0  # a longer gap separates two outages
        self._troubled_at = moment
        return self.waited_s < MAX_TOTAL_S

    def is_our_clock(self, bot_id: str, reply: Reply, before: Reading) -> bool:
        """Return whether our wrong clock explains the fault: a refused signature, or a certificate that is not valid.

        ``before`` was read before the call. ``ClockWatch`` limits the duration.
        """
        if reply.status == REFUSED:
            return self.clock.may_be_refused_by(bot_id, before)
        return reply.untimely and (before.ahead_s or self.clock.ahead_s()) != 0.0

    def verdict(self, failed_at: float) -> Verdict:
        """Return the cause of a failure to connect at ``failed_at``: the bot (``fault``), our network (``down``), or
        ``unclear`` while calls to bots of other owners are pending.

        It is the bot's fault

        - if any bot was reached since then, unless the failure occurred during an outage;
        - if bots of fewer than ``MIN_OWNERS`` owners were called within ``WINDOW_S``, or that time has passed with too
          few failures;
        - if outages have lasted ``MAX_TOTAL_S`` in total: bots that refuse calls together must not delay others.
        """
        moment = self._seconds()
        if self._answered_at > failed_at:
            began, ended = self._last_outage
            return "down" if began <= failed_at <= ended else "fault"
        failed = _drop_older(self._failed, moment - WINDOW_S)
        if len(failed) >= MIN_OWNERS:
            self._down_since = min(failed.values()) if self._down_since is None else self._down_since
            return "down" if self.waited_s + moment - self._down_since < MAX_TOTAL_S else "fault"
        self._called = _drop_older(self._called, moment - WINDOW_S)
        return "fault" if len(self._called) < MIN_OWNERS or moment - failed_at >= WINDOW_S else "unclear"


def has_route() -> bool:
    """Return whether this host has a route to the internet, by IPv4 or IPv6. No packet is sent.

    The kernel chooses the route when a datagram socket is connected. Errors that are not about routes prove nothing.
    """
    return any(_is_routed(family, address) for family, address in _ROUTED_ADDRESSES)


def _is_routed(family: socket.AddressFamily, address: str) -> bool:
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.connect((address, _ROUTED_PORT))
    except OSError as error:
        return error.errno not in _NO_ROUTE
    return True


def _drop_older(times: dict[str, float], earliest: float) -> dict[str, float]:
    return {owner_id: moment for owner_id, moment in times.items() if moment >= earliest}
