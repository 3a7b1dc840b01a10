"""Provide the games, matches and results of Referee, a tournament service for bots."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    __version__: str

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """Find the version when it is first used, since git may be asked."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: str = import_module("referee.version").find_version()
    globals()[name] = found
    return found
