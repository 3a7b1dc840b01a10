"""The evidence of faults, short in lists and whole, and how a bot did over time."""

import base64
from typing import Any

from marshmallow import fields, validate

from api.fields import Derived, Id, Query, Strict, UtcDateTime, Utf8, text_of
from api.pagination import PageQuery
from referee.match.match import FAULTS
from referee.matches.recording import MAX_REPORT_BYTES
from referee.protocol.fault_advice import ADVICE

CODES = list(FAULTS)
LONGEST_VERSION = 128


class MatchFaultQuery(PageQuery):
    code = fields.String(validate=validate.OneOf(CODES))
    version = fields.String(validate=validate.Length(1, LONGEST_VERSION), metadata={"description": "of the bot"})


class FaultQuery(MatchFaultQuery):
    match = Id("mat")


class Advice(Derived, fields.String):
    """What to do about a fault, by its code."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str:
        return ADVICE[value].remedy


class Base64(Derived, fields.String):
    """Bytes that are not UTF-8; null for those that are."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        return None if value is None or text_of(value) is not None else base64.b64encode(value).decode()


class IsCut(Derived, fields.Boolean):
    """True for bytes of which there may have been more than are kept."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> bool:
        return is_cut(value)


def is_cut(body: bytes | None) -> bool:
    """Return whether there may have been more of ``body`` than is kept."""
    return body is not None and len(body) >= MAX_REPORT_BYTES


class FaultView(Strict):
    id = fields.Integer(
        attribute="fault.id", required=True, metadata={"description": "GET /faults/{id} shows all of it"}
    )
    match = fields.String(attribute="fault.match_id", required=True)
    n = fields.Integer(
        attribute="fault.n", required=True, metadata={"description": "number of the decision point in the match"}
    )
    seat = fields.Integer(attribute="fault.seat", required=True)
    bot = fields.String(attribute="fault.bot_id", required=True)
    version = fields.String(required=True, allow_none=True, metadata={"description": "with which the match began"})
    code = fields.String(
        attribute="fault.code", required=True, validate=validate.OneOf(CODES), metadata={"description": "a closed list"}
    )
    detail = fields.String(attribute="fault.detail", required=True, metadata={"description": "what exactly was wrong"})
    advice = Advice("fault.code", required=True, metadata={"description": "what to do about it"})
    timing = fields.Dict(
        attribute="fault.timing", required=True, allow_none=True, metadata={"description": "where the time went"}
    )
    created_at = UtcDateTime(attribute="fault.created_at", required=True)


class EvidenceView(FaultView):
    request = Utf8(
        attribute="fault.request", required=True, allow_none=True, metadata={"description": "the exact body we sent"}
    )
    request_cut = IsCut("fault.request", required=True, metadata={"description": "more was sent than is kept"})
    reply = Utf8(
        attribute="fault.reply",
        required=True,
        allow_none=True,
        metadata={"description": "the body that came back, where it is UTF-8; a stranger's text: show it as text only"},
    )
    reply_base64 = Base64(
        "fault.reply",
        required=True,
        allow_none=True,
        metadata={"description": "the body that came back, where it is no UTF-8"},
    )
    reply_cut = IsCut("fault.reply", required=True, metadata={"description": "more may have come than is kept"})
    played = fields.Dict(
        required=True,
        allow_none=True,
        metadata={"description": "the action played instead; null while rivals still owe theirs"},
    )
    curl = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "for the owner: asks the bot the same again, signed with $REFEREE_BOT_SECRET when it is run"
        },
    )


class PaceQuery(Query):
    by = fields.String(
        load_default="version",
        validate=validate.OneOf(["version", "day"]),
        metadata={"description": "one item a version, or one a version and day (UTC)"},
    )


class LatencyView(Strict):
    p50 = fields.Integer(required=True)
    p90 = fields.Integer(required=True)
    p99 = fields.Integer(required=True)
    max = fields.Integer(required=True)


class BarView(Strict):
    from_ms = fields.Integer(required=True, metadata={"description": "up to where the next one begins"})
    decisions = fields.Integer(required=True)


class StretchView(Strict):
    version = fields.String(required=True, allow_none=True)
    day = fields.Date(required=True, allow_none=True)
    first_at = UtcDateTime(required=True, metadata={"description": "when the first of these matches ended"})
    last_at = UtcDateTime(required=True)
    matches = fields.Integer(required=True)
    decisions = fields.Integer(required=True, metadata={"description": "questions it was asked"})
    ms = fields.Nested(LatencyView, required=True, metadata={"description": "what they took, as charged to its clock"})
    histogram = fields.List(
        fields.Nested(BarView), required=True, metadata={"description": "the same times in bars of 1, 2, 5, 10 … ms"}
    )
    faults = fields.Dict(
        keys=fields.String(), values=fields.Integer(), required=True, metadata={"description": "how many, by code"}
    )


class PaceView(Strict):
    bot = fields.String(required=True)
    matches = fields.Integer(required=True, metadata={"description": "that were looked at: the last 200 that are over"})
    items = fields.List(fields.Nested(StretchView), required=True, metadata={"description": "the latest first"})
