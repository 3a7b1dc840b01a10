"""How often a caller may ask. Counted in Redis; in this process's memory while Redis is away."""

import hashlib
import time

from flask import Flask, current_app, request
from flask_limiter import Limiter
from limits import RateLimitItem, parse
from redis import RedisError

from api.errors import Problem
from referee.settings import Settings
from referee.store.accounts import is_token_text

PER_CALLER = "1200 per minute"
NEW_ACCOUNTS = parse("60 per hour")  # an address
CHECKS = parse("20 per minute")  # an account; each makes us call an address that is not proven yet
GUESSES = parse("30 per minute")  # refused tokens an address; good tokens from there are not held up

# The strategy stands in the prefix: counters of two strategies must never share a key.
STRATEGY = "sliding-window-counter"
PREFIX = f"referee:limits:{STRATEGY}"
REDIS_TIMEOUT_S = 0.5


def install(app: Flask, settings: Settings) -> None:
    """Counts every request of ``app`` for its caller and answers 429 with Retry-After above the limit."""
    times = {"socket_connect_timeout": REDIS_TIMEOUT_S, "socket_timeout": REDIS_TIMEOUT_S}
    app.extensions["referee.limiter"] = Limiter(
        caller,
        app=app,
        application_limits=[PER_CALLER],
        enabled=settings.rate_limits,
        headers_enabled=True,
        in_memory_fallback_enabled=True,
        key_prefix=PREFIX,
        storage_options=times if settings.redis_url else {},  # type: ignore[arg-type]  # says int, hands floats on
        storage_uri=_storage(settings.redis_url),
        strategy=STRATEGY,
    )


def caller() -> str:
    """Who is counted: the token shown, by its digest, else the address, also where the token cannot be one."""
    text = request.headers.get("Authorization", "").partition(" ")[2].strip()
    if is_token_text(text):
        return "token:" + hashlib.sha256(text.encode()).hexdigest()[:32]
    return "address:" + address()


def address() -> str:
    return request.remote_addr or "unknown"


def spend(limit: RateLimitItem, purpose: str, who: str | None = None) -> None:
    """Counts one of ``purpose`` for ``who``, else for the caller's address; 429 when none is left."""
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
