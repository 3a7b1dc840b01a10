"""Value actions in Pool Nap with a row of weights for each action. `train.py` learns them, `bot.py` plays with them."""

from functools import cache

import numpy as np

from referee_extras.gym.actions import ActionSpace
from referee_extras.gym.encoding import Encoder

GAME = "pool-nap"
encoder_for, actions_for = (cache(lambda players, kind=kind: kind(GAME, players)) for kind in (Encoder, ActionSpace))


def features(vector):
    """Return an encoded observation with small numbers, and a constant at the end."""
    return np.append(np.sign(vector) * np.log1p(np.abs(vector)), 1.0)


def choose(seen, legal, weights):
    """Return the legal action with the highest value for an observation and legal actions in JSON."""
    numbers = actions_for(seen["players"]).encode_all(legal, seen["seat"])
    values = weights[numbers] @ features(encoder_for(seen["players"]).vector(seen))
    return legal[int(values.argmax())]
