"""Find every page of a service that can be reached by links, without a browser."""

import re
import urllib.error
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit

MOST_OF_A_KIND = 2
ID = re.compile(r"\b(acc|bot|mat|trn|lad|crt|flt|dlv|whk)_[0-9a-z]+\b")
NOT_PAGES = ("/api/", "/static/", "/docs")


@dataclass
class Visited:
    """A page: its status, type, ids and links."""

    status: int
    media_type: str
    ids: set[str]
    links: list[str]


@dataclass
class Crawl:
    """All pages by path. ``kinds`` has one page of each kind, such as ``/bots/…``."""

    url: str
    pages: dict[str, Visited] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    _met: Counter[str] = field(default_factory=Counter)

    def run(self, *starts: str) -> "Crawl":
        """Follow links from ``starts``, to a limited number of pages of each kind."""
        waiting = list(starts)
        while waiting:
            path = waiting.pop(0)
            if path in self.pages or self._met[kind_of(path)] >= (1 if "?" in path else MOST_OF_A_KIND):
                continue
            self._met[kind_of(path)] += 1
            self.pages[path] = visited = self._visit(path)
            if visited.media_type == "text/html" and not path.startswith(NOT_PAGES):
                self.kinds.setdefault(kind_of(urlsplit(path).path), urlsplit(path).path)
            waiting += [urldefrag(link).url for link in visited.links]
        return self

    def broken(self) -> list[str]:
        """Return broken links: to no page, or to a missing id."""
        links = [(path, *urldefrag(link)) for path, page in self.pages.items() for link in page.links]
        return [
            f"{path} -> {target}#{place}"
            for path, target, place in links
            if target in self.pages
            if self.pages[target].status != 200 or (place and place not in self.pages[target].ids)
        ]

    def _visit(self, path: str) -> Visited:
        request = urllib.request.Request(self.url + path, headers={"Accept": "text/html,*/*"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                media_type = answer.headers.get_content_type()
                text = answer.read().decode() if media_type == "text/html" else ""
                status = answer.status
        except urllib.error.HTTPError as error:
            return Visited(error.code, "", set(), [])
        reader = _Reader()
        reader.feed(text)
        found = [urljoin(self.url + path, link) for link in reader.links]
        return Visited(status, media_type, reader.ids, [one.removeprefix(self.url) for one in found if self._ours(one)])

    def _ours(self, link: str) -> bool:
        return link.startswith(f"{self.url}/") and "/stream" not in urlsplit(link).path  # a stream has no end


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self._within_template = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self._within_template += tag == "template"
        if known.get("id"):
            self.ids.add(str(known["id"]))
        if tag == "a" and known.get("href") and not self._within_template:
            self.links.append(str(known["href"]))

    def handle_endtag(self, tag: str) -> None:
        self._within_template -= tag == "template"


def kind_of(path: str) -> str:
    """Return the kind of a page: its path without ids, names of games and guides, and values of parameters."""
    parts = urlsplit(path)
    kind = ID.sub(r"\1", parts.path)
    kind = re.sub(r"^/(games|guides)/[a-z-]+$", r"/\1/…", kind)
    kind = re.sub(r"/\d+(?=/|$)", "/1", kind)
    keys = sorted(pair.partition("=")[0] for pair in parts.query.split("&") if pair)
    return "?".join([kind, *keys])
