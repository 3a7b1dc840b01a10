"""Statistics of tournaments: crosstable, results by round, opponents, luck, strengths, what made the result."""

from pathlib import Path
from typing import Final

from referee.plugs import Extra, PagePlace

EXTRA: Final = Extra(
    name="tournament_statistics",
    folder=Path(__file__).parent,
    resources=["referee_extras.tournament_statistics.resource:resource"],
    pages=["referee_extras.tournament_statistics.pages:pages"],
    places={
        PagePlace.TOURNAMENT_TABS: "referee_extras.tournament_statistics.pages:tabs",
        PagePlace.TOURNAMENT_DOCUMENTS: "referee_extras.tournament_statistics.pages:list_documents",
        PagePlace.TOURNAMENT_FACTS: "referee_extras.tournament_statistics.pages:facts_of_result",
    },
)
