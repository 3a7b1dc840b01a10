"""Define the schemas of liveness and readiness."""

from marshmallow import fields

from api.fields import UtcDateTime, View, describe


class AliveView(View):
    status = fields.String(metadata={"enum": ["ok"]})


class ReadyView(View):
    status = fields.String(metadata={"enum": ["ok", "degraded", "unavailable"]})
    database = fields.String(metadata={"enum": ["ok", "unavailable"]})
    redis = fields.String(metadata={"enum": ["ok", "unavailable", "none"]})
    audit = fields.String(metadata={"enum": ["ok", "differs", "none"], "description": "Result of the last audits."})
    audited_at = UtcDateTime(allow_none=True, metadata=describe("When the last audit ended; null if none has."))
    egress = fields.String(metadata={"enum": ["public", "dev"]})
    version = fields.String()
