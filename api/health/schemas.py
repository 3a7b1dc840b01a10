"""Define the schemas of liveness and readiness."""

from typing import get_args

from marshmallow import fields, validate

from api.fields import UtcDateTime, View, describe, member_of
from api.health.checks import QueueHealth, RedisHealth, ResourceHealth
from referee.db.health import DatabaseHealth


class AliveView(View):
    status = fields.String(metadata={"enum": ["ok"]})


class PlayView(View):
    status = fields.String(metadata={"enum": ["ok", "unavailable"]})
    reason = fields.String(metadata=describe("Why nothing is played, or what is known, as a sentence."))
    overdue = fields.String(
        allow_none=True, metadata=describe("What has been due for 30 s or longer: matches, handshakes, …; else null.")
    )
    overdue_s = fields.Integer(allow_none=True, metadata=describe("For how long it has been due."))
    workers = fields.Integer(allow_none=True, metadata=describe("Workers with a recent heartbeat; null without Redis."))


class ReadyView(View):
    status = fields.String(metadata={"enum": ["ok", "degraded", "unavailable"]})
    database = fields.String(validate=member_of(DatabaseHealth))
    redis = fields.String(validate=validate.OneOf(get_args(RedisHealth)))
    queue = fields.String(
        validate=validate.OneOf(get_args(QueueHealth)),
        metadata=describe(
            "Whether due work is claimed; `unwatched` without a scheduler, `unknown` shortly after the start or "
            "without Redis. Matches whose bots are full or paused do not count as waiting."
        ),
    )
    queue_stalled_s = fields.Integer(
        allow_none=True,
        metadata=describe(
            "For how long due work has waited that a runner could claim; null unless `queue` is `stalled`."
        ),
    )
    workers = fields.Integer(allow_none=True, metadata=describe("Workers with a recent heartbeat."))
    files = fields.String(
        validate=validate.OneOf(get_args(ResourceHealth)),
        metadata=describe("`short` if this process uses nine tenths of its file descriptors."),
    )
    runners = fields.String(
        validate=validate.OneOf(get_args(ResourceHealth)),
        metadata=describe("`short` if a worker lacked file descriptors, threads or memory in the last minute."),
    )
    shortages = fields.List(fields.String(), metadata=describe("What workers lack."))
    audit = fields.String(metadata={"enum": ["ok", "differs", "none"], "description": "Result of the last audits."})
    audited_at = UtcDateTime(allow_none=True, metadata=describe("When the last audit ended; null if none has."))
    egress = fields.String(metadata={"enum": ["public", "private", "dev"]})
    private_bots = fields.List(
        fields.String(), metadata=describe("Ranges and ports on a private network that bots may have.")
    )
    version = fields.String()
