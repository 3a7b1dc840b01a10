"""Compare our engine and hand ranker with other projects, in a separate environment: ``make bench-peers``.

The rest of the project does not import these modules, and its tests do not need the other projects.
"""
