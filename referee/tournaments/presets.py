"""Define sets of terms for usual occasions, from which an organiser begins."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from referee.match.canonical import Json
from referee.matches.states import DealSharing
from referee.pairing.kinds import TournamentFormat

UNLIMITED: Final = 1000


@dataclass(frozen=True, slots=True)
class Preset:
    """Hold a set of terms, as fields of the API, with its title and a sentence that explains it."""

    title: str
    text: str
    terms: Mapping[str, Any]


PRESETS: Final[Mapping[str, Preset]] = {
    "club_night": Preset(
        "Club night",
        "Five short rounds for everyone who is there: unrated, watched live with names, late bots welcome.",
        {
            "format": TournamentFormat.SWISS,
            "format_options": {"rounds": 5},
            "rated": False,
            "deal_sharing": DealSharing.OWN,
            "anonymous": False,
            "late_entry": True,
            "frozen_version": False,
            "bots_per_owner": UNLIMITED,
            "substitute": "house:3",
            "time": {"budget_ms": 1000, "bank_ms": 10_000},
        },
    ),
    "serious_swiss": Preset(
        "Serious Swiss",
        "Rated, the same cards at all tables, one bot of each owner in one version, players hidden until tables end.",
        {
            "format": TournamentFormat.SWISS,
            "format_options": {},
            "rated": True,
            "deal_sharing": DealSharing.COMMON,
            "anonymous": True,
            "late_entry": False,
            "frozen_version": True,
            "bots_per_owner": 1,
            "substitute": None,
            "time": {"budget_ms": 2000, "bank_ms": 30_000},
        },
    ),
}


def preset_terms(name: str) -> Json:
    """Return the terms of a preset in the format of the API."""
    return dict(PRESETS[name].terms)
