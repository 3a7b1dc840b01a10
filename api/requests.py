"""Process every request and response: request ids, host and length checks, security headers, ETags."""

import secrets
from collections.abc import Iterable

from flask import Flask, Response, g, request

from api import etags
from api.body import MAX_BYTES, too_large
from api.errors import Problem
from api.request_log import read_request_id
from referee.runtime.log_context import begin_work

JSON_POLICY = "default-src 'none'; frame-ancestors 'none'"
LOG_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"  # for files whose content others wrote
MACHINES = ("/api/", "/static/", "/healthz", "/playz", "/readyz")  # paths that are never answered with a page
DOCS_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def install(app: Flask, hosts: Iterable[str], trusted_proxies: int) -> None:
    """Add the checks and headers of this module to ``app``; ``hosts`` are the names to serve (all if empty).

    Requests keep the ids that ``trusted_proxies`` gave them, if there are any.
    """
    served = {host.lower() for host in hosts}

    @app.before_request
    def begin() -> None:
        g.request_id = read_request_id(trusted_proxies) or f"req_{secrets.token_hex(10)}"
        begin_work(request=g.request_id)
        _check_host(served)
        if (request.content_length or 0) > MAX_BYTES:
            raise too_large()

    app.after_request(_set_headers)


def is_for_machines() -> bool:
    """Return whether this request asks for something other than a page."""
    return request.path.startswith(MACHINES)


def _check_host(served: set[str]) -> None:
    host = request.environ.get("HTTP_HOST", "")
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    if not host or any(character in host for character in "/\\@?# \t,"):
        raise Problem(400, "bad_host", "The request must have one Host header with a plain host name.")
    if served and name.lower() not in served:
        raise Problem(
            400,
            "bad_host",
            f"The host name {name!r} is not served here. The operator can allow it in REFEREE_ALLOWED_HOSTS.",
        )
    if not request.environ.get("RAW_URI", "/").startswith("/"):
        raise Problem(400, "bad_request", "The request target must be a path that begins with a slash.")


def _set_headers(response: Response) -> Response:
    """Set the headers of every response. Keep a content policy or caching rule that the view has set."""
    headers = response.headers
    headers["X-Request-Id"] = g.get("request_id", "")
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Referrer-Policy"] = "no-referrer"
    headers["Cross-Origin-Resource-Policy"] = "cross-origin" if _is_public() else "same-origin"
    headers.setdefault("Content-Security-Policy", JSON_POLICY)
    if "Authorization" in request.headers or g.get("holds_secret", False):
        headers["Cache-Control"] = "no-store"
    else:
        headers.setdefault("Cache-Control", "no-cache")
    headers.add("Vary", "Authorization")
    if _is_public():
        headers["Access-Control-Allow-Origin"] = "*"
    has_etag = request.method in ("GET", "HEAD") or "edited" in g
    if has_etag and response.status_code == 200 and not response.direct_passthrough:
        etags.set_etag(response)
        response.make_conditional(request)
    return response


def _is_public() -> bool:
    """Return whether scripts of any site may read the response: it is public data, read without a token."""
    return (
        request.method in ("GET", "HEAD") and "Authorization" not in request.headers and not g.get("needs_token", False)
    )
