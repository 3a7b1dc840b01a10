"""Delete what the service does not keep any longer, and measure the use of the disk."""

from pathlib import Path
from typing import Final

from referee.plugs import Command, Extra, PagePlace

EXTRA: Final = Extra(
    name="retention",
    folder=Path(__file__).parent,
    resources=["referee_extras.retention.resource:resource"],
    pages=["referee_extras.retention.pages:pages"],
    places={PagePlace.OPERATOR: "referee_extras.retention.pages:section"},
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
