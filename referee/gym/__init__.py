"""Provide the games as environments for reinforcement learning (see `docs/learning.md`).

This package needs ``pip install 'referee[rl]'``. ``aec`` has the environment for PettingZoo, and ``openspiel``
registers the games with OpenSpiel. Both use ``table`` (a match without HTTP) and ``encoding`` (arrays).
"""
