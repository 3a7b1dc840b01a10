"""Other engines and hand rankers beside ours, in one run. They need an environment of their own: ``make bench-peers``.

Nothing else in the project imports them, and none of them is needed to run or to test it.
"""
