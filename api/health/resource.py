"""Report whether the process responds, and whether its database and Redis are available."""

import logging
from datetime import datetime
from typing import Any

from flask import current_app
from sqlalchemy.exc import SQLAlchemyError

from api.health.checks import ServiceHealth
from api.health.schemas import AliveView, ReadyView
from api.views import Resource, database, get_shared
from referee import __version__
from referee.db.health import DatabaseHealth
from referee.errors import RefereeError
from referee.ladders import nightly_audit
from referee.settings import Settings

log = logging.getLogger(__name__)

resource = Resource("health", "/", "Health checks for supervisors and load balancers.")


@resource.get("/healthz", None, AliveView, transaction=None)
def alive() -> Any:
    """Check that the process responds"""
    return {"status": "ok"}


@resource.get("/readyz", None, ReadyView, transaction=None)
def ready() -> Any:
    """Check that the service can work

    Both the database and Redis must store something; the result is cached for 3 s. Without a database that can be
    written, the response is a 503. Without Redis, the service is only degraded: matches are still played, but live
    pages and rate limits work separately in each process. It is degraded, too, when the last audit found logs or
    ratings that differ; when due matches have waited for 30 s although runners could claim them, or no scheduler
    watches them; and when this process or a worker lacks file descriptors, threads or memory. With `egress: private`,
    bots may have the addresses in `private_bots`; with `egress: dev`, the service may call other private ones, too.
    """
    health = get_shared(
        "referee.health", lambda: ServiceHealth(database(), current_app.extensions["referee.redis"])
    ).read()
    available = health.database == DatabaseHealth.OK
    audit, audited_at = audit_state() if available else ("none", None)
    is_whole = health.is_whole and audit != "differs"
    status = "unavailable" if not available else "ok" if is_whole else "degraded"
    settings: Settings = current_app.config["SETTINGS"]
    egress = "dev" if settings.egress_allow else "private" if settings.private_bots else "public"
    return {
        "status": status,
        "database": health.database,
        "redis": health.redis,
        "queue": health.queue,
        "queue_stalled_s": health.stalled_s,
        "workers": health.workers,
        "files": health.files,
        "runners": health.runners,
        "shortages": health.shortages,
        "audit": audit,
        "audited_at": audited_at,
        "egress": egress,
        "private_bots": settings.private_bots.split(",") if settings.private_bots else [],
        "version": __version__,
    }, 200 if available else 503


def audit_state() -> tuple[str, datetime | None]:
    """Return the result of the last audits, and when the last one ended."""
    try:
        with database().read() as session:
            state = nightly_audit.load_state(session)
    except (SQLAlchemyError, RefereeError) as error:
        log.warning("database_unavailable", extra={"error": type(error).__name__})
        return "none", None
    return "differs" if state.differences else "ok" if state.finished_at else "none", state.finished_at
