"""Check a deployment and say what to mend."""

from referee.plugs import Command, Extra

EXTRA = Extra(
    name="doctor",
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
