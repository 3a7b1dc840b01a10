"""Define the schemas of liveness and readiness."""

from typing import get_args

from marshmallow import fields, validate

from api.fields import UtcDateTime, View, describe, member_of
from api.health.checks import RedisHealth
from referee.db.health import DatabaseHealth


class AliveView(View):
    status = fields.String(metadata={"enum": ["ok"]})


class ReadyView(View):
    status = fields.String(metadata={"enum": ["ok", "degraded", "unavailable"]})
    database = fields.String(validate=member_of(DatabaseHealth))
    redis = fields.String(validate=validate.OneOf(get_args(RedisHealth)))
    audit = fields.String(metadata={"enum": ["ok", "differs", "none"], "description": "Result of the last audits."})
    audited_at = UtcDateTime(allow_none=True, metadata=describe("When the last audit ended; null if none has."))
    egress = fields.String(metadata={"enum": ["public", "dev"]})
    version = fields.String()
