"""Analysis of results: tables, luck and strengths of a tournament, strengths on a ladder, two bots head to head."""

from referee.plugs import Extra, PagePlace

EXTRA = Extra(
    name="analysis",
    resources=["referee_extras.analysis.head_to_head_views:resource", "referee_extras.analysis.resource:resource"],
    pages=["referee_extras.analysis.pages:pages", "referee_extras.analysis.head_to_head_views:pages"],
    places={
        PagePlace.TOURNAMENT_TABS: "referee_extras.analysis.pages:tabs",
        PagePlace.TOURNAMENT_DOCUMENTS: "referee_extras.analysis.pages:list_documents",
        PagePlace.TOURNAMENT_FACTS: "referee_extras.analysis.pages:facts_of_result",
        PagePlace.TWO_BOTS: "referee_extras.analysis.head_to_head_views:link_to_pair",
    },
)
