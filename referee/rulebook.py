"""Load the rules pages for bot authors: one Markdown file per game, in ``docs/games`` or in the game's package."""

from pathlib import Path

from referee.games import PACKAGED, game
from referee.project_files import DOCS


def rules_page(name: str) -> str:
    """Return the rules page of a game as Markdown. Raise ``NoSuchGame`` for an unknown name."""
    return _page(game(name).name).read_text(encoding="utf-8")


def _page(name: str) -> Path:
    return PACKAGED[name].folder / "page.md" if name in PACKAGED else DOCS / "games" / f"{name}.md"
