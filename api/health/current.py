"""Read the health of the service in a request. All requests of a process share what was found."""

from flask import current_app

from api.health.checks import Health, ServiceHealth
from api.views import database, get_shared
from referee.settings import Settings


def read_health() -> Health:
    """Return the health of the service, as this process has seen it."""
    settings: Settings = current_app.config["SETTINGS"]
    redis = current_app.extensions["referee.redis"]
    health: ServiceHealth = get_shared(
        "referee.health", lambda: ServiceHealth(database(), redis, slots=settings.runner_slots)
    )
    return health.read()
