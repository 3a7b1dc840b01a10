"""Play a tournament on this machine, without a service."""

from pathlib import Path
from typing import Final

from referee.plugs import Command, Extra

EXTRA: Final = Extra(
    name="local_tournaments",
    folder=Path(__file__).parent,
    commands=[
        Command(
            group="tournament",
            heading="Without a service",
            name="local",
            summary="Play a tournament on this machine, without a service.",
            command="referee_extras.local_tournaments.commands:local",
        )
    ],
)
