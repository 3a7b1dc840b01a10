"""Hold what came of a call to a bot: the answer or the fault, and where the time went."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from referee.errors import CallNotMade, Unavailable
from referee.protocol import messages

Content = TypeVar("Content")


class Timing(NamedTuple):
    """Hold the latency of a call in milliseconds: resolving the name, connecting (with TLS), waiting, and reading."""

    dns_ms: float = 0.0
    connect_ms: float = 0.0
    wait_ms: float = 0.0
    read_ms: float = 0.0


class Reply(NamedTuple):
    """Hold the result of a call. ``fault`` is "", one of ``match.FAULTS``, or ``uplink_down`` if this host failed."""

    fault: str = ""
    detail: str = ""
    status: int = 0
    body: bytes = b""  # as received, possibly truncated; for the owner's fault report
    ms: int = 0  # charged to the seat's clock
    timing: Timing = Timing()
    attempts: int = 1
    sent: bool = False  # the bot may have read the request
    dialled: bool = False  # a connection was opened for this call
    unresolved: bool = False  # the call ended while its host name was looked up
    error: type[Unavailable] = CallNotMade  # what ``require_made`` raises
    untimely: bool = False  # according to our clock, the bot's certificate is not valid now
    took_s: float = 0.0  # like ``ms``, but not rounded
    connected: bool = False  # the last attempt had a connection

    @property
    def ok(self) -> bool:
        return not self.fault

    def require_made(self) -> None:
        """Raise ``CallNotMade``, or ``NoRoom`` without a place at the address, if this host could not make the call."""
        if self.fault == "uplink_down":
            raise self.error(f"{self.fault}: {self.detail}")

    def with_fault(self, fault: str, detail: str) -> "Reply":
        return self._replace(fault=fault, detail=detail)

    def latency(self) -> dict[str, float]:
        """Return the time of the call and its parts in milliseconds."""
        return {"total_ms": self.ms, **self.timing._asdict()}

    def read(self, reader: Callable[[bytes], Content]) -> tuple[Content | None, "Reply"]:
        """Return the content that ``reader`` finds in the body, and this reply. If the reply has a fault or ``reader``
        refuses the body, return None and the reply with the fault."""
        try:
            return (reader(self.body) if self.ok else None), self
        except messages.BadBody as bad:
            return None, self.with_fault(bad.fault, bad.detail)
