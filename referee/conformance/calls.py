"""Make the calls of a check with the ordinary client, measure them, and render them as ``curl`` commands."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from referee.botclient import curl
from referee.botclient.address_guard import Policy
from referee.botclient.client import BotCaller, CallLimits, CallTarget
from referee.botclient.reply import Reply
from referee.conformance.report import PARTS, percentiles
from referee.match.canonical import Json
from referee.protocol.signing import Signer

UNREACHABLE_FAULTS = frozenset({"dns_failed", "unreachable", "tls_failed", "egress_denied"})
REFUSAL_STATUSES = (401, 403)  # to calls that are not signed correctly
MAX_UNREACHABLE_CALLS = 3  # in a row, after which the check ends


@dataclass(frozen=True, slots=True)
class Call:
    """Describe a request to a bot. It is signed with ``secrets``, if there are any, as of ``age_s`` seconds ago."""

    method: str
    path: str
    id: str
    body: bytes = b""
    secrets: tuple[str, ...] = ()
    age_s: int = 0

    def curl(self, url: str, now: float) -> str:
        """Return a command for a POSIX shell that sends this request byte for byte, signed at ``now`` (Unix time). Like
        the signature, the command expires after five minutes."""
        timestamp = int(now) - self.age_s
        signature = Signer(self.secrets).signature(self.id, timestamp, self.body)
        fields = [f"webhook-id: {self.id}", f"webhook-timestamp: {timestamp}"]
        fields += [f"webhook-signature: {signature}"] if signature else []
        return curl.curl_command(self.method, url + self.path, fields, self.body)


class BotUnreachable(Exception):
    """Report that the bot can no longer be reached, which ends the check."""

    def __init__(self, call: Call, reply: Reply) -> None:
        super().__init__(f"{reply.fault}: {reply.detail}")
        self.call = call
        self.reply = reply


class SecretRequired(Exception):
    """Report that the bot refuses unsigned calls and that no secret is known."""

    def __init__(self, call: Call, status: int) -> None:
        super().__init__(f"{call.method} {call.path} was answered with {status}")
        self.call = call


class CallChannel:
    """Make all calls to one bot. Keep its connections and latencies, and count the calls that did not reach it.

    With ``signs_later``, ``curl`` commands sign when they are run, with the secret in the environment, and never
    expire.
    """

    def __init__(
        self,
        target: CallTarget,
        policy: Policy,
        limits: CallLimits,
        *,
        now: Callable[[], float] = time.time,
        signs_later: bool = False,
    ) -> None:
        self.target = target
        self.now = now
        self.calls = 0
        self.closed = 0  # calls after which the bot ended the connection
        self._signs_later = signs_later
        self._policy = policy
        self._limits = limits
        self._replies: list[Reply] = []
        self._gone = 0
        self._open: list[BotCaller] = []
        self.main = self.caller()

    def caller(self, call: Call | None = None) -> BotCaller:
        """Return a caller with its own connection. With a ``call``, sign with the secrets and the age of that call."""
        target, now, age_s = self.target, self.now, 0
        if call is not None:
            target = replace(target, secrets=call.secrets)
            age_s = call.age_s
            now = lambda: self.now() - age_s  # noqa: E731  # a named function would be longer
        caller = BotCaller(target, self._policy, self._limits, now=now, follow_bot_clock=not age_s)
        self._open.append(caller)
        return caller

    def allow(self, max_concurrent_requests: int) -> None:
        """Close all connections, and from now on limit concurrent calls to this number, which the manifest declares."""
        self.close()
        self._open.clear()
        del self.main  # drops the last reference to the semaphore with the old number
        self.target = replace(self.target, max_concurrent_requests=max_concurrent_requests)
        self.main = self.caller()

    async def send(self, call: Call, deadline_ms: int, caller: BotCaller | None = None) -> Reply:
        """Make the call and return the reply. The default caller is the main connection.

        Raise ``BotUnreachable`` after ``MAX_UNREACHABLE_CALLS`` calls in a row that did not reach the bot,
        ``SecretRequired`` if the bot refuses unsigned calls, and ``Unavailable`` if this host cannot make calls.
        """
        caller = caller or self.main
        reply = await caller.send(call.method, call.path, call.body, call.id, deadline_ms)
        reply.require_made()
        self.calls += 1
        if reply.fault in UNREACHABLE_FAULTS:
            self._gone += 1
        elif reply.status:  # a call without a status proves nothing, for example after a timeout
            self._gone = 0
        if self._gone >= MAX_UNREACHABLE_CALLS:
            raise BotUnreachable(call, reply)
        if reply.status in REFUSAL_STATUSES and call.path in ("/decide", "/notify") and not self.target.secrets:
            raise SecretRequired(call, reply.status)
        if reply.ok:
            self._replies.append(reply._replace(body=b""))
            self.closed += not caller.is_connected
        return reply

    def curl(self, call: Call) -> str:
        url = self.target.url.rstrip("/")
        if self._signs_later and call.method == "POST" and call.secrets == self.target.secrets and not call.age_s:
            return curl.signing_curl_command(url + call.path, call.id, call.body)
        return call.curl(url, self.now())

    def latency(self) -> dict[str, Json]:
        """Return percentiles in ms, keyed by part of a call. ``resolve`` and ``connect`` cover only new connections."""
        parts: dict[str, list[float]] = {part: [] for part in PARTS}
        for reply in self._replies:
            timing = reply.timing
            parts["total"].append(float(reply.ms))
            if reply.dialled:
                parts["connect"].append(timing.connect_ms)
                parts["resolve"] += [timing.dns_ms] if timing.dns_ms else []
            parts["wait"].append(timing.wait_ms)
            parts["read"].append(timing.read_ms)
        return {part: percentiles(samples) for part, samples in parts.items()}

    def close(self) -> None:
        for caller in self._open:
            caller.close()
