"""Process every request and response: request ids, host and length checks, security headers, ETags."""

import re
import secrets
from typing import Final

from flask import Flask, Response, g, request

from api import etags
from api.body import MAX_BYTES, too_large
from api.errors import Problem
from referee.runtime.log_context import begin_work
from referee.settings import Settings

JSON_POLICY = "default-src 'none'; frame-ancestors 'none'"
LOG_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"  # for files whose content others wrote
MACHINES = ("/api/", "/static/", "/healthz", "/playz", "/readyz")  # paths that are never answered with a page
DOCS_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
FROM_PROXY: Final = re.compile(r"[0-9A-Za-z_-]{8,64}")
NOT_IN_HOST: Final = re.compile(r"[/\\@?# \t,]")


def install(app: Flask, settings: Settings) -> None:
    """Add the checks and headers of this module to ``app``. Requests keep the ids that trusted proxies gave them."""
    served = {host.lower() for host in settings.allowed_hosts}  # all if empty

    @app.before_request
    def begin() -> None:
        given = request.headers.get("X-Request-Id", "") if settings.trusted_proxies else ""
        g.request_id = given if FROM_PROXY.fullmatch(given) else f"req_{secrets.token_hex(10)}"
        begin_work(request=g.request_id)
        host = request.environ.get("HTTP_HOST", "")
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        if not host or NOT_IN_HOST.search(host):
            raise Problem(400, "bad_host", "The request must have one Host header with a plain host name.")
        if served and name.lower() not in served:
            detail = f"The host name {name!r} is not served here. The operator can allow it in REFEREE_ALLOWED_HOSTS."
            raise Problem(400, "bad_host", detail)
        if not request.environ.get("RAW_URI", "/").startswith("/"):
            raise Problem(400, "bad_request", "The request target must be a path that begins with a slash.")
        if (request.content_length or 0) > MAX_BYTES:
            raise too_large()

    app.after_request(_set_headers)


def is_for_machines() -> bool:
    """Return whether this request asks for something other than a page."""
    return request.path.startswith(MACHINES)


def _set_headers(response: Response) -> Response:
    """Set the headers of every response. Keep a content policy or caching rule that the view has set."""
    headers, is_read = response.headers, request.method in ("GET", "HEAD")
    # Scripts of any site may read public data that is read without a token.
    is_public = is_read and "Authorization" not in request.headers and not g.get("needs_token", False)
    headers["X-Request-Id"] = g.get("request_id", "")
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Referrer-Policy"] = "no-referrer"
    headers["Cross-Origin-Resource-Policy"] = "cross-origin" if is_public else "same-origin"
    headers.setdefault("Content-Security-Policy", JSON_POLICY)
    if "Authorization" in request.headers or g.get("holds_secret", False):
        headers["Cache-Control"] = "no-store"
    else:
        headers.setdefault("Cache-Control", "no-cache")
    headers.add("Vary", "Authorization")
    if is_public:
        headers["Access-Control-Allow-Origin"] = "*"
    if (is_read or "edited" in g) and response.status_code == 200 and not response.direct_passthrough:
        etags.set_etag(response)
        response.make_conditional(request)
    return response
