"""The hall view of a tournament: one page for a projector, whose script shows its parts one after the other."""

from referee.plugs import Extra, PagePlace

EXTRA = Extra(
    name="hall",
    pages=["referee_extras.hall.pages:pages"],
    places={PagePlace.TOURNAMENT_HEAD: "referee_extras.hall.pages:link_in_head"},
)
