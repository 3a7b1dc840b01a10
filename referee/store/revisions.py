"""Which schema a database has, and whether this program works with it. Nothing is changed here: see ``upgrading``."""

import logging
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from referee.errors import RefereeError, Unavailable
from referee.store.db import Database

MIGRATIONS = Path(__file__).parent / "migrations"

log = logging.getLogger(__name__)


class WrongSchema(RefereeError):
    """The database has another schema than this program works with; the text says which and what to do."""


def check(database: Database) -> None:
    """Raise ``WrongSchema`` unless the schema is the one this program works with."""
    found, wanted = revision(database), newest()
    if found == wanted:
        return
    if found is None:
        raise WrongSchema(
            f"The database has no tables yet; this version of Referee needs schema {wanted}. "
            "Create it with `referee admin upgrade`; `referee up` does so at its start."
        )
    refuse_newer(found)
    raise WrongSchema(
        f"The database has schema {found}; this version of Referee needs {wanted}. Stop the service, back up, then run "
        "`referee admin upgrade`; `referee up` does so at its start."
    )


def check_at_start(database: Database) -> None:
    """Do what ``check`` does, unless the database cannot answer yet: a process may be started before it."""
    try:
        check(database)
    except Unavailable as error:
        log.warning("schema not checked", extra={"reason": str(error)})
    finally:
        database.dispose()  # of no use to the children of a process that forks


def refuse_newer(found: str, migrations: Path = MIGRATIONS) -> None:
    """Raise ``WrongSchema`` for a revision to which none of the ``migrations`` leads."""
    known = _known(migrations)
    if found not in known:
        raise WrongSchema(
            f"The database has schema {found}, made by a newer version of Referee; this one knows schemas up to "
            f"{known[-1]}. Install the newer version, or restore a backup from before the upgrade."
        )


def revision(database: Database) -> str | None:
    """Return the revision of the schema; None where there is none yet."""
    with database.looking() as connection:
        return revision_at(connection)


def revision_at(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def newest() -> str:
    """Return the revision this program needs."""
    return _known(MIGRATIONS)[-1]


def _known(migrations: Path) -> list[str]:
    # By their names: every process asks at its start, and loading the tool that runs them takes a third of a second.
    return sorted(path.name.partition("_")[0] for path in (migrations / "versions").glob("[0-9]*.py"))
