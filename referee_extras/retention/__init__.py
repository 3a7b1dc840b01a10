"""Delete what the service does not keep any longer, and measure the use of the disk."""

from referee.plugs import Command, Extra, PagePlace

EXTRA = Extra(
    name="retention",
    resources=["referee_extras.retention.resource:resource"],
    pages=["referee_extras.retention.resource:pages"],
    places={PagePlace.OPERATOR: "referee_extras.retention.resource:section"},
    metadata="referee_extras.retention.tables:RetentionTable.metadata",
    tasks={"nightly_pruning": "referee_extras.retention.nightly_pruner:start_pruning"},
    settings="referee_extras.retention.rules:RetentionSettings",
    commands=[
        Command(
            group="admin",
            heading="Database",
            name="prune",
            summary="Delete what the settings REFEREE_KEEP_… do not keep any longer.",
            command="referee_extras.retention.commands:prune",
        )
    ],
)
