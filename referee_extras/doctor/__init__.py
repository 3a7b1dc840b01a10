"""Check a deployment and say what to mend."""

from pathlib import Path
from typing import Final

from referee.plugs import Command, Extra

EXTRA: Final = Extra(
    name="doctor",
    folder=Path(__file__).parent,
    pages=["referee_extras.doctor.answer:pages"],
    commands=[
        Command(
            group="admin",
            heading="Deployment",
            name="doctor",
            summary="Check a deployment and say what to mend.",
            command="referee_extras.doctor.commands:doctor",
        )
    ],
)
