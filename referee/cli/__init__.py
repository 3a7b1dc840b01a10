"""The command `referee`. Each file beside this one is a family of subcommands, or what they are made of."""

import gc

# What is imported stays: to look through it for garbage again and again took a tenth of the time to start.
gc.set_threshold(10_000, 50, 100)

from referee.cli.main import main  # noqa: E402  # by the line above commands are imported sooner

__all__ = ["main"]
