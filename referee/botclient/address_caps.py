"""Limit what one process does at one address, whatever the names and accounts that lead there.

An address is an IPv4 address or an IPv6 /64, since a host usually has all addresses of its /64.
``connection`` takes a place for each connection, and ``client`` keeps the wait for it off the bot's clock.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final

from referee.errors import NoRoom

CONNECTIONS: Final = 256  # of matches and checks to one address
HANDSHAKES: Final = 4  # at a time, to an address that has not proved that it wants them
HANDSHAKES_PER_S: Final = 20
DELIVERIES: Final = 4  # of webhooks, at a time
CONNECTION_WAIT_S: Final = 60.0  # for a place; a call in progress ends in such a time
HANDSHAKE_WAIT_S: Final = 1.0  # a handshake and a delivery can be put off
DELIVERY_WAIT_S: Final = 5.0
_PERIOD_S: Final = 1.0  # over which the rate is counted
_SWEPT_ABOVE: Final = 1_000  # addresses kept, above which those without connections are forgotten

Target = IPv4Network | IPv6Network


def to_target(address: IPv4Address | IPv6Address) -> Target:
    """Return the network that is counted as one address."""
    return ip_network((address, 32 if isinstance(address, IPv4Address) else 64), strict=False)


@dataclass(eq=False, slots=True)
class Place:
    """Represent one connection to an address. While it is idle, it may be closed for another that is wanted there."""

    owner_id: str
    _at: "_AddressState"
    _freed: Callable[["_AddressState"], None]
    _is_released: bool = False
    is_closing: bool = False  # its connection gives way to another

    def set_idle(self, close: Callable[[], None]) -> None:
        """Note that no exchange is in progress. ``close`` closes the connection, which must then release the place."""
        if self._is_released or self.is_closing:
            return
        self._at.idle[self] = close
        self._freed(self._at)

    def set_busy(self) -> None:
        """Note that an exchange begins."""
        self._at.idle.pop(self, None)

    def release(self) -> None:
        """Return the place. Further calls have no effect."""
        if self._is_released:
            return
        self._is_released = True
        self._at.idle.pop(self, None)
        self._at.closing -= self.is_closing
        self._at.by_owner[self.owner_id] -= 1
        if not self._at.by_owner[self.owner_id]:
            del self._at.by_owner[self.owner_id]
        self._freed(self._at)


@dataclass(eq=False, slots=True)
class _Waiter:
    owner_id: str
    place: asyncio.Future[Place]


@dataclass(eq=False, slots=True)
class _AddressState:
    by_owner: Counter[str] = field(default_factory=Counter)  # places in use
    idle: dict[Place, Callable[[], None]] = field(default_factory=dict)  # the longest idle first
    closing: int = 0  # places whose connections give way to others
    started: deque[float] = field(default_factory=deque)  # times of the latest starts, if there is a rate
    waiting: list[_Waiter] = field(default_factory=list)
    timer: asyncio.TimerHandle | None = None  # fires when the rate allows another start


class AddressCaps:
    """Allow ``most`` connections to one address at a time and, with ``per_s``, as many new ones in any second.

    A caller without a place waits for up to ``wait_s``; the longest idle connection is then closed. Next is the owner
    with the fewest places there, so that the connections of one owner do not keep those of another waiting.
    """

    def __init__(
        self,
        most: int = CONNECTIONS,
        *,
        per_s: int | None = None,
        wait_s: float = CONNECTION_WAIT_S,
        seconds: Callable[[], float] | None = None,
    ) -> None:
        self._most = most
        self._per_s = per_s
        self._wait_s = wait_s
        self._seconds = seconds or (lambda: asyncio.get_running_loop().time())
        self._states: dict[Target, _AddressState] = {}

    @classmethod
    def for_handshakes(cls) -> "AddressCaps":
        return cls(HANDSHAKES, per_s=HANDSHAKES_PER_S, wait_s=HANDSHAKE_WAIT_S)

    @classmethod
    def for_deliveries(cls) -> "AddressCaps":
        return cls(DELIVERIES, wait_s=DELIVERY_WAIT_S)

    async def take(self, address: IPv4Address | IPv6Address, owner_id: str) -> Place:
        """Take a place for a connection to the address, as soon as there is one. Raise ``NoRoom`` after ``wait_s``."""
        state = self._state(to_target(address))
        waiter = _Waiter(owner_id, asyncio.get_running_loop().create_future())
        state.waiting.append(waiter)
        self._admit(state)
        try:
            async with asyncio.timeout(self._wait_s):
                return await asyncio.shield(waiter.place)
        except TimeoutError:
            if waiter.place.done():
                return waiter.place.result()
            raise NoRoom(f"too many connections to {address} are in use") from None
        except asyncio.CancelledError:
            if waiter.place.done():
                waiter.place.result().release()
            raise
        finally:
            with suppress(ValueError):
                state.waiting.remove(waiter)

    def count(self, address: IPv4Address | IPv6Address) -> int:
        """Return the number of places in use at this address."""
        state = self._states.get(to_target(address))
        return state.by_owner.total() if state else 0

    def _state(self, target: Target) -> _AddressState:
        if target not in self._states:
            if len(self._states) > _SWEPT_ABOVE:
                self._sweep()
            self._states[target] = _AddressState()
        return self._states[target]

    def _sweep(self) -> None:
        """Forget the addresses to which there are no connections and were none lately."""
        oldest = self._seconds() - _PERIOD_S
        self._states = {
            target: state
            for target, state in self._states.items()
            if state.by_owner or state.waiting or (state.started and state.started[-1] > oldest)
        }

    def _admit(self, state: _AddressState) -> None:
        """Give places to those who wait, as long as there are any."""
        while state.waiting and self._may_start(state) and self._has_room(state):
            waiter = min(state.waiting, key=lambda waiter: state.by_owner[waiter.owner_id])
            state.waiting.remove(waiter)
            state.by_owner[waiter.owner_id] += 1
            if self._per_s is not None:
                state.started.append(self._seconds())
            waiter.place.set_result(Place(waiter.owner_id, state, self._admit))

    def _has_room(self, state: _AddressState) -> bool:
        """Return whether a place is free. If none is, close connections for those who wait, the longest idle first."""
        if state.by_owner.total() < self._most:
            return True
        while state.idle and state.closing < len(state.waiting):
            place = next(iter(state.idle))
            close = state.idle.pop(place)
            place.is_closing = True
            state.closing += 1
            close()  # the place is released when the connection has ended
        return False

    def _may_start(self, state: _AddressState) -> bool:
        """Return whether the rate allows another start. If it does not, try again when it does."""
        if self._per_s is None:
            return True
        while state.started and state.started[0] <= self._seconds() - _PERIOD_S:
            state.started.popleft()
        if len(state.started) < self._per_s:
            return True
        if state.timer is None:
            wait_s = state.started[0] + _PERIOD_S - self._seconds()
            state.timer = asyncio.get_running_loop().call_later(wait_s, self._on_timer, state)
        return False

    def _on_timer(self, state: _AddressState) -> None:
        state.timer = None
        self._admit(state)
