"""Serve the guides for bot authors, organisers and API clients, rendered from ``docs``."""

import posixpath
from functools import cache
from typing import Final

from flask import Blueprint, Response

from api.errors import not_found
from api.pages.markdown import Rendered, Resolve, render_markdown
from api.pages.page import page
from referee.games import catalogue
from referee.project_files import DOCS

pages = Blueprint("guides", __name__)

NAMES: Final = (  # the documents to show, in reading order
    *("first-bot", "bot-protocol", "checking", "official-ladders", "account", "sdk", "asking-again", "learning"),
    *("tournaments", "formats", "ratings", "audit", "class", "watching", "webhooks"),
)


@pages.get("/guides")
def contents() -> Response:
    return page("guides/list.html", guides=guides())


@pages.get("/guides/<name>")
def show(name: str) -> Response:
    if name not in guides():
        raise not_found()
    return page("guides/page.html", guide=guides()[name], guides=guides(), name=name)


@cache
def guides() -> dict[str, Rendered]:
    """Return all guides in reading order, keyed by name."""
    texts = {name: (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in NAMES}
    return {name: render_markdown(text, address_in("docs")) for name, text in texts.items()}


def address_in(folder: str) -> Resolve:
    """Return a function that converts links in documents of ``folder`` to links of this site.

    The function returns None for a file that this site does not show.
    """

    def resolve(link: str) -> str | None:
        path, _, fragment = link.partition("#")
        fragment = f"#{fragment}" if fragment else ""
        match posixpath.normpath(posixpath.join(folder, path)).split("/"):
            case ["docs", "games"]:
                return "/games"
            case ["docs", "games", name] if name.removesuffix(".md") in catalogue():
                return f"/games/{name.removesuffix('.md')}{fragment}"
            case ["docs", name] if name.removesuffix(".md") in NAMES:
                return f"/guides/{name.removesuffix('.md')}{fragment}"
            case ["openapi.yaml"]:
                return "/docs"
        return None

    return resolve
