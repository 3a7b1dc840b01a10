"""Open the installation in a data directory: its settings and its database."""

import os
from collections.abc import Callable
from pathlib import Path

from sqlalchemy.orm import Session

from referee.db.engine import Database, parsed_url
from referee.db.revisions import check
from referee.db.upgrading import upgrade
from referee.errors import RefereeError
from referee.settings import Settings


class NoDatabase(RefereeError):
    """Raised if a data directory has no database."""


def settings_of(data: Path | None) -> Settings:
    """The settings with ``--data`` in place of REFEREE_DATA, for this process and its children."""
    if data is not None:
        os.environ["REFEREE_DATA"] = str(data.expanduser().resolve())
    return Settings.load()


def record_of(data: Path | None) -> tuple[Settings, Database]:
    """Open the database of an installation. If it is missing or has another schema, refuse and change nothing."""
    folder = (data or Path(os.environ.get("REFEREE_DATA") or "referee-data")).expanduser().resolve()
    url = parsed_url(os.environ.get("DATABASE_URL") or f"sqlite:///{folder / 'referee.db'}")
    if url.get_backend_name() == "sqlite" and not Path(str(url.database)).exists():
        raise NoDatabase(
            f"There is no database in {Path(str(url.database)).parent}. Pass the data directory of your service with "
            "--data, or run `referee up` to create one there."
        )
    database = Database(url.render_as_string(hide_password=False))
    check(database)
    return settings_of(data), database


def made_record_of(
    data: Path | None, *, settle: Callable[[Session], object] | None = None
) -> tuple[Settings, Database]:
    """Create or upgrade the database of an installation and open it; ``settle`` is that of ``upgrade``."""
    settings = settings_of(data)
    database = Database.from_settings(settings)
    upgrade(database, settle=settle)
    return settings, database
