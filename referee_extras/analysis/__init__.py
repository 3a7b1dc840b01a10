"""Analysis of results: tables, luck and strengths of a tournament, strengths on a ladder, two bots head to head."""

from pathlib import Path
from typing import Final

from referee.plugs import Extra, PagePlace

EXTRA: Final = Extra(
    name="analysis",
    folder=Path(__file__).parent,
    resources=["referee_extras.analysis.head_to_head_resource:resource", "referee_extras.analysis.resource:resource"],
    pages=["referee_extras.analysis.pages:pages", "referee_extras.analysis.head_to_head_pages:pages"],
    places={
        PagePlace.TOURNAMENT_TABS: "referee_extras.analysis.pages:tabs",
        PagePlace.TOURNAMENT_DOCUMENTS: "referee_extras.analysis.pages:list_documents",
        PagePlace.TOURNAMENT_FACTS: "referee_extras.analysis.pages:facts_of_result",
        PagePlace.TWO_BOTS: "referee_extras.analysis.head_to_head_pages:link_to_pair",
    },
)
