"""Edits under a condition: the validator of what the editor saw must be that of what is there."""

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
    "description": "The ETag of the representation that is being changed; 412 when it is no longer the present one.",
}


def must_match(schema: type[Schema], shown: object) -> None:
    """Refuses the request unless its If-Match fits the representation ``shown`` (428 without, 412 otherwise)."""
    etag = validator(schema, shown)
    _demand(lambda given: given == etag)


def validator(schema: type[Schema], shown: object) -> str | None:
    """What GET gives as the ETag of this representation, without its quotes."""
    present = jsonify(schema().dump(shown))
    present.add_etag()
    return present.get_etag()[0]


def stand_for(edited: Mapping[str, Any]) -> None:
    """The answer's validator tells what ``edited`` holds apart from the rest, which changes by itself: ``must_stand``
    looks at that alone, while If-None-Match looks at all of it."""
    g.edited = _digest(edited)


def must_stand(edited: Mapping[str, Any]) -> None:
    """``must_match`` for a representation whose validator was given by ``stand_for``."""
    _demand(lambda given: given.partition(".")[0] == _digest(edited))


def validate(response: Response) -> None:
    """Gives an answer its validator."""
    response.add_etag()
    etag, _ = response.get_etag()
    if edited := g.pop("edited", None):
        response.set_etag(f"{edited}.{etag}")


def _demand(fits: Callable[[str], bool]) -> None:
    if "If-Match" not in request.headers:
        raise Problem(428, "precondition_required", "Send If-Match with the ETag that GET gave.")
    if not request.if_match.star_tag and not any(fits(given) for given in request.if_match.as_set()):
        raise Problem(412, "precondition_failed", "It was changed since you read it; read it again.")


def _digest(edited: Mapping[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(edited, option=orjson.OPT_SORT_KEYS)).hexdigest()[:24]
