"""Make edits conditional: If-Match must have the ETag of the current representation (RFC 9110, section 13)."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from flask import Response, g, jsonify, request
from marshmallow import Schema

from api.errors import Problem

PARAMETER = {
    "in": "header",
    "name": "If-Match",
    "required": True,
    "schema": {"type": "string"},
    "description": "The ETag of the representation to edit. If it has changed since, the response is a 412.",
}


def require_match(schema: type[Schema], shown: object) -> None:
    """Raise a ``Problem`` unless If-Match has the ETag of ``shown``: 428 if it is missing, 412 if it differs."""
    present = jsonify(schema().dump(shown))
    present.add_etag()
    etag, _ = present.get_etag()
    _require_if_match(lambda given: given == etag)


def split_etag(edited: Mapping[str, Any]) -> None:
    """Give the response an ETag with a separate part for ``edited``, the fields that people edit.

    ``require_edited_match`` compares that part alone, since other fields change without edits; If-None-Match compares
    the whole ETag.
    """
    g.edited = edited_etag(edited)


def require_edited_match(edited: Mapping[str, Any]) -> None:
    """Raise a ``Problem`` as ``require_match`` does, for a representation whose ETag was set with ``split_etag``."""
    _require_if_match(lambda given: (given or "").partition(".")[0] == edited_etag(edited))


def set_etag(response: Response) -> None:
    """Set the ETag of a response. It has two parts if the view has called ``split_etag``."""
    response.add_etag()
    etag, _ = response.get_etag()
    if edited := g.pop("edited", None):
        response.set_etag(f"{edited}.{etag}")


def _require_if_match(fits: Callable[[str], bool]) -> None:
    if "If-Match" not in request.headers:
        raise Problem(
            428, "precondition_required", "This request needs the header If-Match with the ETag that GET returned."
        )
    if not request.if_match.star_tag and not any(fits(given) for given in request.if_match.as_set()):
        raise Problem(
            412, "precondition_failed", "The resource was changed after you read it. Read it again and repeat the edit."
        )


def edited_etag(edited: Mapping[str, Any]) -> str:
    """Return the part of an ETag that ``require_edited_match`` compares."""
    return hashlib.sha256(orjson.dumps(edited, option=orjson.OPT_SORT_KEYS)).hexdigest()[:24]
