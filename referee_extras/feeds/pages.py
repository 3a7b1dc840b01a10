"""Serve the feeds of pages, and name them in these pages."""

from collections.abc import Callable
from typing import Final

from flask import Response, current_app, request
from markupsafe import Markup

from api.pages.page import Pages
from referee import plugs
from referee_extras.feeds import EXTRA
from referee_extras.feeds.atom import MEDIA_TYPE, PageFeed, write_feed
from referee_extras.feeds.results import BOT_RESULTS, LADDER_MONTHS, TOURNAMENT_RESULTS

pages = Pages("feeds", __name__)

CACHED: Final = "public, max-age=300"
OFFERED: Final[list[PageFeed]] = [  # by other extras
    plugs.load(extra.offers[EXTRA.name]) for extra in plugs.extras() if EXTRA.name in extra.offers
]
FEEDS: Final = (TOURNAMENT_RESULTS, *OFFERED, LADDER_MONTHS, BOT_RESULTS)  # a page names the first that fits


def name_in_head(*, title: str) -> Markup | None:
    """Return the element that names the feed of the page that is shown, or None if it has no feed."""
    found = _find_feed()
    if found is None:
        return None
    feed, path = found
    element = Markup('<link rel="alternate" type="{}" href="{}{}" title="{}">')
    return element.format(MEDIA_TYPE, current_app.config["SETTINGS"].public_url, path, feed.title)


def link_in_page() -> Markup | None:
    """Return a link to the feed of the page that is shown, or None if it has no feed."""
    found = _find_feed()
    return None if found is None else Markup('<a href="{}">Atom feed</a>').format(found[1])


def _find_feed() -> tuple[PageFeed, str] | None:
    """Return the feed of the page that is shown, and its path."""
    arguments = request.view_args or {}
    return next(((feed, feed.path(arguments[feed.argument])) for feed in FEEDS if feed.argument in arguments), None)


def _serve(feed: PageFeed) -> Callable[..., Response]:
    def send(**arguments: str) -> Response:
        content = write_feed(feed, arguments[feed.argument], current_app.config["SETTINGS"].public_url)
        response = Response(content, content_type=f"{MEDIA_TYPE}; charset=utf-8")
        response.headers["Cache-Control"] = CACHED
        return response

    send.__name__ = f"{feed.folder}_{feed.name}"
    return send


for feed in FEEDS:
    pages.view(feed.rule)(_serve(feed))
