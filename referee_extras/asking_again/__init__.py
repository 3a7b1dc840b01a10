"""Ask a bot a recorded question again, and continue a recorded match with other players."""

from pathlib import Path
from typing import Final

from referee.plugs import Command, Extra

EXTRA: Final = Extra(
    name="asking_again",
    folder=Path(__file__).parent,
    commands=[
        Command(
            heading="Logs of matches",
            name="reask",
            summary="Ask a bot a question from a match again, and compare the answers.",
            command="referee_extras.asking_again.reask_commands:reask",
        ),
        Command(
            heading="Logs of matches",
            name="fork",
            summary="Continue a finished match from a decision with other PLAYERs.",
            command="referee_extras.asking_again.fork_commands:fork",
        ),
    ],
)
