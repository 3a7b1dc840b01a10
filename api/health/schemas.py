"""Define the schemas of liveness and readiness."""

from marshmallow import fields

from api.fields import View


class AliveView(View):
    status = fields.String(metadata={"enum": ["ok"]})


class ReadyView(View):
    status = fields.String(metadata={"enum": ["ok", "degraded", "unavailable"]})
    database = fields.String(metadata={"enum": ["ok", "unavailable"]})
    redis = fields.String(metadata={"enum": ["ok", "unavailable", "none"]})
    egress = fields.String(metadata={"enum": ["public", "dev"]})
    version = fields.String()
