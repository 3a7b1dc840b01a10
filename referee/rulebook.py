"""Load the rules pages for bot authors: one Markdown file per game, in ``docs/games`` or in the game's package."""

from referee.games import PACKAGED, game
from referee.project_files import DOCS


def rules_page(name: str) -> str:
    """Return the rules page of a game as Markdown. Raise ``NoSuchGame`` for an unknown name."""
    name = game(name).name
    page = PACKAGED[name].folder / "page.md" if name in PACKAGED else DOCS / "games" / f"{name}.md"
    return page.read_text(encoding="utf-8")
