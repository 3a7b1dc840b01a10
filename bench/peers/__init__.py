"""Compare our engine, learning environments and hand ranker with other projects: ``make bench-peers``.

The other projects are installed into an environment of their own. The rest of the project does not import these
modules, and its tests do not need the other projects.
"""
