"""Group the commands of `referee admin keys`."""

import click

from referee.cli.lazy_group import LazyGroup

KEYS = {
    "Commands": {
        "list": ("key_commands", "List the master keys, the keys that sign logs, and what still needs them."),
        "rotate": ("key_commands", "Make a new master key the current one, and accept the old one."),
        "reseal": ("key_commands", "Seal the seeds of ended deal groups with the current key."),
        "end": ("key_commands", "Stop accepting earlier master keys."),
    }
}


@click.group(cls=LazyGroup, package="referee_extras.keys", members=KEYS)
def keys() -> None:
    """List the keys of a service, and rotate its master key.

    The earlier key is accepted until `referee admin keys end`.
    """
