"""Call bots. Whatever the bot does, a call returns a ``Reply`` by its deadline, with the latency and any fault.

``messages`` builds the bodies, ``address_guard`` checks addresses, ``framing`` parses HTTP; the match judges answers.
"""

import asyncio
import secrets
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar
from weakref import WeakValueDictionary

import referee
from referee.botclient.address_caps import AddressCaps, Place
from referee.botclient.address_guard import Endpoint, Policy, parse_url, resolve
from referee.botclient.bot_clock import REFUSED, BotClock
from referee.botclient.connection import Connection, ExchangeFailed, dial
from referee.botclient.lag import LagMeter
from referee.botclient.name_lookup import LookUp
from referee.botclient.reply import Reply, Timing
from referee.errors import CallNotMade, NoRoom, Unavailable, UrlRefused
from referee.match.canonical import Json
from referee.match.match import FAULTS, Answer, Request
from referee.private_ranges import Address
from referee.protocol import messages
from referee.protocol.signing import Signer, challenge_proof

Waited = TypeVar("Waited")
BeforeSending = Callable[[], Awaitable[None] | None]  # None if there is nothing to wait for

ATTEMPTS = 2
NOTICE_MS = 5_000  # for a manifest, a challenge or a notice


@dataclass(frozen=True, slots=True)
class CallTarget:
    """Describe a bot to call.

    ``secrets`` are the current secret and, during a rotation, the previous one. Without secrets, calls are unsigned.
    """

    bot_id: str
    url: str
    secrets: tuple[str, ...] = ()
    max_concurrent_requests: int = messages.DEFAULT_MAX_CONCURRENT_REQUESTS
    owner_id: str = ""  # all look-ups of an owner share their turns; without an owner, those of the bot


class CallLimits:
    """Limit how many concurrent calls this process makes to each bot, across all matches. The bot sets the limit.

    With ``addresses``, also limit the connections to each address. A wait for either uses no thinking time.
    """

    def __init__(self, addresses: AddressCaps | None = None) -> None:
        self.lag = LagMeter()
        self.addresses = addresses
        self._slots: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    def slots(self, target: CallTarget) -> asyncio.Semaphore:
        """Return the semaphore that all callers of this bot share."""
        known = self._slots.get(target.bot_id)
        if known is None:
            known = self._slots[target.bot_id] = asyncio.Semaphore(target.max_concurrent_requests)
        return known


