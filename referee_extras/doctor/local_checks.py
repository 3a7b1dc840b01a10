"""Check what this host has: settings, keys, and room on the disk."""

import difflib
import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from referee.db.engine import Database
from referee.errors import RefereeError
from referee.master_keys import key_ring
from referee.match.signing_keys import SigningKey
from referee.matches.logs import chain
from referee.settings import BadSettings, Settings, setting_defaults
from referee_extras.doctor.findings import DeploymentFinding, failure, ok, warning

OTHER_VARIABLES: Final = {  # read by Compose or by commands
    *("REFEREE_DATA", "REFEREE_URL", "REFEREE_TOKEN", "REFEREE_TOKEN_FILE", "REFEREE_LISTEN", "REFEREE_WORKERS"),
    *("REFEREE_SECRET", "REFEREE_BOT_SECRET", "REFEREE_VERSION"),
    "REFEREE_ACCEPTED_MASTER_KEYS",  # a part of the setting ``master_key``
}
FREE_WARNING_BYTES: Final = 2 << 30
FREE_FAILURE_BYTES: Final = 256 << 20


def check_settings(environment: Mapping[str, str]) -> tuple[list[DeploymentFinding], Settings | None]:
    """Return what is wrong with the settings, and the settings unless they are invalid."""
    findings = [*_find_unknown(environment)]
    try:
        settings = Settings.load()
    except (BadSettings, OSError) as error:
        return [
            *findings,
            failure("settings", str(error).rstrip("."), "Correct the variable; docs/operations.md lists all."),
        ], None
    findings += _find_contradictions(settings, environment)
    return findings or [ok("settings", f"{settings.env}; all names are known, and nothing contradicts")], settings


def _find_unknown(environment: Mapping[str, str]) -> Iterator[DeploymentFinding]:
    known = {f"REFEREE_{name.upper()}" for name in setting_defaults()} | OTHER_VARIABLES
    for name in sorted(environment):
        if name.startswith("REFEREE_") and name not in known:
            near = difflib.get_close_matches(name, sorted(known), 1, 0.7)
            advice = f"Did you mean {near[0]}?" if near else "Remove it; docs/operations.md lists all names."
            yield warning("settings", f"{name} is set, but no setting has this name", advice)


def _find_contradictions(settings: Settings, environment: Mapping[str, str]) -> Iterator[DeploymentFinding]:
    is_production = settings.env == "production"
    if is_production and not settings.public_url.startswith("https://"):
        found = f"REFEREE_PUBLIC_URL is {settings.public_url} in production"
        yield warning("settings", found, "Set it to the https URL that people use; links and notifications contain it.")
    if is_production and not settings.allowed_hosts:
        found = "REFEREE_ALLOWED_HOSTS is empty in production: any Host header is served"
        yield warning("settings", found, "Set it to the host name of REFEREE_PUBLIC_URL.")
    host = settings.public_url.partition("://")[2].partition("/")[0].partition(":")[0]
    if settings.allowed_hosts and host not in settings.allowed_hosts:
        found = f"REFEREE_ALLOWED_HOSTS does not contain {host}, the host of REFEREE_PUBLIC_URL"
        yield failure("settings", found, "Add it, or requests to the public URL are answered with 400.")
    if not is_production and settings.public_url.startswith("https://"):
        found = "REFEREE_ENV is development, but REFEREE_PUBLIC_URL is an https URL"
        yield warning("settings", found, "Set REFEREE_ENV=production on a service for strangers.")
    if not settings.rate_limits and is_production:
        yield warning("settings", "REFEREE_RATE_LIMITS is off in production", "Turn it on.")
    if environment.get("REDIS_URL") and settings.database_url.startswith("sqlite") and is_production:
        found = "DATABASE_URL is not set: SQLite serves the processes of one host only"
        yield warning("settings", found, "Set it to the PostgreSQL server if the service has several hosts.")


def check_keys(settings: Settings, environment: Mapping[str, str], database: Database | None) -> DeploymentFinding:
    """Check that the master key is private, and that it, or one that is accepted, signed what was published last."""
    path = settings.data_dir / "master.key"
    if not environment.get("REFEREE_MASTER_KEY"):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            found = f"{path} has mode {mode:04o}: other users of this host may read the master key"
            return failure("keys", found, f"Run: chmod 600 {path}")
    key, *accepted = [SigningKey.derive(each).public.id for each in key_ring(settings.master_key)]
    try:
        published = _last_signing_key(database) if database is not None else None
    except (SQLAlchemyError, RefereeError):
        published = None
    if published is not None and published not in (key, *accepted):
        return failure(
            "keys",
            f"this master key signs with key {key}, but the last log was signed with {published}",
            "Set the master key of the service. If you changed it on purpose, announce the new key.",
        )
    if published in accepted:
        said = f"the last log was signed with the accepted key {published}"
    else:
        said = "no log has been signed yet" if published is None else "the last log was signed with it"
    return ok("keys", f"the master key is private; it signs with key {key}; {said}")


def _last_signing_key(database: Database) -> str | None:
    with database.read() as session:
        head = chain.find_head(session)
    return None if head is None else head.key


def check_disk(folders: Collection[Path], free_bytes: int | None = None) -> list[DeploymentFinding]:
    """Check that each folder can be written to and has room. ``free_bytes`` replaces what is measured."""
    return [_check_folder(folder, free_bytes) for folder in sorted(folders)]


def _check_folder(folder: Path, free_bytes: int | None) -> DeploymentFinding:
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".doctor-") as file:
            file.write(os.urandom(4096))
            file.flush()
        free = shutil.disk_usage(folder).free if free_bytes is None else free_bytes
    except OSError as error:
        advice = "Give the user of the service write access, or make room."
        return failure("disk", f"{folder} cannot be written to: {error.strerror}", advice)
    if free < FREE_WARNING_BYTES:
        make = failure if free < FREE_FAILURE_BYTES else warning
        return make("disk", f"{folder} has {_size(free)} free", "Make room before the database can store nothing.")
    return ok("disk", f"{folder} can be written to and has {_size(free)} free")


def _size(count: int) -> str:
    return f"{count / (1 << 30):.1f} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.0f} MiB"
