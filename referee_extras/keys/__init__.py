"""List the keys of a service, and rotate its master key."""

from referee.plugs import Command, Extra

EXTRA = Extra(
    name="keys",
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