class BotCaller:
    """Call one bot over one keep-alive connection. Each seat of a match has its own caller.

    The host is resolved and its addresses are vetted once. If no address accepts, the next attempt resolves it again.
    With ``follow_bot_clock``, a call that the bot refuses with 401 is signed again with the time of the bot's clock.
    """

    def __init__(
        self,
        target: CallTarget,
        policy: Policy,
        limits: CallLimits | None = None,
        *,
        look_up: LookUp | None = None,
        tls: ssl.SSLContext | None = None,
        now: Callable[[], float] = time.time,
        follow_bot_clock: bool = False,
    ) -> None:
        self.target = target
        self.clock = BotClock(now, follow=follow_bot_clock)
        self.cancelled_ms: int | None = None  # time that the last call took until it was cancelled after it was sent
        self._policy = policy
        limits = limits or CallLimits()
        self._slots = limits.slots(target)
        self._lag = limits.lag
        self._caps = limits.addresses
        self._look_up = look_up
        self._tls = tls
        self._signer = Signer(target.secrets)
        self._endpoint: Endpoint | None = None
        self._addresses: list[Address] = []
        self._connection: Connection | None = None
        self._common_headers: dict[tuple[str, str], str] = {}  # by method and path

    async def post(
        self, path: str, body: bytes, id: str, deadline_ms: int, *, before_sending: BeforeSending | None = None
    ) -> Reply:
        """Post ``body`` to ``path`` below the base URL. ``id`` is the ``webhook-id``, which a repeated call reuses.

        ``before_sending`` is called over the open connection before each attempt; what it raises ends the call.
        """
        return await self.send("POST", path, body, id, deadline_ms, before_sending)

    @property
    def is_connected(self) -> bool:
        return self._connection is not None and self._connection.is_open

    def close(self) -> None:
        """Close the connection. A later call opens another."""
        if self._connection is not None:
            self._connection.abort()
            self._connection = None

    async def send(
        self,
        method: str,
        path: str,
        body: bytes,
        id: str,
        deadline_ms: int,
        before_sending: BeforeSending | None = None,
    ) -> Reply:
        """Make a call with any method. ``post`` explains the parameters."""
        self.cancelled_ms = None
        async with self._slots:
            call = _Call(asyncio.get_running_loop(), deadline_ms, self._lag, before_sending)
            try:
                return await self._send_with_retry(call, method, path, body, id)
            except asyncio.CancelledError:
                self.cancelled_ms = call.sent_ms()
                raise
            except UrlRefused as refused:
                fault = refused.code if refused.code in FAULTS else "egress_denied"
                return call.reply(fault, refused.reason)
            except Unavailable as error:
                kind = type(error) if isinstance(error, CallNotMade | NoRoom) else CallNotMade
                return call.reply("uplink_down", f"on our side: {error}")._replace(error=kind)
            finally:
                self._lag.end()

    async def _send_with_retry(self, call: "_Call", method: str, path: str, body: bytes, id: str) -> Reply:
        while True:
            connection = None
            try:
                connection = await self._get_ready_connection(call)
                request = self._head(method, path, body, id, call.attempts) + body
                call.mark_sent()
                response = await connection.exchange(request, call.current_deadline_s)
            except TimeoutError:
                call.record_timing(connection)
                if not call.is_over:  # our own lag used up the timeout: wait for the rest of it
                    continue
                return call.reply("deadline", "no connection in time")
            except ExchangeFailed as failed:
                call.record_timing(connection)
                if failed.is_retryable and call.attempts < ATTEMPTS and not call.is_over:
                    call.attempts += 1
                    continue
                return call.reply(failed.fault, failed.detail)._replace(untimely=failed.is_untimely)
            call.record_timing(connection)
            if response.status == REFUSED:
                is_last = call.attempts >= ATTEMPTS or call.is_over
                if self.clock.adjust(response.date, is_last_attempt=is_last):
                    call.attempts += 1
                    continue
            return call.reply(response.fault, response.detail)

    async def _get_ready_connection(self, call: "_Call") -> Connection:
        """Return an open connection over which the request may be sent now."""
        while True:
            connection = await self._get_connection(call)
            if not await call.wait_before_sending() or connection.is_open:
                return connection

    async def _get_connection(self, call: "_Call") -> Connection:
        """Return the open connection, or open another."""
        if self._connection is not None and self._connection.is_open:
            return self._connection
        endpoint = self._endpoint = self._endpoint or parse_url(self.target.url, self._policy)
        owner_id = self.target.owner_id or self.target.bot_id
        if not self._addresses:
            call.unresolved = True
            self._addresses = await resolve(
                endpoint, self._policy, self._look_up, owner_id=owner_id, until=call.current_deadline_s()
            )
            call.mark_looked_up()
        addresses, self._addresses = self._addresses, []
        take_place = None if self._caps is None else partial(call.take_place, self._caps, owner_id)
        self._connection = await dial(
            endpoint, addresses, self._policy, call.current_deadline_s, self._tls, take_place=take_place
        )
        self._addresses = addresses
        call.mark_connected()
        return self._connection

    def _head(self, method: str, path: str, body: bytes, id: str, attempt: int) -> bytes:
        common = self._common_headers.get((method, path))
        if common is None:
            common = self._common_headers[method, path] = self._create_common_headers(method, path)
        timestamp = int(self.clock.get_time_s())
        signature = self._signer.signature(id, timestamp, body)
        length = f"Content-Length: {len(body)}\r\n" if method == "POST" else ""
        signed = f"webhook-signature: {signature}\r\n" if signature else ""
        return (
            f"{common}{length}webhook-id: {id}\r\nwebhook-timestamp: {timestamp}\r\n{signed}"
            f"Referee-Attempt: {attempt}\r\n\r\n"
        ).encode()

    def _create_common_headers(self, method: str, path: str) -> str:
        """Return the request line and the headers that are the same in every call to this path."""
        assert self._endpoint is not None
        return (
            f"{method} {self._endpoint.path}{path} HTTP/1.1\r\nHost: {self._endpoint.authority}\r\n"
            f"User-Agent: referee/{referee.__version__}\r\nAccept: application/json\r\nAccept-Encoding: identity\r\n"
            + ("Content-Type: application/json\r\n" if method == "POST" else "")
        )


