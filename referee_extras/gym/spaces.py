"""Define the spaces and the choices that the environments share."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from gymnasium import spaces

ACTIONS: Final = ("fixed", "index")
OBSERVED: Final = ("vector", "dictionary")
HUGE: Final = np.float32(1e9)  # more than any number in an observation


def box(shape: tuple[int, ...]) -> spaces.Box:
    """Return the space of arrays of this shape with unscaled numbers."""
    return spaces.Box(-HUGE, HUGE, shape, np.float32)


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Raise ``ValueError`` if the value of an argument is not one of ``choices``."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
