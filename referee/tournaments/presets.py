"""Define sets of terms for usual occasions, from which an organiser begins."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from referee.match.canonical import Json
from referee.pairing.kinds import TournamentFormat

RESET_BY_PRESETS: Final = (  # to their defaults, before those of the preset are filled in
    *("format", "format_options", "rated", "deal_sharing", "anonymous", "late_entry", "frozen_version"),
    *("bots_per_owner", "substitute", "time"),
)


@dataclass(frozen=True, slots=True)
class Preset:
    """Hold the terms that are not the default, as fields of the API, with a title and a sentence that explains them."""

    title: str
    text: str
    terms: Json


PRESETS: Final[Mapping[str, Preset]] = {
    "club_night": Preset(
        "Club night",
        "Five short rounds for everyone who is there: unrated, watched live with names, late bots welcome.",
        {
            "format": TournamentFormat.SWISS,
            "format_options": {"rounds": 5},
            "rated": False,
            "anonymous": False,
            "late_entry": True,
            "substitute": "house:3",
        },
    ),
    "serious_swiss": Preset(
        "Serious Swiss",
        "Rated, the same cards at all tables, one bot of each owner in one version, players hidden until tables end.",
        {"format": TournamentFormat.SWISS, "frozen_version": True, "time": {"budget_ms": 2000, "bank_ms": 30_000}},
    ),
}