class _Call:
    """Measure one call over all its attempts, not counting our own lag."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        deadline_ms: int,
        lag: LagMeter,
        before_sending: BeforeSending | None = None,
    ) -> None:
        self._time = loop.time
        self._before_sending = before_sending
        self._lag = lag
        self._lag_before = lag.begin(loop)
        self._deadline_ms = deadline_ms
        self._start = self._mark = loop.time()
        self._due = self._start + deadline_ms / 1000
        self.attempts = 1
        self._sent = self._dialled = False
        self.unresolved = False
        self._dns = self._connect = self._wait = self._read = 0.0
        self._connection: Connection | None = None

    def current_deadline_s(self) -> float:
        """Return the deadline in seconds on the loop's clock, extended by our own lag."""
        return self._due + self.lag_s()

    def lag_s(self) -> float:
        return self._lag.reading_s() - self._lag_before

    @property
    def is_over(self) -> bool:
        return self._time() >= self.current_deadline_s()

    async def take_place(self, caps: AddressCaps, owner_id: str, address: Address) -> Place:
        """Wait for a place at the address."""
        return await self._exclude(caps.take(address, owner_id))

    async def wait_before_sending(self) -> bool:
        """Wait for what the caller wants to do before each attempt. Return whether there was anything."""
        if self._before_sending is None or (wait := self._before_sending()) is None:
            return False
        await self._exclude(wait)
        return True

    async def _exclude(self, wait: Awaitable[Waited]) -> Waited:
        """Wait for something of our own. The call is measured as if it had begun later by this wait."""
        began, lag_s = self._time(), self.lag_s()
        try:
            return await wait
        finally:
            waited_s = self._time() - began - (self.lag_s() - lag_s)
            self._start += waited_s
            self._mark += waited_s
            self._due += waited_s

    def sent_ms(self) -> int | None:
        """Return the milliseconds that the call has taken so far, or None if no request was sent."""
        took_ms = round((self._time() - self._start - self.lag_s()) * 1000)
        return min(max(took_ms, 0), self._deadline_ms) if self._sent else None

    def mark_looked_up(self) -> None:
        self._dns += self._lap()
        self.unresolved = False

    def mark_connected(self) -> None:
        self._connect += self._lap()
        self._dialled = True

    def mark_sent(self) -> None:
        self._mark = self._time()
        self._sent = True

    def record_timing(self, connection: Connection | None) -> None:
        """Count the time since the last step as waiting and reading or, if ``connection`` is None, as connecting."""
        self._connection = connection
        if connection is None:
            self._connect += self._lap()
            return
        first, last = connection.first_byte_at, connection.last_byte_at
        sent, self._mark = self._mark, last if connection.response.complete else self._time()
        self._wait += (first or self._mark) - sent
        self._read += self._mark - (first or self._mark)

    def reply(self, fault: str, detail: str) -> Reply:
        took_s = self._mark - self._start - self.lag_s()
        elapsed_ms = round(took_s * 1000)
        if fault == "deadline":
            elapsed_ms = self._deadline_ms
        response = self._connection.response if self._connection else None
        return Reply(
            fault=fault,
            detail=detail,
            status=response.status if response else 0,
            body=response.raw if response else b"",
            ms=min(max(elapsed_ms, 0), self._deadline_ms),
            timing=Timing(
                *(round(1000 * spent_s, 1) for spent_s in (self._dns, self._connect, self._wait, self._read))
            ),
            attempts=self.attempts,
            sent=self._sent,
            dialled=self._dialled,
            unresolved=self.unresolved,
            took_s=max(0.0, took_s),
            connected=self._connection is not None,
        )

    def _lap(self) -> float:
        before, self._mark = self._mark, self._time()
        return self._mark - before


