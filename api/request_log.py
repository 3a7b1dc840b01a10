"""Log one line for each request: what was asked, by which account, with which status, and how long it took."""

import logging
import re
import time
from typing import Any, Final

from flask import Flask, Response, g, request

from api.tokens import Authenticated
from referee.runtime.log_limits import REQUEST_LINES

FROM_PROXY: Final = re.compile(r"[0-9A-Za-z_-]{8,64}")

log = logging.getLogger(REQUEST_LINES)


def install(app: Flask) -> None:
    """Log the requests of ``app``, but not those of static files."""

    @app.after_request
    def log_request(response: Response) -> Response:
        if request.endpoint != "static":
            log.info("request_served", extra=_fields(response))
        return response


def read_request_id(trusted_proxies: int) -> str | None:
    """Return the id that a trusted proxy gave this request, or None if there is none that is well-formed."""
    given = request.headers.get("X-Request-Id", "") if trusted_proxies else ""
    return given if FROM_PROXY.fullmatch(given) else None


def _fields(response: Response) -> dict[str, Any]:
    """Return the fields of a line. The address is that of the route: a path may have anything in it."""
    authenticated = g.get("authenticated")
    fields = {
        "method": request.method if len(request.method) < 10 else "other",
        "route": None if request.url_rule is None else request.url_rule.rule,
        "status": response.status_code,
        "ms": round(1000 * (time.perf_counter() - g.began_s), 1),
        "account": authenticated.account.id if isinstance(authenticated, Authenticated) else None,
    }
    ids = {name.removesuffix("_id"): value for name, value in (request.view_args or {}).items() if name.endswith("_id")}
    return {name: value for name, value in {**fields, **ids}.items() if value is not None}
