"""Run all checks of a deployment, in the order in which one would mend what they find."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from referee import plugs
from referee.db.engine import Database
from referee.errors import RefereeError
from referee.runtime.data_dir import DataDir
from referee.runtime.embedded_redis import socket_url
from referee.settings import Settings
from referee_extras.doctor import local_checks, network_checks, public_checks, store_checks
from referee_extras.doctor.findings import DeploymentFinding, failure, skip_check

# All checks but those of settings, which all others need. Some report under several names.
CHECKS: Final = (
    *("disk", "database", "keys", "redis", "runners", "clocks", "backups", "egress", "firewall"),
    "public",
)


@dataclass(frozen=True, slots=True)
class Options:
    """Hold what the operator asks for: the public URL, the folder of backups, and the ``CHECKS`` to leave out."""

    url: str | None = None
    backups: Path | None = None
    without: Collection[str] = ()


def examine(environment: Mapping[str, str], options: Options) -> Iterator[DeploymentFinding]:
    """Yield the findings of all checks. ``environment`` has the variables of this process.

    Without valid settings, nothing else can be checked.
    """
    findings, settings = local_checks.check_settings(environment)
    yield from findings
    if settings is None:
        return
    settings = _find_redis(settings)
    try:
        database = Database.from_settings(settings)
    except RefereeError as error:
        yield failure("database", str(error).rstrip("."), "Correct DATABASE_URL, or unset it for SQLite.")
        return
    try:
        checks = _create_checks(settings, database, environment, options)
        for name in CHECKS:
            if name not in options.without:
                yield from checks[name]()
    finally:
        database.dispose()


def _create_checks(
    settings: Settings, database: Database, environment: Mapping[str, str], options: Options
) -> dict[str, Callable[[], Iterable[DeploymentFinding]]]:
    url, redis_url = options.url, settings.redis_url
    return {
        "disk": lambda: local_checks.check_disk(_list_folders(settings, database)),
        "database": lambda: store_checks.check_database(database),
        "keys": lambda: [local_checks.check_keys(settings, environment, database)],
        "redis": lambda: _check_redis(settings),
        "runners": lambda: [] if redis_url is None else store_checks.check_runners(redis_url),
        "clocks": lambda: store_checks.check_clocks(
            database, redis_url, date_ahead_s=None if url is None else public_checks.read_date(url)
        ),
        "backups": lambda: [
            store_checks.check_backups(options.backups, plugs.load(extra.offers["doctor"]))
            for extra in plugs.extras()
            if "doctor" in extra.offers
        ],
        "egress": lambda: network_checks.check_egress(settings),
        "firewall": lambda: [network_checks.check_firewall()],
        "public": lambda: _check_public(url, settings),
    }


def _list_folders(settings: Settings, database: Database) -> set[Path]:
    folders = {settings.data_dir} if settings.data_dir.exists() else set()
    return folders | ({Path(str(database.url.database)).parent} if database.is_sqlite else set())


def _check_redis(settings: Settings) -> list[DeploymentFinding]:
    if settings.redis_url is None:
        advice = "Set REDIS_URL, or start `referee up`, which starts one."
        return [failure("redis", "REDIS_URL is not set, and no `referee up` uses this data directory", advice)]
    return store_checks.check_redis(settings.redis_url, settings.env == "production")


def _check_public(url: str | None, settings: Settings) -> list[DeploymentFinding]:
    if url is not None:
        return public_checks.check_public(url, settings)
    advice = "Pass the public URL of the service with --url."
    return [skip_check(check, "not checked", advice) for check in ("proxy", "streams", "tls")]


def _find_redis(settings: Settings) -> Settings:
    """Return the settings with the Redis that `referee up` has started in the data directory, if there is one."""
    data_dir = DataDir(settings.data_dir)
    if settings.redis_url is None and data_dir.owner() is not None:
        return replace(settings, redis_url=socket_url(data_dir.socket()))
    return settings
