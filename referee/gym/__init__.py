"""The games as environments for reinforcement learning. See `docs/learning.md`; needs ``pip install 'referee[rl]'``.

``aec`` is the environment for PettingZoo, ``openspiel`` registers the games with OpenSpiel. Both use ``table`` (a
match without a referee) and ``encoding`` (observations as arrays).
"""
