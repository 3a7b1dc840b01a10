"""The strict reading of a request's JSON body. What the values mean is left to the schemas."""

from typing import Any

from flask import Request, g

from api.errors import Problem
from referee.protocol import strict_json

MAX_BYTES = 64 * 1024
LIMITS = strict_json.JsonLimits(max_depth=32, min_integer=-(2**53), max_integer=2**53)


def read_json(request: Request) -> Any:
    """The request's body as JSON; refuses a wrong media type (415), a long body (413) and malformed JSON (400)."""
    if request.mimetype != "application/json" or request.mimetype_params.get("charset", "utf-8").lower() != "utf-8":
        raise Problem(415, "unsupported_media_type", "The body must be application/json in UTF-8.")
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Problem(415, "unsupported_media_type", "The body must not be compressed.")
    return parse(read_body(request))


def read_body(request: Request) -> bytes:
    """At most ``MAX_BYTES`` of body, by Content-Length or chunked; more is refused without being read (413).

    The server's stream gives it once; a second call gets the same bytes.
    """
    if "body" not in g:
        g.body = _read_limited(request)
    return bytes(g.body)


def _read_limited(request: Request) -> bytes:
    length = request.content_length
    if length is not None and length > MAX_BYTES:
        raise too_large()
    if length is None and not request.headers.get("Transfer-Encoding"):
        return b""
    try:
        body: bytes = request.environ["wsgi.input"].read(MAX_BYTES + 1 if length is None else length)
    except Exception as error:  # the server's own parser errors: the framing of the body is broken
        raise Problem(400, "malformed_body", "The body could not be read to its end.") from error
    if len(body) > MAX_BYTES:
        raise too_large()
    return body


def too_large() -> Problem:
    return Problem(413, "body_too_large", f"The body may have at most {MAX_BYTES} bytes.")


def parse(body: bytes) -> Any:
    """Return the value of ``body``, read strictly; raise a 400 ``malformed_json`` that names the field."""
    try:
        return strict_json.read(body, LIMITS)
    except strict_json.InvalidJson as error:
        field = error.path or "body"
        raise Problem(
            400,
            "malformed_json",
            f"The body is not acceptable JSON: {field}: {error.reason}.",
            errors=[(field, error.reason)],
        ) from error
