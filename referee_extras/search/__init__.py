"""Search over bots, owners and tournaments."""

from referee.plugs import Extra, PagePlace

EXTRA = Extra(
    name="search",
    resources=["referee_extras.search.resource:resource"],
    pages=["referee_extras.search.pages:pages"],
    places={
        PagePlace.NAVIGATION: "referee_extras.search.pages:navigation_entry",
        PagePlace.HEADER: "referee_extras.search.pages:form_in_header",
        PagePlace.FOOTER: "referee_extras.search.pages:link_in_footer",
    },
)
