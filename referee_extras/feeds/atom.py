"""Describe Atom feeds (RFC 4287) and write them. What they contain is decided in ``results``; ``pages`` serves them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit
from xml.etree import ElementTree

import referee
from referee.timestamps import format_time

MEDIA_TYPE: Final = "application/atom+xml"
NAMESPACE: Final = "http://www.w3.org/2005/Atom"
ENDING: Final = ".atom"  # of the paths of feeds
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # not allowed, not even escaped


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """Describe an entry. ``path``, that of its page, identifies it for ever, together with ``named_at``.

    ``named_at`` is a time at which the service existed, such as that of the creation of what the entry is about.
    """

    named_at: datetime
    path: str
    title: str
    summary: str
    updated: datetime
    category: str


@dataclass(frozen=True, slots=True)
class AtomFeed:
    """Hold what is in a feed."""

    named_at: datetime
    title: str
    subtitle: str
    entries: Sequence[FeedEntry]

    @property
    def updated(self) -> datetime:
        """Return when the last entry changed or, without entries, when the subject of the feed was created."""
        return max((entry.updated for entry in self.entries), default=self.named_at)


def write_feed(page_feed: "PageFeed", subject_id: str, public_url: str) -> bytes:
    """Return the feed of a subject as XML. All addresses in it begin with ``public_url``."""
    feed, path = page_feed.load(subject_id), page_feed.path(subject_id)
    root = ElementTree.Element("feed", {"xmlns": NAMESPACE, "xml:lang": "en"})
    _add(root, "id", _tag_uri(public_url, path.removesuffix(ENDING), feed.named_at))
    _add(root, "title", feed.title)
    _add(root, "subtitle", feed.subtitle)
    _add(root, "updated", format_time(feed.updated))
    author = _add(root, "author")
    _add(author, "name", "Referee")
    _add(author, "uri", f"{public_url}/")
    _add(root, "generator", "Referee", version=referee.__version__)
    _add(root, "icon", f"{public_url}/favicon.ico")
    _add(root, "link", rel="self", type=MEDIA_TYPE, href=f"{public_url}{path}")
    _add(
        root,
        "link",
        rel="alternate",
        type="text/html",
        href=f"{public_url}/{page_feed.folder}/{subject_id}{page_feed.page}",
    )
    for entry in feed.entries:
        _add_entry(root, entry, public_url)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def _add_entry(root: ElementTree.Element, entry: FeedEntry, public_url: str) -> None:
    added = _add(root, "entry")
    _add(added, "id", _tag_uri(public_url, entry.path, entry.named_at))
    _add(added, "title", entry.title)
    _add(added, "updated", format_time(entry.updated))
    _add(added, "link", rel="alternate", type="text/html", href=f"{public_url}{entry.path}")
    _add(added, "category", term=entry.category)
    _add(added, "summary", entry.summary)


def _add(parent: ElementTree.Element, name: str, text: str | None = None, **attributes: str) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, name, attributes)
    element.text = None if text is None else _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
    return element


def _tag_uri(public_url: str, path: str, named_at: datetime) -> str:
    """Return an id that stays the same when pages move (RFC 4151)."""
    return f"tag:{urlsplit(public_url).hostname},{named_at:%Y-%m-%d}:{path[1:]}"


@dataclass(frozen=True, slots=True)
class PageFeed:
    """Describe the feed of the pages below ``folder`` whose views have ``argument``, an id with ``prefix``.

    It mirrors the page whose path ends in ``page``. ``load`` returns it for an id, and raises ``NotFound`` for one of
    nothing that everybody may see.
    """

    folder: str
    argument: str
    prefix: str
    name: str
    title: str
    load: Callable[[str], AtomFeed]
    page: str = ""

    @property
    def rule(self) -> str:
        """Return the URL rule of the feed."""
        return self.path(f'<id("{self.prefix}"):{self.argument}>')

    def path(self, subject_id: str) -> str:
        return f"/{self.folder}/{subject_id}/{self.name}{ENDING}"