# -- a seat of a match --


class BotSeat:
    """Ask the bot in a seat the questions of a match.

    ``last`` holds the request body and the reply of the last call. ``error`` is the error that the bot reported in its
    last answer. It is not part of an ``Answer``, because logs must not show it to anyone but the owner.
    """

    def __init__(self, caller: BotCaller, header: Json, seat: int, aliases: Sequence[str] = ()) -> None:
        self.caller = caller
        self.questions = messages.Questions(header, seat, aliases)
        self.last: tuple[bytes, Reply] | None = None
        self.error = ""

    async def ask(self, request: Request, *, before_sending: BeforeSending | None = None) -> Answer:
        """Ask a question and return the answer or its fault. Raise ``CallNotMade`` or ``NoRoom`` if it is not made.

        ``before_sending`` is the same as in ``BotCaller.post``.
        """
        id, body = self.questions.encode(request)
        reply = await self.caller.post("/decide", body, id, request.deadline_ms, before_sending=before_sending)
        if reply.ok:
            decision = messages.read_decision(reply.body, id, len(request.legal_actions))
            if decision.fault:
                reply = reply.with_fault(decision.fault, decision.detail)
        else:
            decision = messages.Decision(fault=reply.fault, detail=reply.detail)
        self.last, self.error = (body, reply), decision.error
        reply.require_made()
        return Answer(
            request.seat, decision.action, decision.choice, trouble=decision.fault, ms=reply.ms, note=decision.note
        )

    def close(self) -> None:
        self.caller.close()


# -- calls that use no thinking time --


@dataclass(frozen=True, slots=True)
class HandshakeResult:
    """Hold the reply to a step of the handshake, with its fault if the step failed."""

    reply: Reply
    manifest: messages.Manifest | None = None

    @property
    def fault(self) -> str:
        return self.reply.fault


async def challenge(caller: BotCaller) -> HandshakeResult:
    """Challenge the bot to prove that it knows its secret. This is the first call to a new address."""
    target = caller.target
    nonce = secrets.token_hex(16)
    reply = await notify(caller, messages.challenge_body(target.bot_id, nonce), f"chl_{nonce}")
    return HandshakeResult(check_proof(reply, nonce, target.secrets))


def check_proof(reply: Reply, nonce: str, bot_secrets: Sequence[str]) -> Reply:
    """Return the reply to a challenge, with a fault unless it proves that the bot knows one of its secrets."""
    proof, reply = reply.read(messages.read_proof)
    proofs = (challenge_proof(secret, nonce) for secret in bot_secrets)
    if not reply.ok or any(secrets.compare_digest(proof or "", expected) for expected in proofs):
        return reply
    return reply.with_fault("wrong_proof", "proof is not the HMAC-SHA256 of the nonce under the bot's secret")


async def fetch_manifest(caller: BotCaller) -> HandshakeResult:
    """Fetch the bot's manifest. The ``manifest`` of the result is None if the reply has a fault."""
    reply = await caller.send("GET", "/", b"", f"manifest_{secrets.token_hex(16)}", NOTICE_MS)
    manifest, reply = reply.read(messages.read_manifest)
    return HandshakeResult(reply, manifest)


async def notify(caller: BotCaller, body: bytes, id: str, deadline_ms: int = NOTICE_MS) -> Reply:
    """Send a notice and return the reply. Its body matters only in the steps of an opening and for a challenge."""
    return await caller.post("/notify", body, id, deadline_ms)
