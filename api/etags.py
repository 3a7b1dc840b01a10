"""Edits under a condition: the validator of what the editor saw must be that of what is there."""

from collections.abc import Mapping
from typing import Any

from flask import jsonify, request
from marshmallow import Schema

from api.errors import Problem

PARAMETER = {
    "in": "header",
    "name": "If-Match",
    "required": True,
    "schema": {"type": "string"},
    "description": "The ETag of the representation that is being changed; 412 when it is no longer the present one.",
}


def must_match(schema: type[Schema], shown: Mapping[str, Any]) -> None:
    """Refuses the request unless its If-Match fits the representation ``shown`` (428 without, 412 otherwise)."""
    if "If-Match" not in request.headers:
        raise Problem(428, "precondition_required", "Send If-Match with the ETag that GET gave.")
    present = jsonify(schema().dump(shown))
    present.add_etag()
    etag, _ = present.get_etag()
    if not request.if_match.contains(etag or ""):
        raise Problem(412, "precondition_failed", "It was changed since you read it; read it again.")
