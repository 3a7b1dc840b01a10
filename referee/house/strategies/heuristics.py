"""The type of ``sound``'s heuristics: the worth of an action, given what the seat sees."""

from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
Worth = Callable[[Json], Any]  # from an action; more is better, and the first of equals is played
WorthByPhase = dict[str, Callable[[Json], Worth]]  # by phase, from an observation
