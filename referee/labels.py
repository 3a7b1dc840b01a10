"""Define the labels of states and of rated matches that pages, page scripts and commands show."""

from collections.abc import Mapping
from typing import Any, Final

from referee.bots.states import BotState
from referee.matches.states import MatchState
from referee.tournaments.states import TournamentState

STATES: Final[Mapping[str, str]] = {  # states with a label other than their name
    TournamentState.OPEN: "open for entries",
    MatchState.DUE: "about to start",
    BotState.UNVERIFIED: "not verified",
    BotState.HOUSE: "house player",
}


def state_label(state: str) -> str:
    """Return the label of a state of a match, tournament, bot or webhook."""
    return STATES.get(state, state)


def rated_label(match: Mapping[str, Any]) -> str:
    """Return a label that says whether a match is rated, or why not. ``match`` is an object of the API."""
    if match["rated"]:
        return "rated"
    code = str(match["unrated_reason"])
    return code if code == "friendly" else f"unrated: {code.replace('_', ' ')}"
