"""Define the schemas of liveness and readiness."""

from typing import get_args

from api import fields
from api.fields import UtcDateTime, View
from api.health.checks import QueueHealth, RedisHealth, ResourceHealth
from referee.db.health import DatabaseHealth


class AliveView(View):
    status = fields.OneOf(["ok"])


class PlayView(View):
    status = fields.OneOf(["ok", "unavailable"])
    reason = fields.String("Why nothing is played, or what is known, as a sentence.")
    overdue = fields.String("What has been due for 30 s or longer: matches, handshakes, …; else null.", allow_none=True)
    overdue_s = fields.Integer("For how long it has been due.", allow_none=True)
    workers = fields.Integer("Workers with a recent heartbeat; null without Redis.", allow_none=True)


class ReadyView(View):
    status = fields.OneOf(["ok", "degraded", "unavailable"])
    database = fields.OneOf(DatabaseHealth)
    redis = fields.OneOf(get_args(RedisHealth))
    queue = fields.OneOf(
        get_args(QueueHealth),
        "Whether due work is claimed; `unwatched` without a scheduler, `unknown` shortly after the start or "
        "without Redis. Matches whose bots are full or paused do not count as waiting.",
    )
    queue_stalled_s = fields.Integer(
        "For how long due work has waited that a runner could claim; null unless `queue` is `stalled`.", allow_none=True
    )
    workers = fields.Integer("Workers with a recent heartbeat.", allow_none=True)
    files = fields.OneOf(get_args(ResourceHealth), "`short` if this process uses nine tenths of its file descriptors.")
    runners = fields.OneOf(
        get_args(ResourceHealth), "`short` if a worker lacked file descriptors, threads or memory in the last minute."
    )
    shortages = fields.List(fields.String(), "What workers lack.")
    audit = fields.OneOf(["ok", "differs", "none"], "Result of the last audits.")
    audited_at = UtcDateTime("When the last audit ended; null if none has.", allow_none=True)
    egress = fields.OneOf(["public", "private", "dev"])
    private_bots = fields.List(fields.String(), "Ranges and ports on a private network that bots may have.")
    version = fields.String()
