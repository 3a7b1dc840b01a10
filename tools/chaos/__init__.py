"""Injure a running service at random, and check what it promises about matches. ``python -m tools.chaos --help``."""
