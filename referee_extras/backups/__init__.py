"""Back up the database of a service, and restore it."""

from referee.plugs import Command, Extra

EXTRA = Extra(
    name="backups",
    commands=[
        Command(
            group="admin",
            heading="Database",
            name="backup",
            summary="Write a consistent copy of the database to FILE, while the service runs.",
            command="referee_extras.backups.commands:backup",
        ),
        Command(
            group="admin",
            heading="Database",
            name="restore",
            summary="Put the database of a backup in place. Stop the whole service first.",
            command="referee_extras.backups.commands:restore",
        ),
    ],
    offers={"doctor": "referee_extras.backups.backup:find_newest"},
)
