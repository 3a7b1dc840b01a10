"""Connect to a vetted address and exchange one request and response at a time. ``client`` handles retries."""

import asyncio
import errno
import socket
import ssl
import struct
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from ipaddress import IPv4Address
from pathlib import Path
from typing import Final

from referee.botclient.address_caps import Place
from referee.botclient.address_guard import Endpoint, Policy, vet
from referee.botclient.framing import BadResponse, Response
from referee.errors import NoAuthorities, UrlRefused
from referee.private_ranges import Address

TakePlace = Callable[[Address], Awaitable[Place]]  # waits for a place, see ``AddressCaps.take``

READ_BYTES = 16 * 1024
_FIRST_TRIES_SECONDS = (
    0.5  # per address except the last, so that an address that does not answer leaves time for the others
)
_CA_FILES = (  # CA bundles of common systems, for a Python built with other paths
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)
# With the greatest age of a claim when a question is sent (5 s), and with the 3 s for which the kernel keeps packets
# while it looks for a neighbour, this is less than a lease.
UNACKNOWLEDGED_S: Final = 6.0
_NO_LINGER: Final = struct.pack("ii", 1, 0)  # close() resets the connection and discards what is not sent yet
_UNTIMELY: Final = frozenset([9, 10])  # OpenSSL: the certificate is not valid yet, or has expired
_OUR_ERRORS = frozenset([errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EADDRNOTAVAIL])


class ExchangeFailed(Exception):
    """Report that an exchange failed. ``is_retryable`` means that no byte of a response arrived, so a retry is safe.

    ``is_untimely`` means that the certificate is not valid at the time of our clock.
    """

    def __init__(self, fault: str, detail: str, *, is_retryable: bool = False, is_untimely: bool = False) -> None:
        super().__init__(detail)
        self.is_untimely = is_untimely
        self.fault = fault
        self.detail = detail
        self.is_retryable = is_retryable


class Connection(asyncio.BufferedProtocol):
    """Exchange requests and responses over an open connection. Close it when bytes arrive that were not requested.

    The ``place`` of the connection, if its address has a cap, is released when the connection ends.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, place: Place | None = None) -> None:
        self.response = Response()
        self.first_byte_at = self.last_byte_at = 0.0
        self._loop = loop
        self._place = place
        self._buffer = memoryview(bytearray(READ_BYTES))
        self._transport: asyncio.Transport | None = None
        self._answered: asyncio.Future[None] | None = None  # None when no exchange is in progress
        self._due: Callable[[], float] = loop.time  # the deadline of the current exchange
        self._timer: asyncio.TimerHandle | None = None  # fires at the deadline of this exchange or an earlier one

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    async def exchange(self, request: bytes, due: Callable[[], float]) -> Response:
        """Send a request and return the complete response.

        ``due()`` returns the deadline on the loop's clock. It is called again at the deadline, which may have moved.
        Raise ``ExchangeFailed`` if the response is late or invalid. Close the connection after a failure and after a
        response without keep-alive.
        """
        assert self._transport is not None
        assert self._answered is None, "one exchange at a time"
        self.response, self.first_byte_at = Response(bodiless=request.startswith(b"HEAD ")), 0.0
        self._answered = answered = self._loop.create_future()
        self._due = due
        self._set_timer(due())
        if self._place is not None:
            self._place.set_busy()
        try:
            self._transport.write(request)
            await answered
        except BaseException:
            self.abort()
            raise
        finally:
            # Otherwise an exception or a call would refer to itself, and be freed only by the garbage collector.
            self._answered = None
            del answered
            self._due = self._loop.time
        if not self.response.keep_alive:
            self.abort()
        elif self._place is not None:
            self._place.set_idle(self.abort)
        return self.response

    def abort(self) -> None:
        """Close the connection immediately. Of a request in progress, nothing more is sent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transport is not None:
            if self._answered is not None and not self._transport.is_closing():
                # Otherwise the kernel sends the rest of the request even minutes later, when a network that was cut
                # off is back and another host has resumed the match.
                self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            self._transport.abort()

    # -- called by the event loop --

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        if self._answered is None or self._answered.done():
            self.abort()
            return
        self.last_byte_at = self._loop.time()
        if not self.response.begun:
            self.first_byte_at = self.last_byte_at
        try:
            self.response.feed(self._buffer[:nbytes])
        except BadResponse as bad:
            self._fail(_to_exchange_failed(self.response, bad))
            return
        if self.response.complete:
            self._answered.set_result(None)

    def eof_received(self) -> bool:
        self._end("the other side closed the connection")
        return False

    def connection_lost(self, error: Exception | None) -> None:
        if self._place is not None:
            self._place.release()
        self._end(f"the connection broke: {error}" if error else "the other side closed the connection")

    def _set_timer(self, due: float) -> None:
        """Set the timer to ``due``, unless it fires earlier anyway: it would cost more to set it for each exchange."""
        if self._timer is not None and self._timer.when() > due:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = self._loop.call_at(due, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        if self._answered is None or self._answered.done():
            return
        if (due := self._due()) > self._loop.time():
            self._set_timer(due)
        else:
            self._fail(ExchangeFailed("deadline", "no complete answer in time"))

    def _end(self, error: str) -> None:
        if self._answered is None or self._answered.done():
            return
        if not self.response.begun:
            self._fail(ExchangeFailed("unreachable", error, is_retryable=True))
            return
        try:
            self.response.end()
        except BadResponse as bad:
            self._fail(_to_exchange_failed(self.response, bad))
        else:
            self._answered.set_result(None)

    def _fail(self, failed: ExchangeFailed) -> None:
        if self._answered is not None and not self._answered.done():
            # Prefer the fault of a wrong status: it explains more than an error in the body.
            fault, detail = self.response.fault or failed.fault, self.response.detail or failed.detail
            self._answered.set_exception(ExchangeFailed(fault, detail, is_retryable=failed.is_retryable))


async def dial(
    endpoint: Endpoint,
    addresses: Sequence[Address],
    policy: Policy,
    due: Callable[[], float],
    tls: ssl.SSLContext | None = None,
    *,
    take_place: TakePlace | None = None,
) -> Connection:
    """Connect to the first address that accepts. Raise ``ExchangeFailed``, or ``TimeoutError`` at ``due()``.

    ``due()`` is asked once there is a place at an address, since the wait for it may move the deadline. Raise
    ``NoAuthorities`` if TLS is needed and this host has none, and ``NoRoom`` if there is no place.
    """
    loop = asyncio.get_running_loop()
    for address in addresses[:-1]:
        place = await take_place(address) if take_place else None
        try:
            async with asyncio.timeout_at(min(due(), loop.time() + _FIRST_TRIES_SECONDS)):
                return await _dial(endpoint, address, policy, tls, place)
        except TimeoutError:
            continue
        except ExchangeFailed as failed:
            if not failed.is_retryable:
                raise
    place = await take_place(addresses[-1]) if take_place else None
    async with asyncio.timeout_at(due()):
        return await _dial(endpoint, addresses[-1], policy, tls, place)


async def _dial(
    endpoint: Endpoint, address: Address, policy: Policy, tls: ssl.SSLContext | None, place: Place | None
) -> Connection:
    try:
        return await _connect(endpoint, address, policy, tls, place)
    except BaseException:
        if place is not None:
            place.release()
        raise


async def _connect(
    endpoint: Endpoint, address: Address, policy: Policy, tls: ssl.SSLContext | None, place: Place | None
) -> Connection:
    loop = asyncio.get_running_loop()
    is_private = endpoint.is_private(policy)
    if is_private and policy.private is not None:
        await policy.private.refresh()
    try:
        if is_private:
            vet(address, endpoint.port, policy, is_literal=True)  # the own addresses may have changed since the last
        with socket.socket(_family(address), socket.SOCK_STREAM) as sock:
            sock.setblocking(False)
            await loop.sock_connect(sock, (str(address), endpoint.port))
            _check_peer(sock, address, endpoint, policy)
            _limit_unacknowledged(sock)
            secured = (tls or system_tls()) if endpoint.scheme == "https" else None
            _, connection = await loop.create_connection(
                lambda: Connection(loop, place),
                sock=socket.socket(fileno=sock.detach()),
                ssl=secured,
                server_hostname=endpoint.host if secured else None,
            )
    except ssl.SSLError as error:
        is_untimely = getattr(error, "verify_code", 0) in _UNTIMELY
        raise ExchangeFailed("tls_failed", str(error), is_untimely=is_untimely) from error
    except UrlRefused as refused:
        raise ExchangeFailed(refused.code, refused.reason) from refused
    except OSError as error:
        if error.errno in _OUR_ERRORS:
            raise ExchangeFailed("uplink_down", f"on our side: {error}") from error
        raise ExchangeFailed(
            "unreachable", f"no connection to port {endpoint.port}: {error}", is_retryable=True
        ) from error
    return connection


def _limit_unacknowledged(sock: socket.socket) -> None:
    """Let the connection end with an error when the peer acknowledges nothing of what was sent for some time.

    Otherwise the kernel repeats a request for many minutes, and delivers it when a network that was cut off is back,
    although another host has resumed the match meanwhile.
    """
    if sys.platform == "linux":
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(UNACKNOWLEDGED_S * 1000))


