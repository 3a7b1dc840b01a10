"""Download the logs of a bot, a ladder, a span of time or a tournament into one file."""

from referee.plugs import Command, Extra

EXTRA = Extra(
    name="log_downloads",
    commands=[
        Command(
            heading="Use a service",
            name="logs",
            summary="Download the logs of a bot, of a ladder, or of a span of time.",
            command="referee_extras.log_downloads.commands:logs",
        ),
        Command(
            group="tournament",
            heading="Download",
            name="logs",
            summary="Download the logs of a tournament.",
            command="referee_extras.log_downloads.commands:tournament_logs",
        ),
    ],
)
