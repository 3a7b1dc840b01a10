"""Provide the command `referee`. Each module of this package has some of the subcommands, or helpers they share."""

import gc

# Imported modules stay in memory. With the default thresholds, collecting garbage took a tenth of the start-up time.
gc.set_threshold(10_000, 50, 100)

from referee.cli.main import main  # noqa: E402  # the thresholds above speed this import up

__all__ = ["main"]
