"""Points exchanged between owners on a ladder, by month: who gained more from whom than chance explains."""

from referee.plugs import Extra, PagePlace

EXTRA = Extra(
    name="exchanges",
    resources=["referee_extras.exchanges.resource:resource"],
    pages=["referee_extras.exchanges.pages:pages"],
    places={PagePlace.LADDER_LINKS: "referee_extras.exchanges.pages:link_from_ladder"},
)
