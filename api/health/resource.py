"""Report whether the process responds, and whether its database and Redis are available."""

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

resource = Resource("health", "/", "Health checks for supervisors and load balancers.")


@resource.get("/healthz", None, AliveView, transaction=None)
def alive() -> Any:
    """Check that the process responds"""
    return {"status": "ok"}


@resource.get("/readyz", None, ReadyView, transaction=None)
def ready() -> Any:
    """Check that the service can work

    Without a database, the response is a 503. Without Redis, the service is only degraded: matches are still played,
    but live pages and rate limits work separately in each process. With `egress: dev`, the service may call private
    addresses.
    """
    database_status, redis_status = database_state(), redis_state()
    available = database_status == "ok"
    status = "unavailable" if not available else "ok" if redis_status == "ok" else "degraded"
    egress = "dev" if current_app.config["SETTINGS"].egress_allow else "public"
    return {
        "status": status,
        "database": database_status,
        "redis": redis_status,
        "egress": egress,
        "version": __version__,
    }, 200 if available else 503


def database_state() -> str:
    try:
        with database().read() as session:
            session.execute(text("SELECT count(*) FROM accounts WHERE id = ''"))
    except (SQLAlchemyError, RefereeError) as error:
        log.warning("database_unavailable", extra={"error": type(error).__name__})
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
