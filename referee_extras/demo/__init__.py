"""Start a service with six bots that play a tournament and ladder matches."""

from pathlib import Path
from typing import Final

from referee.plugs import Command, Extra

EXTRA: Final = Extra(
    name="demo",
    folder=Path(__file__).parent,
    commands=[
        Command(
            heading="Run a service",
            name="demo",
            summary="Start a service with six bots that play a tournament and ladder matches.",
            command="referee_extras.demo.commands:demo",
        )
    ],
)
