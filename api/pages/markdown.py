"""Our own pages in Markdown as HTML: headings that can be linked to, tables that scroll, cards with their suits.

No HTML of the source comes through, and nothing is made that the pages' policy forbids.
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
    """A place in a page; ``level`` is 2 for a chapter."""

    id: str
    text: str
    level: int


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page: its title, what follows the title, and where things are in it."""

    title: str
    body: Markup
    contents: tuple[Heading, ...]


def render_markdown(text: str, resolve: Resolve) -> Rendered:
    """The page. ``resolve`` says where a link leads here; None makes it plain text."""
    tokens = _PARSER.parse(COMMENT.sub("", text))
    title = next((tokens[at + 1].content for at, token in enumerate(tokens) if _is_title(token)), "")
    tokens = list(_without_empty_heads(_after_title(tokens)))
    contents = tuple(_add_heading_ids(tokens))
    _link(tokens, resolve)
    return Rendered(title.replace("`", ""), Markup(_PARSER.renderer.render(tokens, _PARSER.options, {})), contents)  # noqa: S704  # our own text, HTML disabled


def slug(text: str) -> str:
    """The id of a heading, as hosts of code make them, so that links between the pages hold there and here."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def _is_title(token: Token) -> bool:
    return token.type == "heading_open" and token.tag == "h1"


def _after_title(tokens: Sequence[Token]) -> Sequence[Token]:
    return tokens[3:] if tokens and _is_title(tokens[0]) else tokens


def _without_empty_heads(tokens: Sequence[Token]) -> Iterator[Token]:
    """A table whose columns need no names has no row of empty cells."""
    skipping = False
    for at, token in enumerate(tokens):
        if token.type == "thead_open":
            end = next(i for i in range(at, len(tokens)) if tokens[i].type == "thead_close")
            skipping = not any(one.content for one in tokens[at:end])
        if not skipping:
            yield token
        skipping = skipping and token.type != "thead_close"


def _add_heading_ids(tokens: Sequence[Token]) -> Iterator[Heading]:
    """Gives every heading its id, and every table the name of the chapter it is in."""
    met: dict[str, int] = {}
    tables: dict[str, int] = {}
    chapter = ""
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            chapter = tokens[at + 1].content.replace("`", "")
            id = slug(chapter)
            met[id] = met.get(id, -1) + 1
            id = f"{id}-{met[id]}" if met[id] else id
            token.attrSet("id", id)
            yield Heading(id, chapter, int(token.tag[1:]))
        elif token.type == "table_open":
            tables[chapter] = tables.get(chapter, 0) + 1
            token.meta["name"] = chapter if tables[chapter] == 1 else f"{chapter}, table {tables[chapter]}"


def _link(tokens: Sequence[Token], resolve: Resolve) -> None:
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
    """HTML of the tokens; the methods are called by the tokens' types."""

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
    """Cards marked with their suit. The sign itself comes from the style sheet, so that what is copied stays exact."""
    return CARD.sub(r'<span class="suit-\2">&#34;\1\2&#34;</span>', str(escape(text)))


_PARSER: Final = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
