"""The evidence of faults, short in lists and whole, and how a bot did over time."""

from marshmallow import fields, validate

from api.fields import Id, Moment, Query, Strict
from api.pagination import PageQuery
from referee.match.match import FAULTS

CODES = list(FAULTS)
LONGEST_VERSION = 128


class MatchFaultQuery(PageQuery):
    code = fields.String(validate=validate.OneOf(CODES))
    version = fields.String(validate=validate.Length(1, LONGEST_VERSION), metadata={"description": "of the bot"})


class FaultQuery(MatchFaultQuery):
    match = Id("mat")


class FaultView(Strict):
    id = fields.Integer(required=True, metadata={"description": "GET /faults/{id} shows all of it"})
    match = fields.String(required=True)
    n = fields.Integer(required=True, metadata={"description": "number of the decision point in the match"})
    seat = fields.Integer(required=True)
    bot = fields.String(required=True)
    version = fields.String(required=True, allow_none=True, metadata={"description": "with which the match began"})
    code = fields.String(required=True, validate=validate.OneOf(CODES), metadata={"description": "a closed list"})
    detail = fields.String(required=True, metadata={"description": "what exactly was wrong"})
    advice = fields.String(required=True, metadata={"description": "what to do about it"})
    timing = fields.Dict(required=True, allow_none=True, metadata={"description": "where the time went"})
    created_at = Moment(required=True)


class EvidenceView(FaultView):
    request = fields.String(required=True, allow_none=True, metadata={"description": "the exact body we sent"})
    request_cut = fields.Boolean(required=True, metadata={"description": "more was sent than is kept"})
    reply = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "the body that came back, where it is UTF-8; a stranger's text: show it as text only"},
    )
    reply_base64 = fields.String(
        required=True, allow_none=True, metadata={"description": "the body that came back, where it is no UTF-8"}
    )
    reply_cut = fields.Boolean(required=True, metadata={"description": "more may have come than is kept"})
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
    first_at = Moment(required=True, metadata={"description": "when the first of these matches ended"})
    last_at = Moment(required=True)
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
