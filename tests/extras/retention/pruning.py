"""Prune one kind of data of a test's database."""

from referee_extras.retention.pruning import Pruner
from referee_extras.retention.rules import FOREVER, Keep, Kind, Rules
from tests.api.conftest import Service
from tests.database.world import World


def rules(kind: str, *, days: int) -> Rules:
    """Keep everything but this kind forever. With 0 days, keep this one, too."""
    return {**dict.fromkeys(Kind, FOREVER), kind: Keep(days or None)}


def prune(world: World | Service, kind: str, *, days: int) -> int:
    """Prune what is too old. Return the number of rows."""
    pruner = Pruner(world.database, rules(kind, days=days))
    pruner.run()
    return pruner.deleted.get(kind, [0])[0]
