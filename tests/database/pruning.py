"""Prune one kind of data of a test's database."""

from pathlib import Path
from typing import Protocol

from referee.db.engine import Database
from referee.retention.archive import LogArchive
from referee.retention.pruning import Pruner
from referee.retention.rules import Kind, Rules
from referee.retention_limits import FOREVER, Keep


class HasDatabase(Protocol):
    """A world or a service."""

    @property
    def database(self) -> Database: ...


def rules(kind: Kind, *, days: int | None = None, mib: int | None = None) -> Rules:
    """Keep everything but this kind forever. With 0 days, keep this one, too."""
    return {**dict.fromkeys(Kind, FOREVER), kind: Keep(days or None, mib)}


def prune(
    world: HasDatabase, kind: Kind, *, days: int | None = None, mib: int | None = None, archive: Path | None = None
) -> int:
    """Prune what exceeds the limits. Return the number of rows."""
    pruner = Pruner(world.database, rules(kind, days=days, mib=mib), LogArchive(archive) if archive else None)
    pruner.run()
    return pruner.deleted.get(kind, [0])[0]
