"""The strict reading of a request's JSON body. What the values mean is left to the schemas."""

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from flask import Request, g

from api.errors import Problem

MAX_BYTES = 64 * 1024
MAX_DEPTH = 32
MAX_INT = 2**53

# A string or a bracket. The string alternative also swallows an unclosed string up to the end, so that the scan
# stays linear whatever comes.
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+\\?(?:"|\Z)|[\[\]{}]', re.DOTALL)


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
        g.body = _drained(request)
    return bytes(g.body)


def _drained(request: Request) -> bytes:
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
    """``body`` as JSON: UTF-8, at most ``MAX_DEPTH`` deep, no duplicate keys, no NaN or infinities, whole numbers
    within 2^53, no NUL and no lone surrogates. Anything else is a 400 ``malformed_json`` naming the field."""
    _refuse_depth(body)
    try:
        value = json.loads(
            body.decode(), object_pairs_hook=_pairs, parse_int=_int, parse_float=_float, parse_constant=_Bad
        )
    except ValueError as error:
        raise malformed("body", f"not JSON: {_reason(error)}") from error
    return _checked(value, "")


def malformed(field: str, reason: str) -> Problem:
    return Problem(
        400, "malformed_json", f"The body is not acceptable JSON: {field}: {reason}.", errors=[(field, reason)]
    )


@dataclass(frozen=True, slots=True)
class _Bad:
    """A value that no JSON document of ours may hold, kept until its place is known."""

    spelling: str


def _refuse_depth(body: bytes) -> None:
    depth = 0
    for token in _TOKENS.finditer(body):
        match token[0]:
            case b"[" | b"{":
                depth += 1
                if depth > MAX_DEPTH:
                    raise malformed("body", f"nested deeper than {MAX_DEPTH}")
            case b"]" | b"}":
                depth -= 1


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise malformed(_shown(twice), "given twice")
    return table


def _int(digits: str) -> int | _Bad:
    # The length first: the conversion of a long numeral is what we will not pay for.
    if len(digits) > 17 or abs(number := int(digits)) > MAX_INT:
        return _Bad(digits[:20])
    return number


def _float(digits: str) -> float | _Bad:
    number = float(digits)
    return number if math.isfinite(number) else _Bad(digits[:20])


def _checked(value: Any, path: str) -> Any:
    match value:
        case dict():
            for key, member in value.items():
                _checked(key, path)
                _checked(member, f"{path}.{_shown(key)}" if path else _shown(key))
        case list():
            for index, member in enumerate(value):
                _checked(member, f"{path}[{index}]")
        case str() if "\0" in value:
            raise malformed(path or "body", "text must not hold NUL")
        case str() if any("\ud800" <= character <= "\udfff" for character in value):
            raise malformed(path or "body", "text must not hold lone surrogates")
        case _Bad(spelling):
            raise malformed(path or "body", f"{spelling} is not a number we take (finite, within 2^53)")
    return value


def _shown(key: str) -> str:
    return key.encode("ascii", "backslashreplace").decode()[:80]


def _reason(error: ValueError) -> str:
    match error:
        case json.JSONDecodeError():
            return f"{error.msg} at character {error.pos}"
        case UnicodeDecodeError():
            return f"not UTF-8 at byte {error.start}"
    return "unreadable"
