"""Define the types of the heuristics of ``sound``, which rate actions, given the observation of a seat."""

from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
Worth = Callable[[Json], Any]  # from an action; higher is better, and the first of equal actions is played
WorthByPhase = dict[str, Callable[[Json], Worth]]  # by phase, from an observation
