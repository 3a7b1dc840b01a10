"""Provide the games, matches and results of Referee, a tournament service for bots."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from referee.local.function_matches import play

__all__ = ["__version__", "play"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import ``play`` when it is first used, since it needs almost all modules."""
    if name != "play":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("referee.local.function_matches").play
