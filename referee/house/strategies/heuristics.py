"""The form in which ``sound`` knows a game: how much an action is worth in what a seat sees."""

from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
Worth = Callable[[Json], Any]  # of an action; more is better, the first of equals is played
WorthByPhase = dict[str, Callable[[Json], Worth]]  # phase -> observation -> worth
