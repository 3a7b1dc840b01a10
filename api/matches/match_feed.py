"""Cache the visible rows of matches for clients that poll; each request reads only the rows that are new."""

import threading
from collections import OrderedDict
from typing import Any, Final

from sqlalchemy.orm import Session

from referee.matches.deal_progress import DealGroupProgress
from referee.workflows import visibility
from referee.workflows.visibility import MatchFeed, MatchVisibility

Json = dict[str, Any]

MAX_FEEDS: Final = 16  # matches; a long one takes a few megabytes


class MatchFeedCache:
    """The feeds of the ``most`` matches requested last. Thread-safe."""

    def __init__(self, most: int = MAX_FEEDS) -> None:
        self._most = most
        self._kept: OrderedDict[str, tuple[MatchFeed, threading.Lock]] = OrderedDict()
        self._deal_groups = DealGroupProgress()
        self._lock = threading.Lock()

    def read_feed(self, session: Session, match_id: str) -> tuple[MatchVisibility, list[Json]]:
        """Return the visibility of the match and the items of all rows visible now. Raise ``NotFound`` without one."""
        standing = visibility.load_visibility(session, match_id)
        with self._lock:
            feed, reading = self._kept.setdefault(match_id, (MatchFeed(match_id, self._deal_groups), threading.Lock()))
            self._kept.move_to_end(match_id)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        with reading:
            feed.read_new_rows(session, standing)
            return standing, feed.items[:]
