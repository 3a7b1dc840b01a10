"""Labels of states and of rating, as people read them on pages, in page scripts and on the command line."""

from collections.abc import Mapping
from typing import Any, Final

from referee.bots.states import BotState
from referee.matches.states import MatchState
from referee.tournaments.states import TournamentState

STATES: Final[Mapping[str, str]] = {  # those whose label is not their name
    TournamentState.OPEN: "open for entries",
    MatchState.DUE: "about to start",
    BotState.UNVERIFIED: "not verified",
    BotState.HOUSE: "house player",
}


def state_label(state: str) -> str:
    """Return the label of a state of a match, tournament, bot or webhook."""
    return STATES.get(state, state)


def rated_label(match: Mapping[str, Any]) -> str:
    """Return a label that says whether a match (of the API) is rated or why not."""
    if match["rated"]:
        return "rated"
    code = str(match["unrated_reason"])
    return code if code == "friendly" else f"unrated: {code.replace('_', ' ')}"
