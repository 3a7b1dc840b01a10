"""Limit the rate of requests. Count them in Redis, or in this process while Redis is not available."""

import ipaddress
import time
from collections.abc import Callable

from flask import Flask, Response, current_app, g, request
from flask_limiter import HeaderNames, Limiter
from limits import RateLimitItem, parse
from redis import RedisError

from api.errors import Problem
from referee.db.engine import is_writing
from referee.db.names import name_key
from referee.settings import Settings

PER_CALLER = "1200 per minute"  # with a valid token; otherwise the setting counts
NEW_ACCOUNTS = parse("60 per hour")  # per address
OUTGOING_CALLS = parse("20 per minute")  # per account: calls to an address that the account chose
GUESSES = parse("30 per minute")  # refused tokens per address; does not limit valid tokens from the same address
RECOVERIES = parse("10 per hour")  # per address: attempts to recover an account
# Attempts from all addresses together. More than an address has, so that one address alone keeps no owner out.
RECOVERIES_OF_ACCOUNT = parse("60 per hour")
JOIN_CODES = parse("30 per minute")  # per account: codes with which it enters bots

# The strategy is part of the prefix: counters of two strategies must never share a key.
STRATEGY = "sliding-window-counter"
PREFIX = f"referee:limits:{STRATEGY}"
REDIS_TIMEOUT_S = 0.5
WINDOW_END = "X-RateLimit-Retry-After"  # set by the limiter and removed before sending


def install(app: Flask, settings: Settings, identify_caller: Callable[[], None]) -> None:
    """Count every request of ``app`` for its caller; above the limit, answer 429 with Retry-After.

    ``identify_caller`` stores the key of the caller in ``g.caller``.
    """
    per_address = f"{settings.address_requests} per minute"
    times = {"socket_connect_timeout": REDIS_TIMEOUT_S, "socket_timeout": REDIS_TIMEOUT_S}
    if settings.rate_limits:
        app.before_request(identify_caller)
        app.after_request(_set_retry_after)  # before the limiter: the handler registered last runs first
    app.extensions["referee.limiter"] = Limiter(
        lambda: g.caller,
        app=app,
        application_limits=[lambda: PER_CALLER if g.caller.startswith("token:") else per_address],
        enabled=settings.rate_limits,
        header_name_mapping={HeaderNames.RETRY_AFTER: WINDOW_END},
        headers_enabled=True,
        in_memory_fallback_enabled=True,
        key_prefix=PREFIX,
        storage_options=times if settings.redis_url else {},  # type: ignore[arg-type]  # annotated as int, but accepts floats
        storage_uri=_storage(settings.redis_url),
        strategy=STRATEGY,
    )


def _set_retry_after(response: Response) -> Response:
    """Remove the limiter's Retry-After from all responses except a 429 that has no other Retry-After."""
    wait_s = response.headers.pop(WINDOW_END, "1")
    if response.status_code == 429:
        response.headers.setdefault("Retry-After", str(max(1, int(wait_s))))
    return response


def caller_address() -> str:
    """Return the key under which the caller's address is counted: an IPv6 subscriber by their /64 network."""
    text = request.remote_addr or "unknown"
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return text
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or ipaddress.IPv6Network((int(found), 64), strict=False))


def count_outgoing_call() -> None:
    """Count a call that the service makes for the account of the request. Raise a 429 above the limit."""
    count_use(OUTGOING_CALLS, "outgoing calls", g.account.id)


def count_new_account() -> None:
    """Count a new account for the caller's address. Raise a 429 above the limit."""
    count_use(NEW_ACCOUNTS, "new accounts")


def count_recovery(account_name: str) -> None:
    """Count an attempt to recover this account, which need not exist. Raise a 429 above a limit."""
    count_use(RECOVERIES, "recoveries")
    count_use(RECOVERIES_OF_ACCOUNT, "recoveries of one account", name_key(account_name))


def count_join_code() -> None:
    """Count a join code that the account of the request sends. Raise a 429 above the limit."""
    count_use(JOIN_CODES, "join codes", g.account.id)


def count_use(limit: RateLimitItem, purpose: str, who: str | None = None) -> None:
    """Count one use of ``limit`` for ``who``, by default the caller's address. Raise a 429 when none is left."""
    assert not is_writing(), "Redis may be slow: check rate limits before the transaction begins"
    limiter: Limiter = current_app.extensions["referee.limiter"]
    if not limiter.enabled:
        return
    key = (PREFIX, purpose, who or caller_address())
    try:
        if limiter.limiter.hit(limit, *key):
            return
        reset = limiter.limiter.get_window_stats(limit, *key).reset_time
    except RedisError:
        return  # Redis has just become unavailable: the limiter counts in memory from the next request on
    wait_s = max(1, round(reset - time.time()))
    detail = f"Too many requests ({purpose}). Try again in {wait_s} s."
    raise Problem(429, "rate_limited", detail, headers={"Retry-After": str(wait_s)})


def _storage(redis_url: str | None) -> str:
    if redis_url is None:
        return "memory://"
    return redis_url.replace("unix://", "redis+unix://", 1)
