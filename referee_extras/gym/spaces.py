"""Define the spaces of observations that the environments share."""

from typing import Final

import numpy as np
from gymnasium import spaces

HUGE: Final = np.float32(1e9)  # more than any number in an observation


def box(shape: tuple[int, ...]) -> spaces.Box:
    """Return the space of arrays of this shape with unscaled numbers."""
    return spaces.Box(-HUGE, HUGE, shape, np.float32)
