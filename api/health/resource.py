"""Report whether the process responds, and whether its database and Redis are available."""

import logging
from datetime import datetime
from functools import partial
from typing import Any, Final

from flask import current_app
from sqlalchemy.exc import SQLAlchemyError

from api.extended import Extended
from api.health.checks import Health, ServiceHealth, find_play_obstacle
from api.health.schemas import AliveView, PlayView, ReadyView
from api.views import Resource, database, get_shared
from referee import __version__
from referee.audit import nightly
from referee.db.health import DatabaseHealth
from referee.errors import RefereeError
from referee.settings import Settings

log = logging.getLogger(__name__)

resource = Resource("health", "/", "Health checks for supervisors and load balancers.")

UNAVAILABLE: Final = {
    "description": "The database is not available.",
    "content": {"application/json": {"schema": ReadyView}},
}
NOT_PLAYED: Final = {
    "description": "Nothing is played; `reason` says why.",
    "content": {"application/json": {"schema": PlayView}},
}


@resource.get("/healthz", None, AliveView, transaction=None)
def alive() -> Any:
    """Check that the process responds

    The response never depends on the database or Redis: for these, ask `GET /readyz`.
    """
    return {"status": "ok"}


@resource.get("/playz", None, PlayView, transaction=None, documents={"responses": {503: NOT_PLAYED}})
def playing() -> Any:
    """Check that matches are played

    The response is a 503 when due matches, handshakes, checks or messages have waited for 60 s although runners could
    claim them, when the process that answers has known of no worker for 30 s, and without a database. The result is
    cached for 3 s. Without Redis or a scheduler, the process that answers watches the queue itself while it is asked at
    least every 15 s.
    """
    health = read_health()
    obstacle = find_play_obstacle(health)
    known = "Redis is not available, so workers are not counted."
    if health.workers is not None:
        known = f"Workers alive: {health.workers}."
    waits = "No due work is left waiting."
    if health.stalled_s is not None:
        waits = f"Due {health.stalled_what} have waited for {health.stalled_s} s."
    return {
        "status": "ok" if obstacle is None else "unavailable",
        "reason": obstacle or f"{waits} {known}",
        "overdue": None if health.stalled_s is None else health.stalled_what,
        "overdue_s": health.stalled_s,
        "workers": health.workers,
    }, 200 if obstacle is None else 503


@resource.get("/readyz", None, ReadyView, transaction=None, documents={"responses": {503: UNAVAILABLE}})
def ready() -> Any:
    """Check that the service can work

    Both the database and Redis must store something; the result is cached for 3 s. Without a database that can be
    written, the response is a 503. Without Redis, the service is only degraded: matches are still played, but live
    pages and rate limits work separately in each process. It is degraded, too, when the last audit found logs or
    ratings that differ; when due work has waited for 30 s although runners could claim it, or no scheduler
    watches it; and when this process or a worker lacks file descriptors, threads or memory. With `egress: private`,
    bots may have the addresses in `private_bots`; with `egress: dev`, the service may call other private ones, too.
    """
    health = read_health()
    available = health.database == DatabaseHealth.OK
    audit, audited_at = audit_state() if available else ("none", None)
    is_whole = health.is_whole and audit != "differs"
    status = "unavailable" if not available else "ok" if is_whole else "degraded"
    settings: Settings = current_app.config["SETTINGS"]
    egress = "dev" if settings.egress_allow else "private" if settings.private_bots else "public"
    more = {"status": status, "audit": audit, "audited_at": audited_at, "egress": egress, "version": __version__}
    stalled_s = health.stalled_s if health.queue == "stalled" else None
    private_bots = settings.private_bots.split(",") if settings.private_bots else []
    return Extended(health, queue_stalled_s=stalled_s, private_bots=private_bots, **more), 200 if available else 503


def read_health() -> Health:
    """Return the health of the service, as this process has seen it."""
    settings: Settings = current_app.config["SETTINGS"]
    redis = current_app.extensions["referee.redis"]
    make = partial(ServiceHealth, database(), redis, slots=settings.runner_slots)
    return get_shared("referee.health", make).read()


def audit_state() -> tuple[str, datetime | None]:
    """Return the result of the last audits, and when the last one ended."""
    try:
        with database().read() as session:
            state = nightly.load_state(session)
    except (SQLAlchemyError, RefereeError) as error:
        log.warning("database_unavailable", extra={"error": type(error).__name__})
        return "none", None
    return "differs" if state.differences else "ok" if state.finished_at else "none", state.finished_at
