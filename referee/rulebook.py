"""Load the rules pages for bot authors, one Markdown file per game in ``docs/games``."""

from referee.games import game
from referee.project_files import DOCS


def rules_page(name: str) -> str:
    """Return the rules page of a game as Markdown. Raise ``NoSuchGame`` for an unknown name."""
    return (DOCS / "games" / f"{game(name).name}.md").read_text(encoding="utf-8")
