"""Load the rules pages for bot authors, one Markdown file per game in ``docs/games``.

``referee/pages`` is a symbolic link to that folder, so that the pages are installed with the package.
"""

from pathlib import Path

from referee.games import game

FOLDER = Path(__file__).parent / "pages"


def rules_page(name: str) -> str:
    """Return the rules page of a game as Markdown. Raise ``NoSuchGame`` for an unknown name."""
    return (FOLDER / f"{game(name).name}.md").read_text(encoding="utf-8")
