"""The pages that tell bot authors how a game is played, kept in ``docs/games``; how they are shown is for others.

``referee/pages`` is a link to that folder, so that they are installed with the package.
"""

from pathlib import Path

from referee.games import game

FOLDER = Path(__file__).parent / "pages"


def rules_page(name: str) -> str:
    """The page of the game as Markdown; raises ``NoSuchGame``."""
    return (FOLDER / f"{game(name).name}.md").read_text(encoding="utf-8")
