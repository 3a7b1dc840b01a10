"""Render the sheet of a class: a page for the printer with a card for each account, its token and first commands."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from referee.cli.plain_text import quote_argument

# No script, and nothing is loaded, so that the page may be opened from a disk.
PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Cards of a class</title>
<style>
body {{ font: 15px/1.4 system-ui, sans-serif; margin: 1rem; }}
article {{ border: 1px dashed #666; break-inside: avoid; margin: 0 0 1rem; padding: .5rem 1rem; }}
h2 {{ margin: 0; }}
dl {{ display: grid; gap: 0 1rem; grid-template-columns: max-content 1fr; margin: .25rem 0; }}
dd {{ margin: 0; }}
code {{ font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }}
ol {{ margin: .25rem 0; padding-left: 1.5rem; }}
</style>
</head>
<body>
<h1>Cards of a class</h1>
<p>Cut along the lines. Anybody who has a token plays in the name of its account; it is shown nowhere else.</p>
{cards}
</body>
</html>
"""
CARD: Final = """<article>
<h2><bdi>{name}</bdi></h2>
<dl><dt>Service</dt><dd><code>{service}</code></dd><dt>Token</dt><dd><code>{token}</code></dd></dl>
<ol>
{commands}
</ol>
</article>"""


@dataclass(frozen=True, slots=True)
class Card:
    """Hold what a student gets. ``service`` is a URL."""

    name: str
    token: str
    service: str

    def commands(self) -> tuple[str, str, str]:
        """Return the three first commands. The first asks for the token."""
        bot = quote_argument(f"{self.name[:26].rstrip()} bot")
        return (
            f"referee login --url {self.service}",
            "referee new-bot mybot",
            f"referee register http://ADDRESS:8000 --start mybot --name {bot} --url {self.service}",
        )


def render_cards(cards: Sequence[Card]) -> str:
    """Return the text of the page."""
    return PAGE.format(cards="\n".join(map(_render, cards)) or "<p>There are no new tokens.</p>")


def _render(card: Card) -> str:
    login, create, register = (f"<code>{html.escape(command)}</code>" for command in card.commands())
    steps = (
        f"{login} and type the token.",
        f"{create} writes a bot in a folder.",
        f"{register} starts it; write the address of your own machine for ADDRESS.",
    )
    return CARD.format(
        name=html.escape(card.name),
        service=html.escape(card.service),
        token=html.escape(card.token),
        commands="\n".join(f"<li>{step}</li>" for step in steps),
    )
