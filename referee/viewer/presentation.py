"""Load the presentation of each game: its templates and five steps, its declared secrets, and its table module.

They are in ``presentations`` and ``tables``, or in the package that brings the game.
"""

import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, Final

from referee.games import PACKAGED, catalogue
from referee.games.state import State
from referee.match.canonical import Json

FOLDER: Final = Path(__file__).parent
COMMON: Final = "every_game"
PACKAGED_TABLES: Final = {  # modules, by their paths below the viewer
    f"tables/{game.replace('-', '_')}.js": packaged.folder / "table.js" for game, packaged in PACKAGED.items()
}


@cache
def presentation(game: str) -> Json:
    """Return the templates of a game, merged with those that all games share. A game may have none of its own."""
    common, own = _read_json(_file_of(COMMON)), _read_json(_file_of(game))
    merged = {name: {**value, **own.get(name, {})} for name, value in common.items() if isinstance(value, dict)}
    return {**common, **own, **merged}


def presentations() -> dict[str, Json]:
    """Return what the viewer needs of the presentation of each game, with its secrets and its table module."""
    return {name: _viewer_presentation(name, game) for name, game in catalogue().items()}


def steps(game: str) -> list[tuple[str, str]]:
    """Return the game in five steps, each with a caption and a text, or nothing if its presentation has none."""
    return [(caption, text) for caption, text in presentation(game).get("steps", [])]


def _viewer_presentation(name: str, game: type[State]) -> Json:
    own = {key: value for key, value in presentation(name).items() if key != "steps"}
    return {**own, "secrets": _secrets(game), "table": table_module(name)}


def table_module(game: str) -> str | None:
    """Return the path of the module that draws a game, or None if there is none."""
    name = f"tables/{game.replace('-', '_')}.js"
    return name if module_file(name).exists() else None


def module_file(name: str) -> Path:
    """Return the file of a module of the viewer, which pages fetch from ``name`` below the viewer."""
    return PACKAGED_TABLES.get(name, FOLDER / name)


def _secrets(game: type[State]) -> Any:
    """Return the secrets of a game, or None if its rules define their own functions for masking events."""
    own = {name for kind in game.__mro__[: game.__mro__.index(State)] for name in vars(kind)}
    general = not own & {"mask_event", "visible_events"}
    return [asdict(secret) for secret in game.secrets] if general else None


def _file_of(game: str) -> Path:
    if game in PACKAGED:
        return PACKAGED[game].folder / "presentation.json"
    return FOLDER / "presentations" / f"{game.replace('-', '_')}.json"


def _read_json(path: Path) -> Json:
    found: Json = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found
