"""Whether this process lives, and whether what it needs is there."""

import logging
from typing import Any

from flask import current_app
from redis import Redis, RedisError
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from api.health.schemas import AliveView, ReadyView
from api.views import Resource, database
from referee import __version__
from referee.errors import RefereeError

log = logging.getLogger(__name__)

resource = Resource("health", "/", "For supervisors and load balancers.")


@resource.route("GET", "/healthz")
@resource.response(AliveView)
def alive() -> Any:
    """Whether the process answers"""
    return {"status": "ok"}


@resource.route("GET", "/readyz")
@resource.response(ReadyView)
def ready() -> Any:
    """Whether the service can work

    503 without the record. Without Redis it is only degraded: matches are played all the same, live pages and rate
    limits are local to a process. `egress: dev` says that private addresses may be called.
    """
    record, queue = database_state(), redis_state()
    good = record == "ok"
    status = "unavailable" if not good else "ok" if queue == "ok" else "degraded"
    egress = "dev" if current_app.config["SETTINGS"].egress_allow else "public"
    report = {"status": status, "database": record, "redis": queue, "egress": egress, "version": __version__}
    return report, 200 if good else 503


def database_state() -> str:
    try:
        with database().read() as session:
            session.execute(text("SELECT count(*) FROM accounts WHERE id = ''"))
    except (SQLAlchemyError, RefereeError) as error:
        log.warning("record unavailable", extra={"error": type(error).__name__})
        return "unavailable"
    return "ok"


def redis_state() -> str:
    connection: Redis | None = current_app.extensions["referee.redis"]
    if connection is None:
        return "none"
    try:
        connection.ping()
    except RedisError:
        return "unavailable"
    return "ok"
