"""Write a consistent copy of a service's database to one file while it runs, and check such files.

``restoring`` puts a copy back. A backup is a tar file with two members, ``inventory.json`` and the copy. It does not
contain the master key.
"""

import hashlib
import json
import os
import sqlite3
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, func, select, text

import referee
from referee.accounts.oversight_tables import Act
from referee.accounts.tables import Account
from referee.bots.tables import Bot
from referee.db import sealing
from referee.db.engine import Database
from referee.db.health import DatabaseIdentity
from referee.db.revisions import read_revision_from
from referee.errors import RefereeError
from referee.matches.tables import Result, StoredMatch
from referee.private_files import sync_to_disk
from referee.settings import environment
from referee.tournaments.tables import Tournament

FORMAT: Final = 1
INVENTORY: Final = "inventory.json"
COPIES: Final = {"sqlite": "referee.db", "postgresql": "referee.pgdump"}  # name of the copy, by kind of database
MAX_INVENTORY_BYTES: Final = 1 << 20
CHUNK_BYTES: Final = 1 << 20
COUNTED: Final = {"accounts": Account, "bots": Bot, "tournaments": Tournament, "matches": StoredMatch, "acts": Act}


class BackupError(RefereeError):
    """Report why a backup cannot be written, read or restored. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """Describe a backup: what it contains, and the digest of its copy of the database."""

    format: int
    created_at: str  # ISO 8601, UTC
    program_version: str
    schema: str
    database: str  # "sqlite" or "postgresql"
    installation: str  # id of the database that was copied
    master_key_id: str  # of the key that the database needs
    counts: dict[str, int]  # rows of accounts, bots, tournaments, matches, acts and results
    last_result: int  # number of the last result, 0 if there is none
    size_bytes: int
    sha256: str

    @property
    def copy_name(self) -> str:
        """Return the name of the copy in the tar file."""
        return COPIES[self.database]


def write_backup(database: Database, master_key: bytes, target: Path) -> Inventory:
    """Write a backup of a database that may be in use to ``target``, which only this user can read.

    The file appears once it is complete. While it is written, the copy needs its size twice in the directory of
    ``target``. Raise ``BackupError`` if ``target`` exists or the copy fails.
    """
    if target.exists():
        raise BackupError(f"{target} exists already. Choose another name, or remove the file.")
    if not target.parent.is_dir():
        raise BackupError(f"There is no directory {target.parent}. Create it, or choose another path.")
    kind = database.url.get_backend_name()
    with tempfile.TemporaryDirectory(prefix=".referee-backup-", dir=target.parent) as folder:
        copy, archive = Path(folder) / COPIES[kind], Path(folder) / "archive.tar"
        described = _copy_sqlite(database, copy) if kind == "sqlite" else _copy_postgres(database, copy)
        inventory = Inventory(
            format=FORMAT,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            program_version=referee.__version__,
            database=kind,
            master_key_id=sealing.key_id(master_key),
            size_bytes=copy.stat().st_size,
            sha256=_digest_file(copy),
            **described,
        )
        _write_archive(archive, inventory, copy)
        _publish(archive, target)
    return inventory


def read_inventory(backup: Path) -> Inventory:
    """Return the inventory of a backup without reading its copy. Raise ``BackupError`` if the file is no backup."""
    with _open_archive(backup) as archive:
        return _read_inventory(archive, backup)


def find_newest(folder: Path) -> tuple[Path, datetime] | None:
    """Return the newest backup in a folder, and when it was made, or None. Other files are ignored."""
    found = []
    for path in folder.glob("*"):
        with suppress(RefereeError, OSError, ValueError):
            if path.is_file():
                found.append((path, datetime.fromisoformat(read_inventory(path).created_at)))
    return max(found, key=lambda backup: backup[::-1], default=None)


def extract_copy(backup: Path, target: Path | None) -> Inventory:
    """Read a whole backup, write its copy to ``target``, if given, and return the inventory.

    Raise ``BackupError`` if the backup is incomplete or was changed. The file at ``target`` is then incomplete.
    """
    with _open_archive(backup) as archive:
        inventory = _read_inventory(archive, backup)
        member = archive.next()
        source = archive.extractfile(member) if member is not None and member.isreg() else None
        if member is None or source is None or member.name != inventory.copy_name:
            raise BackupError(f"{backup} is incomplete: it does not contain {inventory.copy_name}. {_USE_ANOTHER}")
        size_bytes, digest = 0, hashlib.sha256()
        with open(os.devnull if target is None else target, "wb", opener=_open_private) as written:
            while chunk := source.read(CHUNK_BYTES):
                size_bytes += len(chunk)
                digest.update(chunk)
                written.write(chunk)
            written.flush()
    if (size_bytes, digest.hexdigest()) != (inventory.size_bytes, inventory.sha256):
        raise BackupError(
            f"{backup} is damaged: its copy has {size_bytes} bytes and the SHA-256 {digest.hexdigest()}, and the "
            f"inventory lists {inventory.size_bytes} bytes and {inventory.sha256}. {_USE_ANOTHER}"
        )
    return inventory


_USE_ANOTHER: Final = "Use another backup."


# -- copies --


def _copy_sqlite(database: Database, copy: Path) -> dict[str, Any]:
    path = Path(str(database.url.database))
    try:
        source = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            source.execute("VACUUM INTO ?", [str(copy)])
        finally:
            source.close()
    except sqlite3.Error as error:
        raise BackupError(f"The database could not be copied: {error}.") from error
    copied = Database(f"sqlite:///{copy}")
    try:
        with copied.inspection_connection() as connection:
            return _describe(connection)
    finally:
        copied.dispose()


def _copy_postgres(database: Database, copy: Path) -> dict[str, Any]:
    """Dump one snapshot, which the inventory describes as well."""
    with database.inspection_connection() as connection:
        connection = connection.execution_options(isolation_level="REPEATABLE READ")
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        described = _describe(connection)
        snapshot = connection.scalar(text("SELECT pg_export_snapshot()"))
        run_postgres_program(
            database, "pg_dump", "--format=custom", "--no-owner", f"--snapshot={snapshot}", f"--file={copy}"
        )
    return described


def run_postgres_program(database: Database, program: str, *arguments: str) -> None:
    """Run a client program of PostgreSQL on the database. The password is passed by the environment.

    Raise ``BackupError`` with its last line if it fails, or if it is not installed.
    """
    url = _remove_password(database.url).render_as_string()
    variables = {"PGPASSWORD": str(database.url.password)} if database.url.password else {}
    try:
        done = subprocess.run(
            [program, *arguments, f"--dbname={url}"],
            env=environment(**variables),
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise BackupError(
            f"The program {program} was not found. Install the client programs of PostgreSQL, of the server's version "
            "or newer (on Debian: postgresql-client)."
        ) from None
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise BackupError(f"{program} failed: {said[-1]}")


def _remove_password(url: URL) -> URL:
    """Return the URL as client programs understand it. ``URL.set`` would keep a password that is set to None."""
    return URL.create("postgresql", url.username, None, url.host, url.port, url.database, url.query)


def _describe(connection: Connection) -> dict[str, Any]:
    """Return the members of the inventory that are read from the copied state of the database."""
    schema = read_revision_from(connection)
    if schema is None:
        raise BackupError("The database has no tables yet, so there is nothing to back up.")
    counts = {name: connection.scalar(select(func.count()).select_from(table)) or 0 for name, table in COUNTED.items()}
    results, last = connection.execute(select(func.count(), func.max(Result.seq))).one()
    return {
        "schema": schema,
        "installation": connection.scalar(select(DatabaseIdentity.id)) or "",
        "counts": counts | {"results": results},
        "last_result": last or 0,
    }


# -- the tar file --


def _write_archive(path: Path, inventory: Inventory, copy: Path) -> None:
    listed = copy.with_name(INVENTORY)
    listed.write_text(json.dumps(asdict(inventory), indent=2) + "\n")
    with tarfile.open(path, "w") as archive:
        archive.add(listed, INVENTORY)
        archive.add(copy, copy.name)


def _publish(archive: Path, target: Path) -> None:
    """Give the complete file its name, and make both survive a power cut. Never replace another file."""
    archive.chmod(0o600)
    sync_to_disk(archive)
    try:
        os.link(archive, target)
    except FileExistsError:
        raise BackupError(f"{target} exists already. Choose another name, or remove the file.") from None
    sync_to_disk(target.parent)


def _digest_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


@contextmanager
def _open_archive(backup: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(backup, "r:") as archive:
            yield archive
    except FileNotFoundError:
        raise BackupError(f"{backup} does not exist. Pass the path of a backup.") from None
    except tarfile.TarError as error:
        raise BackupError(f"{backup} is not a backup of Referee, or is incomplete: {error}.") from error


def _read_inventory(archive: tarfile.TarFile, backup: Path) -> Inventory:
    member = archive.next()
    listed = archive.extractfile(member) if member is not None and member.isreg() else None
    if member is None or listed is None or member.name != INVENTORY or member.size > MAX_INVENTORY_BYTES:
        raise BackupError(f"{backup} is not a backup of Referee: it does not begin with {INVENTORY}.")
    try:
        found = json.loads(listed.read())
        if found.get("format") != FORMAT:
            raise BackupError(
                f"{backup} has the format {found.get('format')!r}; this version of Referee reads format {FORMAT}. "
                "Restore it with the version that wrote it."
            )
        inventory = Inventory(**found)
        if inventory.database not in COPIES:
            raise ValueError(f"unknown kind of database {inventory.database!r}")
    except (ValueError, TypeError, AttributeError) as error:
        raise BackupError(f"{backup} is not a backup of Referee: its inventory cannot be read ({error}).") from error
    return inventory
