"""Render texts that users write in a subset of Markdown. ``markdown`` renders our own documents.

HTML is escaped, images are not rendered, and links lead only to web and mail addresses. Headings have the level below
those of the page.
"""

from collections.abc import Sequence
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

HEADING: Final = "h3"
LINKED: Final = ("https://", "http://", "mailto:")
REL: Final = "nofollow noopener ugc"
RULES: Final = (
    *("heading", "list", "blockquote", "code", "fence", "hr"),
    *("emphasis", "strikethrough", "link", "autolink", "backticks", "escape", "entity", "newline"),
)


def render_untrusted(text: str) -> Markup:
    """Return the text as HTML that may be shown on any page, even if an attacker wrote it."""
    return Markup(_PARSER.render(text))  # noqa: S704  # the renderer escapes texts and writes only tags of the rules


class _UntrustedRenderer(RendererHTML):
    """Render tokens. markdown-it calls the method with the name of the token's type."""

    def heading_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return f'<{HEADING} dir="auto">'

    def heading_close(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return f"</{HEADING}>\n"

    def paragraph_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return "" if tokens[at].hidden else '<p dir="auto">'

    def link_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        token = tokens[at]
        href = str(token.attrs["href"])
        if not href.lower().startswith(LINKED):
            return "<span>"
        token.attrs = {"href": href, "rel": REL}  # without a title, which could say anything
        return self.renderToken(tokens, at, options, env)

    def link_close(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        opening = _opening_of(tokens, at)
        return "</a>" if "rel" in opening.attrs else "</span>"

    def fence(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return self.code_block(tokens, at, options, env)  # without the class that names the language

    def code_block(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        code = Markup("<pre tabindex='0'><code>{}</code></pre>\n").format(tokens[at].content)
        return str(code)


def _opening_of(tokens: Sequence[Token], at: int) -> Token:
    """Return the token that opens the link closed at ``at``. Links contain no links."""
    return next(token for token in reversed(tokens[:at]) if token.type == "link_open")


_OPTIONS: Final = {"html": False, "maxNesting": 12}
_PARSER: Final = MarkdownIt("zero", _OPTIONS, renderer_cls=_UntrustedRenderer).enable(list(RULES))