def _family(address: Address) -> socket.AddressFamily:
    return socket.AF_INET if isinstance(address, IPv4Address) else socket.AF_INET6


def _check_peer(sock: socket.socket, address: Address, endpoint: Endpoint, policy: Policy) -> None:
    """Raise ``UrlRefused`` if the peer is not the vetted address, or is this host at one of its public addresses."""
    port = endpoint.port
    peer, own = sock.getpeername(), sock.getsockname()
    if peer[:2] != (str(address), port):
        raise UrlRefused("egress_denied", f"dialled {address}, reached {peer[0]}")
    if own[0] == peer[0] and not any(allowed.covers(address, port) for allowed in policy.allow):
        raise UrlRefused("egress_denied", "this is an address of the referee itself")
    vet(address, port, policy, is_literal=endpoint.literal is not None)


@cache
def system_tls() -> ssl.SSLContext:
    """Return a TLS context that trusts the system's certificate authorities and ignores environment variables.

    Raise ``NoAuthorities`` if none can be loaded: every certificate would be refused. The next call tries again.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    _load_authorities(context)
    return context


def _load_authorities(context: ssl.SSLContext) -> None:
    paths = ssl.get_default_verify_paths()
    cafile = next((file for file in (paths.openssl_cafile, *_CA_FILES) if Path(file).is_file()), None)
    # OpenSSL looks an authority in a folder up when it needs it, by the hash in its file name.
    has_folder = any(file.is_file() for file in Path(paths.openssl_capath).glob("*.[0-9]"))
    if has_folder:
        context.load_verify_locations(capath=paths.openssl_capath)
    problem = "there is no CA bundle"
    if cafile:
        try:
            context.load_verify_locations(cafile)
        except OSError as error:
            if error.errno in _OUR_ERRORS:
                raise
            problem = f"{cafile}: {error}"
    if not has_folder and not context.cert_store_stats()["x509_ca"]:
        raise NoAuthorities(f"no certificate authority could be loaded: {problem}")


def _to_exchange_failed(response: Response, error: BadResponse) -> ExchangeFailed:
    return ExchangeFailed(response.fault or error.fault, response.detail or error.detail)
