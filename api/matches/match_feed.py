"""Cache the visible rows of matches for clients that poll; each request reads only the rows that are new."""

import threading
from typing import Any, Final

from sqlalchemy.orm import Session

from api.caching import RecentCache
from api.views import get_shared
from referee.matches.deals.deal_progress import DealGroupProgress
from referee.workflows.publishing import visibility
from referee.workflows.publishing.visibility import MatchFeed, MatchVisibility

Json = dict[str, Any]

MAX_FEEDS: Final = 16  # matches; a long one takes a few megabytes


class MatchFeedCache:
    """Cache the feeds of the ``most`` matches requested last. Thread-safe."""

    def __init__(self, most: int = MAX_FEEDS) -> None:
        self._recent = RecentCache[tuple[MatchFeed, threading.Lock]](most)
        self._deal_groups = DealGroupProgress()

    def read_feed(self, session: Session, match_id: str) -> tuple[MatchVisibility, list[Json]]:
        """Return the visibility of a match and its visible rows. Raise ``NotFound`` for an unknown match."""
        standing = visibility.load_visibility(session, match_id)
        feed, reading = self._recent.get(match_id, lambda: (MatchFeed(match_id, self._deal_groups), threading.Lock()))
        with reading:
            feed.read_new_rows(session, standing)
            return standing, feed.items[:]


def read_rows(session: Session, match_id: str) -> list[Json]:
    """Return the visible rows of a match, cached for all requests. Raise ``NotFound`` for an unknown match."""
    return get_feeds().read_feed(session, match_id)[1]


def get_feeds() -> MatchFeedCache:
    """Return the cache that all requests of this process share."""
    return get_shared("referee.match_feeds", MatchFeedCache)
