"""Describe the feeds of pages. ``pages`` serves them."""

from collections.abc import Callable
from dataclasses import dataclass

from referee_extras.feeds.atom import AtomFeed


@dataclass(frozen=True, slots=True)
class PageFeed:
    """Describe the feed of the pages below ``folder`` whose views have ``argument``, an id with ``prefix``.

    ``load`` returns the feed for an id. It raises ``NotFound`` for one of nothing that everybody may see.
    """

    folder: str
    argument: str
    prefix: str
    name: str
    title: str
    load: Callable[[str], AtomFeed]

    @property
    def rule(self) -> str:
        """Return the URL rule of the feed."""
        return f'/{self.folder}/<id("{self.prefix}"):{self.argument}>/{self.name}.atom'

    def path(self, subject_id: str) -> str:
        return f"/{self.folder}/{subject_id}/{self.name}.atom"
