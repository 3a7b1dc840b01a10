"""Series: tournaments of any games whose ranks bring points in common standings."""

from referee.events import AccountDeleted
from referee.plugs import Extra, Organised, PagePlace
from referee_extras.series.acts import SeriesAct

SERIES = Organised(
    kind="series",
    prefix="ser",
    path="/series/",
    act_kind=SeriesAct.ORGANISER_ADDED,
    table="referee_extras.series.tables:Series",
    co_organisers="referee_extras.series.operations:CO_ORGANISERS",
)
EXTRA = Extra(
    name="series",
    resources=["referee_extras.series.resource:resource"],
    pages=["referee_extras.series.pages:pages"],
    places={
        PagePlace.TOURNAMENT_TERMS: "referee_extras.series.pages:name_in_terms",
        PagePlace.TOURNAMENTS_TOP: "referee_extras.series.pages:link_to_series",
    },
    metadata="referee_extras.series.tables:SeriesTable.metadata",
    events={AccountDeleted: "referee_extras.series.personal_data:hand_over_series"},
    organised=[SERIES],
    act_kinds=list(SeriesAct),
    naming_act_kinds=[SeriesAct.CREATED, SeriesAct.DELETED],
    export="referee_extras.series.personal_data:EXPORTED",
    offers={"feeds": "referee_extras.series.feed:SERIES_TOURNAMENTS"},
)
