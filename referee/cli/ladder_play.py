"""Describe the play of a bot on official ladders. `referee register` and `referee bots` use this."""

from referee.match.canonical import Json
from referee.pairing.official import VERSION_MATCHES, VERSIONS_A_DAY

TWICE_A_DAY = f"at most {VERSIONS_A_DAY} times in 24 hours"
PLAY = {
    "on": "plays on official ladders",
    "off": "does not play on official ladders",
}


def format_immediate_matches(document: Json) -> str:
    """Return how many immediate matches the bot has left, as a sentence."""
    counts = {ladder["name"]: ladder["immediate_matches"] for ladder in document["ladders"]}
    left = [f"{count} on {name}" for name, count in counts.items() if count]
    if not left:
        return f"no immediate rated matches are left; a new version gets {VERSION_MATCHES}, {TWICE_A_DAY}"
    return (
        f"immediate rated matches left: {', '.join(left)}; use them with your best bot: later ones are spread over the "
        f"day, and a new version gets {VERSION_MATCHES} more, {TWICE_A_DAY}"
    )
