"""Read the rules page of a game: its phases, and the explanation of each member of an observation."""

import re

from referee.rulebook import rules_page


def phases(game: str) -> tuple[str, ...]:
    """Return the phases in which a game asks questions, from its rules page. Raise ``NoSuchGame`` if it is unknown."""
    named = re.findall(r"^<!-- action: (.+) -->$", rules_page(game), re.MULTILINE)
    return tuple(dict.fromkeys(" ".join(named).split()))


def members(game: str) -> dict[str, str]:
    """Return the explanation of each member of the game's observation, from its rules page.

    Raise ``NoSuchGame`` if the game is unknown.
    """
    section = rules_page(game).partition("## What your bot sees")[2].partition("\n## ")[0]
    explained: dict[str, str] = {}
    for names, meaning in re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| (.*) \|$", section, re.MULTILINE):
        explained |= dict.fromkeys(re.findall(r"\w+", names), meaning)
    return explained
