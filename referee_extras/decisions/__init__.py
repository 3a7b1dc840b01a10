"""Try a decision of a finished match again: ask a bot the question, or continue with other players."""

from referee.plugs import Command, Extra

EXTRA = Extra(
    name="decisions",
    commands=[
        Command(
            heading="Logs of matches",
            name="reask",
            summary="Ask a bot a question from a match again, and compare the answers.",
            command="referee_extras.decisions.commands.reask:reask",
        ),
        Command(
            heading="Logs of matches",
            name="fork",
            summary="Continue a finished match from a decision with other PLAYERs.",
            command="referee_extras.decisions.commands.fork:fork",
        ),
    ],
)
