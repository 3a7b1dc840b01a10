"""Render our Markdown documents as HTML, with ids of headings, scrolling tables and marked suits of cards.

HTML in the source is escaped. The output contains nothing that the content policy of the pages forbids.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

Resolve = Callable[[str], str | None]

COMMENT: Final = re.compile(r"^<!--.*?-->\n?", re.DOTALL | re.MULTILINE)
CARD: Final = re.compile(r"&#34;([2-9TJQKA])([cdhs])&#34;")
OUTSIDE: Final = ("https://", "http://")


@dataclass(frozen=True, slots=True)
class Heading:
    """Describe a heading of a page; ``level`` is 2 for a chapter."""

    id: str
    text: str
    level: int


@dataclass(frozen=True, slots=True)
class Rendered:
    """Hold a rendered page: its title, its body after the title, and its headings."""

    title: str
    body: Markup
    contents: tuple[Heading, ...]


def render_markdown(text: str, resolve: Resolve) -> Rendered:
    """Return the rendered page. ``resolve`` converts relative links; a link becomes plain text if it returns None."""
    tokens = _PARSER.parse(COMMENT.sub("", text))
    title = next((tokens[index + 1].content for index, token in enumerate(tokens) if _is_title(token)), "")
    after_title = tokens[3:] if tokens and _is_title(tokens[0]) else tokens
    tokens = list(_without_empty_heads(after_title))
    contents = tuple(_add_heading_ids(tokens))
    _resolve_links(tokens, resolve)
    return Rendered(title.replace("`", ""), Markup(_PARSER.renderer.render(tokens, _PARSER.options, {})), contents)  # noqa: S704  # our own text, with HTML disabled


def slug(text: str) -> str:
    """Return the id of a heading, formed as on GitHub, so that links between the documents work there and here."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def _is_title(token: Token) -> bool:
    return token.type == "heading_open" and token.tag == "h1"


def _without_empty_heads(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens without table heads whose cells are all empty."""
    skipping = False
    for at, token in enumerate(tokens):
        if token.type == "thead_open":
            end = next(i for i in range(at, len(tokens)) if tokens[i].type == "thead_close")
            skipping = not any(inner.content for inner in tokens[at:end])
        if not skipping:
            yield token
        skipping = skipping and token.type != "thead_close"


def _add_heading_ids(tokens: Sequence[Token]) -> Iterator[Heading]:
    """Set the id of every heading, name every table after its chapter, and yield the headings."""
    repeats: dict[str, int] = {}
    tables: dict[str, int] = {}
    chapter = ""
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            chapter = tokens[at + 1].content.replace("`", "")
            id = slug(chapter)
            repeats[id] = repeats.get(id, -1) + 1
            id = f"{id}-{repeats[id]}" if repeats[id] else id
            token.attrSet("id", id)
            yield Heading(id, chapter, int(token.tag[1:]))
        elif token.type == "table_open":
            tables[chapter] = tables.get(chapter, 0) + 1
            token.meta["name"] = chapter if tables[chapter] == 1 else f"{chapter}, table {tables[chapter]}"


def _resolve_links(tokens: Sequence[Token], resolve: Resolve) -> None:
    for token in tokens:
        children = token.children or []
        closing = False
        for child in children:
            if child.type == "link_open":
                href = str(child.attrs["href"])
                found = href if href.startswith((*OUTSIDE, "#")) else resolve(href)
                closing = found is None
                child.attrSet("href", found or "")
                child.hidden = closing
            elif child.type == "link_close":
                child.hidden = closing


class _Renderer(RendererHTML):
    """Render tokens. markdown-it calls the method with the name of the token's type."""

    def link_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return "" if tokens[at].hidden else self.renderToken(tokens, at, options, env)

    def link_close(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return "" if tokens[at].hidden else "</a>"

    def table_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        name = escape(tokens[at].meta.get("name") or "Table")
        return f'<div class="table" role="region" tabindex="0" aria-label="{name}, table"><table>'

    def table_close(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return "</table></div>"

    def th_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return f'<th scope="col"{_alignment(tokens[at])}>' if tokens[at + 1].content else "<td>"

    def th_close(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return "</th>" if tokens[at - 1].content else "</td>"

    def td_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return f"<td{_alignment(tokens[at])}>"

    def code_inline(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return f"<code>{_mark_suits(tokens[at].content)}</code>"

    def code_block(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return self.fence(tokens, at, options, env)

    def fence(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return f'<pre tabindex="0"><code>{_mark_suits(tokens[at].content)}</code></pre>\n'


def _alignment(cell: Token) -> str:
    return ' class="number"' if "right" in str(cell.attrs.get("style", "")) else ""


def _mark_suits(text: str) -> str:
    """Return ``text`` as HTML with cards marked by suit. The style sheet adds the symbols, so copies stay exact."""
    return CARD.sub(r'<span class="suit-\2">&#34;\1\2&#34;</span>', str(escape(text)))


_PARSER: Final = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
