"""Measure how strong the levels of the house players are."""

from pathlib import Path
from typing import Final

from referee.plugs import Command, Extra

EXTRA: Final = Extra(
    name="calibration",
    folder=Path(__file__).parent,
    commands=[
        Command(
            group="house",
            heading="Commands",
            name="calibrate",
            summary="Compare each level with the one below and write the ratings.",
            command="referee_extras.calibration.commands:calibrate",
        )
    ],
)
