"""Matches as they are told to those who ask again and again: the last few are kept, each read as it grows."""

import threading
from collections import OrderedDict
from typing import Any, Final

from sqlalchemy.orm import Session

from referee.matches.deal_progress import DealGroupProgress
from referee.workflows import visibility
from referee.workflows.visibility import MatchFeed, MatchVisibility

Json = dict[str, Any]

KEPT: Final = 16  # matches; a long one takes a few megabytes


class Tellings:
    """Safe to share between threads."""

    def __init__(self, most: int = KEPT) -> None:
        self._most = most
        self._kept: OrderedDict[str, tuple[MatchFeed, threading.Lock]] = OrderedDict()
        self._tables = DealGroupProgress()
        self._lock = threading.Lock()

    def read_feed(self, session: Session, match_id: str) -> tuple[MatchVisibility, list[Json]]:
        """How the match stands, and the items of all rows that may be told of it now. Raises ``NotFound``."""
        standing = visibility.standing(session, match_id)
        with self._lock:
            telling, reading = self._kept.setdefault(match_id, (MatchFeed(match_id, self._tables), threading.Lock()))
            self._kept.move_to_end(match_id)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        with reading:
            telling.look(session, standing)
            return standing, telling.items[:]
