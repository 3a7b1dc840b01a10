"""Openings of deals that ended without a deal: the list, as an API and as a page."""

from referee.plugs import Extra, PagePlace

EXTRA = Extra(
    name="openings",
    resources=["referee_extras.openings.resource:resource"],
    pages=["referee_extras.openings.pages:pages"],
    places={PagePlace.ENDED_OPENINGS: "referee_extras.openings.pages:link_to_list"},
)
