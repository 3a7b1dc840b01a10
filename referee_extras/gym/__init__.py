"""Provide the games as environments for reinforcement learning (see `docs/learning.md`).

This package needs the extra ``rl`` of the project. ``learner`` has the environments for Gymnasium, ``aec`` those for
PettingZoo, and ``openspiel`` registers the games with OpenSpiel. All use ``table`` (a match without HTTP) and
``encoding`` (arrays); ``actions`` numbers the actions of each game. ``evaluation`` measures a policy.
"""
