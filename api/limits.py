"""How often a caller may ask. Counted in Redis; in this process's memory while Redis is away."""

import hashlib
import ipaddress
import time

from flask import Flask, Response, current_app, g, request
from flask_limiter import HeaderNames, Limiter
from limits import RateLimitItem, parse
from redis import RedisError

from api import tokens
from api.errors import Problem
from referee.db.engine import is_writing
from referee.settings import Settings

PER_CALLER = "1200 per minute"
NEW_ACCOUNTS = parse("60 per hour")  # an address
CHECKS = parse("20 per minute")  # an account; each makes us call an address that is not proven yet
GUESSES = parse("30 per minute")  # refused tokens an address; good tokens from there are not held up

# The strategy stands in the prefix: counters of two strategies must never share a key.
STRATEGY = "sliding-window-counter"
PREFIX = f"referee:limits:{STRATEGY}"
REDIS_TIMEOUT_S = 0.5
WINDOW_END = "X-RateLimit-Retry-After"  # between the limiter and us; never sent


def install(app: Flask, settings: Settings) -> None:
    """Count every request of ``app`` for its caller and answer 429 with Retry-After above the limit."""
    times = {"socket_connect_timeout": REDIS_TIMEOUT_S, "socket_timeout": REDIS_TIMEOUT_S}
    if settings.rate_limits:
        app.before_request(_recognise)
        app.after_request(_ask_to_wait)  # before the limiter is installed: what is registered last runs first
    app.extensions["referee.limiter"] = Limiter(
        lambda: g.caller,
        app=app,
        application_limits=[PER_CALLER],
        enabled=settings.rate_limits,
        header_name_mapping={HeaderNames.RETRY_AFTER: WINDOW_END},
        headers_enabled=True,
        in_memory_fallback_enabled=True,
        key_prefix=PREFIX,
        storage_options=times if settings.redis_url else {},  # type: ignore[arg-type]  # says int, hands floats on
        storage_uri=_storage(settings.redis_url),
        strategy=STRATEGY,
    )


def _recognise() -> None:
    """Note who is counted: the token, by its digest, where it opens an account, else the address.

    Only routes of the API look tokens up, which they do for themselves anyway. Elsewhere a token opens nothing, so
    there the address counts. The limiter must not do this: it takes any exception for a failure of Redis.
    """
    text = tokens.text_shown() if request.endpoint and request.path.startswith("/api/") else None
    if text is not None and tokens.authenticate_request() is not None:
        g.caller = "token:" + hashlib.sha256(text.encode()).hexdigest()[:32]
    else:
        g.caller = "address:" + address()


def _ask_to_wait(response: Response) -> Response:
    """Take the limiter's Retry-After, which it puts on every answer, for 429 only, unless a limit set its own."""
    wait_s = response.headers.pop(WINDOW_END, "1")
    if response.status_code == 429:
        response.headers.setdefault("Retry-After", str(max(1, int(wait_s))))
    return response


def address() -> str:
    """Return the key under which the caller's address is counted: IPv6 by its /64, since its owner has all of that."""
    text = request.remote_addr or "unknown"
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return text
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or ipaddress.IPv6Network((int(found), 64), strict=False))


def count_check() -> None:
    """Count a check for the account that asks."""
    spend(CHECKS, "checks", g.account.id)


def count_new_account() -> None:
    """Count a new account for the caller's address."""
    spend(NEW_ACCOUNTS, "new accounts")


def spend(limit: RateLimitItem, purpose: str, who: str | None = None) -> None:
    """Count one of ``purpose`` for ``who``, else for the caller's address; 429 when none is left."""
    assert not is_writing(), "Redis may be slow: rate limits are asked before the transaction begins"
    limiter: Limiter = current_app.extensions["referee.limiter"]
    if not limiter.enabled:
        return
    key = (PREFIX, purpose, who or address())
    try:
        if limiter.limiter.hit(limit, *key):
            return
        reset = limiter.limiter.get_window_stats(limit, *key).reset_time
    except RedisError:
        return  # between Redis' going and the limiter's noticing; the next request counts in memory
    wait_s = max(1, round(reset - time.time()))
    raise Problem(429, "rate_limited", "Too many requests; see Retry-After.", headers={"Retry-After": str(wait_s)})


def _storage(redis_url: str | None) -> str:
    if redis_url is None:
        return "memory://"
    return redis_url.replace("unix://", "redis+unix://", 1)
