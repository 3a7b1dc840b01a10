"""List the keys of a service, and rotate its master key."""

from pathlib import Path
from typing import Final

from referee.plugs import Command, Extra

EXTRA: Final = Extra(
    name="keys",
    folder=Path(__file__).parent,
    commands=[
        Command(
            group="admin",
            heading="Deployment",
            name="keys",
            summary="List the keys of a service, and rotate its master key.",
            command="referee_extras.keys.commands:keys",
        )
    ],
)
