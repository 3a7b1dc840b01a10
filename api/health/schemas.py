"""Whether the service lives and can work."""

from marshmallow import fields

from api.fields import Strict


class AliveView(Strict):
    status = fields.String(required=True, metadata={"enum": ["ok"]})


class ReadyView(Strict):
    status = fields.String(required=True, metadata={"enum": ["ok", "degraded", "unavailable"]})
    database = fields.String(required=True, metadata={"enum": ["ok", "unavailable"]})
    redis = fields.String(required=True, metadata={"enum": ["ok", "unavailable", "none"]})
    egress = fields.String(required=True, metadata={"enum": ["public", "dev"]})
    version = fields.String(required=True)
