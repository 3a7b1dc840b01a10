"""Report whether the process responds, and whether its database and Redis are available."""

import logging
from datetime import datetime
from typing import Any

from flask import current_app
from redis import Redis, RedisError
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from api.health.schemas import AliveView, ReadyView
from api.views import Resource, database
from referee import __version__
from referee.errors import RefereeError
from referee.ladders import nightly_audit

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
    but live pages and rate limits work separately in each process. It is degraded, too, when the last audit found logs
    or ratings that differ. With `egress: dev`, the service may call private addresses.
    """
    database_status, redis_status = database_state(), redis_state()
    available = database_status == "ok"
    audit, audited_at = audit_state() if available else ("none", None)
    is_whole = redis_status == "ok" and audit != "differs"
    status = "unavailable" if not available else "ok" if is_whole else "degraded"
    egress = "dev" if current_app.config["SETTINGS"].egress_allow else "public"
    return {
        "status": status,
        "database": database_status,
        "redis": redis_status,
        "audit": audit,
        "audited_at": audited_at,
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


def audit_state() -> tuple[str, datetime | None]:
    """Return the result of the last audits, and when the last one ended."""
    try:
        with database().read() as session:
            state = nightly_audit.load_state(session)
    except (SQLAlchemyError, RefereeError) as error:
        log.warning("database_unavailable", extra={"error": type(error).__name__})
        return "none", None
    return "differs" if state.differences else "ok" if state.finished_at else "none", state.finished_at


def redis_state() -> str:
    connection: Redis | None = current_app.extensions["referee.redis"]
    if connection is None:
        return "none"
    try:
        connection.ping()
    except RedisError:
        return "unavailable"
    return "ok"
