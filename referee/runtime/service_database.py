"""Load the settings of the service in a data directory, and open its database."""

import os
from contextlib import nullcontext
from pathlib import Path

from referee.db.engine import Database, parse_database_url
from referee.db.revisions import check, is_current, read_revision, require_known
from referee.db.upgrading import upgrade
from referee.errors import RefereeError
from referee.runtime.worker_pause import pause_workers
from referee.settings import Settings


class NoDatabase(RefereeError):
    """Signal that a data directory has no database."""


def load_settings(data: Path | None) -> Settings:
    """Return the settings. If given, ``data`` replaces $REFEREE_DATA in this process and its children."""
    if data is not None:
        use_data_dir(data)
    return Settings.load()


def use_data_dir(data: Path) -> None:
    """Let ``data`` replace $REFEREE_DATA in this process and its children."""
    os.environ["REFEREE_DATA"] = str(data.expanduser().resolve())


def service_folder(data: Path | None) -> Path:
    """Return the data directory of the service. If given, ``data`` replaces $REFEREE_DATA."""
    return (data or Path(os.environ.get("REFEREE_DATA") or "referee-data")).expanduser().resolve()


def open_database(data: Path | None) -> tuple[Settings, Database]:
    """Open the database of a service without changing anything.

    Raise ``NoDatabase`` if it is missing, and ``RefereeError`` if its schema is not the current one.
    """
    folder = service_folder(data)
    url = parse_database_url(os.environ.get("DATABASE_URL") or f"sqlite:///{folder / 'referee.db'}")
    if url.get_backend_name() == "sqlite" and not Path(str(url.database)).exists():
        raise NoDatabase(
            f"There is no database in {Path(str(url.database)).parent}. Pass the data directory of your service with "
            "--data, or run `referee up` to create one there."
        )
    database = Database(url.render_as_string(hide_password=False))
    check(database)
    return load_settings(data), database


def open_or_create_database(data: Path | None) -> tuple[Settings, Database]:
    """Open the database. Create it or upgrade its schema if necessary.

    Workers and schedulers pause while a schema is upgraded. Raise ``NotPaused`` if they cannot be stopped,
    and ``WrongSchema`` for a schema that this program does not know.
    """
    settings = load_settings(data)
    database = Database.from_settings(settings)
    found = read_revision(database)
    if found is not None:
        require_known(found)
    is_old = found is not None and not is_current(database)
    with pause_workers(settings.redis_url) if is_old and settings.redis_url else nullcontext():
        upgrade(database)
    return settings, database
