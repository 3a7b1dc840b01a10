"""Classes: an operator creates the accounts of a list of names, with a token for each."""

from referee.plugs import Command, Extra, PagePlace

EXTRA = Extra(
    name="classes",
    resources=["referee_extras.classes.resource:resource"],
    pages=["referee_extras.classes.resource:pages"],
    places={PagePlace.OPERATOR: "referee_extras.classes.resource:section"},
    commands=[
        Command(
            group="admin",
            heading="Accounts",
            name="class",
            summary="Create an account with a token for each line of the file NAMES.",
            command="referee_extras.classes.commands:create_accounts",
        )
    ],
)
