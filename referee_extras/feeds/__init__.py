"""Atom feeds (RFC 4287): results of bots and tournaments, monthly champions of ladders."""

from referee.plugs import Extra, PagePlace

EXTRA = Extra(
    name="feeds",
    pages=["referee_extras.feeds.pages:pages"],
    places={
        PagePlace.HEAD: "referee_extras.feeds.pages:name_in_head",
        PagePlace.PAGE_LINKS: "referee_extras.feeds.pages:link_in_page",
    },
)
