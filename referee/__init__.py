"""Provide the games, matches and results of Referee, a tournament service for bots."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from referee.local.function_matches import play

    __version__: str

__all__ = ["__version__", "play"]


def __getattr__(name: str) -> Any:
    """Find the version when it is first used, since git may be asked, and import ``play``, which needs many modules."""
    match name:
        case "__version__":
            found = import_module("referee.version").find_version()
        case "play":
            found = import_module("referee.local.function_matches").play
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, found)
