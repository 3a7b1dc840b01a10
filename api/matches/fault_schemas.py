"""Define the schemas of faults, in lists and as reports, and of the response statistics of a bot."""

import base64
from typing import Any

from api import fields
from api.messages import Length
from api.pagination import PageQuery
from referee.match.match import FAULTS
from referee.matches.logs.recording import MAX_REPORT_BYTES
from referee.protocol.fault_advice import ADVICE

CODES = list(FAULTS)
LONGEST_VERSION = 128


class MatchFaultQuery(PageQuery):
    code = fields.OneOf(CODES)
    version = fields.String("Version of the bot.", validate=Length(1, LONGEST_VERSION))


class FaultQuery(MatchFaultQuery):
    match = fields.Id("mat", attribute="match_id")


class Advice(fields.Derived, fields.String):
    """Serialise the code of a fault as advice about it."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str:
        return ADVICE[value].remedy


class Base64(fields.Derived, fields.String):
    """Serialise bytes in Base64 if they are not UTF-8, otherwise as null."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        return None if value is None or fields.decode_utf8(value) is not None else base64.b64encode(value).decode()


class IsCut(fields.Derived, fields.Boolean):
    """Serialise whether bytes may have been cut off because they were too long to store."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> bool:
        return is_cut(value)


def is_cut(body: bytes | None) -> bool:
    """Return whether ``body`` may have been cut off because it was too long to store."""
    return body is not None and len(body) >= MAX_REPORT_BYTES


class FaultView(fields.View):
    id = fields.Integer("Id of the fault. `GET /faults/{id}` returns the whole report.", attribute="fault.id")
    match = fields.String(attribute="fault.match_id")
    n = fields.Integer("Number of the decision point in the match.", attribute="fault.n")
    seat = fields.Integer(attribute="fault.seat")
    bot = fields.String(attribute="fault.bot_id")
    version = fields.String("Version of the bot when the match began.", allow_none=True)
    code = fields.OneOf(CODES, "Code of the fault, from a closed list.", attribute="fault.code")
    detail = fields.String("A description of what was wrong.", attribute="fault.detail")
    advice = Advice("fault.code", "What to do about the fault.")
    timing = fields.Dict("Latency breakdown in milliseconds.", allow_none=True, attribute="fault.timing")
    created_at = fields.UtcDateTime(attribute="fault.created_at")


class FaultReportView(FaultView):
    request = fields.Utf8(
        "The exact body that was sent; null if it was not stored.", allow_none=True, attribute="fault.request"
    )
    request_cut = IsCut("fault.request", "Whether the stored request may be cut off.")
    reply = fields.Utf8(
        "The response body if it is UTF-8, otherwise null. It is untrusted: display it as text only.",
        allow_none=True,
        attribute="fault.reply",
    )
    reply_base64 = Base64(
        "fault.reply", "The response body in Base64 if it is not UTF-8, otherwise null.", allow_none=True
    )
    reply_cut = IsCut("fault.reply", "Whether the stored reply may be cut off.")
    played = fields.Dict("The action played instead; null while opponents have not acted yet.", allow_none=True)
    curl = fields.String(
        "Command that repeats the question, for the owner only; null if there is none.", allow_none=True
    )


class ReportedErrorView(fields.View):
    match = fields.String(attribute="reported.match_id")
    seat = fields.Integer(attribute="reported.seat")
    version = fields.String("Version of the bot when the match began.", allow_none=True)
    errors = fields.Integer("Number of answers with an error in this match.", attribute="reported.errors")
    n = fields.Integer("Number of the decision point of the last error.", attribute="reported.n")
    error = fields.String("The last error. It is untrusted: display it as text only.", attribute="reported.text")
    created_at = fields.UtcDateTime("When the last error was recorded.", attribute="reported.created_at")


class LatencyView(fields.View):
    p50 = fields.Integer()
    p90 = fields.Integer()
    p99 = fields.Integer()
    max = fields.Integer()


class HistogramBinView(fields.View):
    from_ms = fields.Integer("Lower edge of the bin in milliseconds. The bin ends where the next one begins.")
    decisions = fields.Integer()


class ResponsePeriodView(fields.View):
    version = fields.String(allow_none=True)
    first_at = fields.UtcDateTime("When the first of these matches ended.")
    last_at = fields.UtcDateTime()
    matches = fields.Integer()
    decisions = fields.Integer("Number of questions sent to the bot.")
    ms = fields.Nested(LatencyView, "Response times in milliseconds, as charged to the bot's clock.")
    histogram = fields.List(
        fields.Nested(HistogramBinView), "The same times as a histogram, with bins that begin at 0, 1, 2, 5, 10 … ms."
    )
    faults = fields.Dict("Number of faults by code.", keys=fields.String(), values=fields.Integer())
    errors = fields.Integer("Number of answers with which the bot reported an error of its own code.")


class ResponseStatsView(fields.View):
    bot = fields.String()
    matches = fields.Integer("Number of matches included: at most the last 200 that are over.")
    items = fields.List(fields.Nested(ResponsePeriodView), "Statistics, latest first.")
