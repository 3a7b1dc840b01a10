"""Prune one kind of data of a test's database."""

from typing import Protocol

from referee.db.engine import Database
from referee_extras.retention.limits import FOREVER, Keep
from referee_extras.retention.pruning import Pruner
from referee_extras.retention.rules import Kind, Rules


class HasDatabase(Protocol):
    """A world or a service."""

    @property
    def database(self) -> Database: ...


def rules(kind: str, *, days: int) -> Rules:
    """Keep everything but this kind forever. With 0 days, keep this one, too."""
    return {**dict.fromkeys(Kind, FOREVER), kind: Keep(days or None)}


def prune(world: HasDatabase, kind: str, *, days: int) -> int:
    """Prune what is too old. Return the number of rows."""
    pruner = Pruner(world.database, rules(kind, days=days))
    pruner.run()
    return pruner.deleted.get(kind, [0])[0]
