"""Read JSON request bodies, and check their media type, length, encoding and syntax. Schemas validate the values."""

from typing import Any

from flask import Request, g

from api.errors import Problem
from referee.protocol import strict_json

MAX_BYTES = 64 * 1024
LIMITS = strict_json.JsonLimits(max_depth=32, min_integer=-(2**53), max_integer=2**53)


def read_json(request: Request) -> Any:
    """Return the request's body as JSON. Raise a ``Problem`` for a wrong media type (415), a body that is too long
    (413), or malformed JSON (400 ``malformed_json``, which names the field with the error).
    """
    if request.mimetype != "application/json" or request.mimetype_params.get("charset", "utf-8").lower() != "utf-8":
        raise Problem(
            415, "unsupported_media_type", "The body must be JSON in UTF-8, sent with `Content-Type: application/json`."
        )
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Problem(
            415, "unsupported_media_type", "The body must not be compressed. Send it without Content-Encoding."
        )
    try:
        return strict_json.read(read_body(request), LIMITS)
    except strict_json.InvalidJson as error:
        field = error.path or "body"
        detail = f"The body is not valid JSON at {field}: {error.reason}."
        raise Problem(400, "malformed_json", detail, errors=[(field, error.reason)]) from error


def read_body(request: Request) -> bytes:
    """Return the body, which may be sent with Content-Length or in chunks. Raise a 413 if it exceeds ``MAX_BYTES``.

    The body is cached, since the server's stream can be read only once.
    """
    if "body" in g:
        return bytes(g.body)
    length = request.content_length
    if length is None and not request.headers.get("Transfer-Encoding"):
        length = 0
    try:
        g.body = request.environ["wsgi.input"].read(MAX_BYTES + 1 if length is None else length)
    except Exception as error:  # the server raises its own parser errors if the framing is broken
        raise Problem(
            400, "malformed_body", "The body could not be read to its end: its framing is invalid, or it was cut off."
        ) from error
    if len(g.body) > MAX_BYTES:
        raise too_large()
    return bytes(g.body)


def too_large() -> Problem:
    return Problem(413, "body_too_large", f"The body is too long: at most {MAX_BYTES} bytes are accepted.")
