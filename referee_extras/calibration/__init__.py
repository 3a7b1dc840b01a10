"""Measure how strong the levels of the house players are."""

from referee.plugs import Command, Extra

EXTRA = Extra(
    name="calibration",
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
