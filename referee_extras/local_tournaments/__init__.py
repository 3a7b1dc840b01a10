"""Play a tournament on this machine, without a service."""

from referee.plugs import Command, Extra

EXTRA = Extra(
    name="local_tournaments",
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
