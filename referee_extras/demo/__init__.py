"""Start a service with six bots that play a tournament and ladder matches."""

from referee.plugs import Command, Extra

EXTRA = Extra(
    name="demo",
    commands=[
        Command(
            heading="Run a service",
            name="demo",
            summary="Start a service with six bots that play a tournament and ladder matches.",
            command="referee_extras.demo.commands:demo",
        )
    ],
)
