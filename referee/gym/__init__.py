"""The games as environments for learning programs; `docs/learning.md` tells how. Needs ``pip install 'referee[rl]'``.

``aec`` is the environment of PettingZoo, ``openspiel`` registers the games with OpenSpiel; both stand on ``table``
(a match as a learner plays it) and ``encoding`` (what a seat sees, as numbers).
"""
