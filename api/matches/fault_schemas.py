"""Define the schemas of faults, in lists and as reports, and of the response statistics of a bot."""

import base64
from typing import Any

from marshmallow import fields, validate

from api.fields import Derived, Id, Query, UtcDateTime, Utf8, View, decode_utf8, describe
from api.messages import Length
from api.pagination import PageQuery
from referee.match.match import FAULTS
from referee.matches.logs.recording import MAX_REPORT_BYTES
from referee.protocol.fault_advice import ADVICE

CODES = list(FAULTS)
LONGEST_VERSION = 128


class MatchFaultQuery(PageQuery):
    code = fields.String(validate=validate.OneOf(CODES))
    version = fields.String(validate=Length(1, LONGEST_VERSION), metadata=describe("Version of the bot."))


class FaultQuery(MatchFaultQuery):
    match = Id("mat", attribute="match_id")


class Advice(Derived, fields.String):
    """Serialise the code of a fault as advice about it."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str:
        return ADVICE[value].remedy


class Base64(Derived, fields.String):
    """Serialise bytes in Base64 if they are not UTF-8, otherwise as null."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        return None if value is None or decode_utf8(value) is not None else base64.b64encode(value).decode()


class IsCut(Derived, fields.Boolean):
    """Serialise whether bytes may have been cut off because they were too long to store."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> bool:
        return is_cut(value)


def is_cut(body: bytes | None) -> bool:
    """Return whether ``body`` may have been cut off because it was too long to store."""
    return body is not None and len(body) >= MAX_REPORT_BYTES


class FaultView(View):
    id = fields.Integer(
        attribute="fault.id", metadata=describe("Id of the fault. `GET /faults/{id}` returns the whole report.")
    )
    match = fields.String(attribute="fault.match_id")
    n = fields.Integer(attribute="fault.n", metadata=describe("Number of the decision point in the match."))
    seat = fields.Integer(attribute="fault.seat")
    bot = fields.String(attribute="fault.bot_id")
    version = fields.String(allow_none=True, metadata=describe("Version of the bot when the match began."))
    code = fields.String(
        attribute="fault.code",
        validate=validate.OneOf(CODES),
        metadata=describe("Code of the fault, from a closed list."),
    )
    detail = fields.String(attribute="fault.detail", metadata=describe("A description of what was wrong."))
    advice = Advice("fault.code", metadata=describe("What to do about the fault."))
    timing = fields.Dict(
        attribute="fault.timing", allow_none=True, metadata=describe("Latency breakdown in milliseconds.")
    )
    created_at = UtcDateTime(attribute="fault.created_at")


class FaultReportView(FaultView):
    request = Utf8(
        attribute="fault.request",
        allow_none=True,
        metadata=describe("The exact body that was sent; null if it was not stored."),
    )
    request_cut = IsCut("fault.request", metadata=describe("Whether the stored request may be cut off."))
    reply = Utf8(
        attribute="fault.reply",
        allow_none=True,
        metadata=describe(
            "The response body if it is UTF-8, otherwise null. It is untrusted: display it as text only."
        ),
    )
    reply_base64 = Base64(
        "fault.reply",
        allow_none=True,
        metadata=describe("The response body in Base64 if it is not UTF-8, otherwise null."),
    )
    reply_cut = IsCut("fault.reply", metadata=describe("Whether the stored reply may be cut off."))
    played = fields.Dict(
        allow_none=True, metadata=describe("The action played instead; null while opponents have not acted yet.")
    )
    curl = fields.String(
        allow_none=True,
        metadata=describe("Command that repeats the question, for the owner only; null if there is none."),
    )


class ReportedErrorView(View):
    match = fields.String(attribute="reported.match_id")
    seat = fields.Integer(attribute="reported.seat")
    version = fields.String(allow_none=True, metadata=describe("Version of the bot when the match began."))
    errors = fields.Integer(
        attribute="reported.errors",
        metadata=describe("Number of answers with an error in this match."),
    )
    n = fields.Integer(attribute="reported.n", metadata=describe("Number of the decision point of the last error."))
    error = fields.String(
        attribute="reported.text", metadata=describe("The last error. It is untrusted: display it as text only.")
    )
    created_at = UtcDateTime(attribute="reported.created_at", metadata=describe("When the last error was recorded."))


class ResponseStatsQuery(Query):
    by = fields.String(
        load_default="version",
        validate=validate.OneOf(["version", "day"]),
        metadata=describe("Return one item per version, or one per version and day (UTC)."),
    )


class LatencyView(View):
    p50 = fields.Integer()
    p90 = fields.Integer()
    p99 = fields.Integer()
    max = fields.Integer()


class HistogramBinView(View):
    from_ms = fields.Integer(
        metadata=describe("Lower edge of the bin in milliseconds. The bin ends where the next one begins.")
    )
    decisions = fields.Integer()


class ResponsePeriodView(View):
    version = fields.String(allow_none=True)
    day = fields.Date(allow_none=True)
    first_at = UtcDateTime(metadata=describe("When the first of these matches ended."))
    last_at = UtcDateTime()
    matches = fields.Integer()
    decisions = fields.Integer(metadata=describe("Number of questions sent to the bot."))
    ms = fields.Nested(LatencyView, metadata=describe("Response times in milliseconds, as charged to the bot's clock."))
    histogram = fields.List(
        fields.Nested(HistogramBinView),
        metadata=describe("The same times as a histogram, with bins that begin at 0, 1, 2, 5, 10 … ms."),
    )
    faults = fields.Dict(keys=fields.String(), values=fields.Integer(), metadata=describe("Number of faults by code."))
    errors = fields.Integer(
        metadata=describe("Number of answers with which the bot reported an error of its own code.")
    )


class ResponseStatsView(View):
    bot = fields.String()
    matches = fields.Integer(metadata=describe("Number of matches included: at most the last 200 that are over."))
    items = fields.List(fields.Nested(ResponsePeriodView), metadata=describe("Statistics, latest first."))
