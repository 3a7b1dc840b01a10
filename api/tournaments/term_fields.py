"""Derive the fields of requests and responses from the declared terms of tournaments."""

import json
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any

import marshmallow
from marshmallow import validate

from api import fields
from referee.tournaments.terms import TERMS, Term

Field = marshmallow.fields.Field[Any]


def of_body(*, is_new: bool) -> dict[str, Field]:
    """Return the fields of a request for a new tournament, or for changes of one."""
    found = {name: _body_field(term, term.is_required and is_new) for name, term in TERMS.items()}
    if is_new:
        found["options"].load_default = dict
    return found


def of_view(names: Iterable[str]) -> dict[str, Field]:
    """Return the fields of these terms in a response."""
    return {name: _view_field(TERMS[name]) for name in names}


def _body_field(term: Term, is_required: bool) -> Field:
    shared: dict[str, Any] = {"about": _describe(term), "required": is_required}
    low, high = term.within
    if term.name == "name":
        return fields.Title(required=is_required)
    if term.check:
        return fields.CheckedText(term.check, high, _describe(term))
    if term.takes_null:
        shared["allow_none"] = True
    if term.choices:
        return fields.OneOf(term.choices, **shared)
    if term.type is int:
        return fields.StrictInt(low, high, **shared)
    if term.type is bool:
        return fields.StrictBool(**shared)
    if term.type is datetime:
        return fields.UtcDateTimeInput(**shared)
    if term.type is list:
        return fields.List(fields.UtcDateTimeInput(), validate=validate.Length(low, high), **shared)
    return fields.Dict(keys=fields.String(), **shared)


def _describe(term: Term) -> str:
    """Return what a term says, with the meaning of null and the default."""
    first, _, rest = term.text.partition(".")
    text = f"{first}; null {term.empty}.{rest}" if term.empty else term.text
    return " ".join(sentence for sentence in (text, term.api_text, _describe_default(term)) if sentence)


def _describe_default(term: Term) -> str:
    if term.check:
        return "Null for none."
    if term.is_required or term.type is dict or term.default_text is None:
        return ""
    if term.is_nullable:
        return f"Default: null ({term.default_text})." if term.default_text else "Default: null."
    value = f"`{term.default}`" if term.choices else json.dumps(term.default)
    return f"Default: {term.default_text or value}."


def _view_field(term: Term) -> Field:
    about = _describe(term) if term.check else term.view_text
    shared: dict[str, Any] = {"about": about, "allow_none": term.is_nullable}
    if term.type is datetime:
        return fields.UtcDateTime(**shared)
    if term.type is list:
        return fields.List(fields.UtcDateTime(), **shared)
    if issubclass(term.type, StrEnum):
        return fields.OneOf(term.choices or (), **shared)
    kinds: dict[type, type[Field]] = {bool: fields.Boolean, int: fields.Integer, str: fields.String, dict: fields.Dict}
    return kinds[term.type](**shared)
