"""Replace requests in messages of the API with the commands that do the same, for people at a command line."""

import re
from typing import Final

_COMMANDS: Final = tuple(
    (re.compile(request), command)
    for request, command in (
        (
            r"fix what GET /api/v1/bots/\S+ reports to its owner, then request a check with POST \S+/check",
            "its owner sees why with `referee bots show BOT`, and has it checked again with `referee register`",
        ),
        (r"request a check with POST /api/v1/bots/\S+/check", "its owner has it checked with `referee register`"),
        (r"Ask them with POST /api/v1/tournaments/\S+/invitations", "`referee tournament enter` asks them"),
        (r"cancel one with POST /api/v1/matches/ID/cancel", "cancel one on its page"),
        (r"Send it to POST /api/v1/matches", "Arrange it on the page of the bot"),
        (r"Send this match to POST /api/v1/friendly-requests", "Ask them on the page of the bot"),
    )
)


def name_commands(sentence: str) -> str:
    """Return a message of the API with commands in place of its requests."""
    for request, command in _COMMANDS:
        sentence = request.sub(command, sentence)
    return sentence
