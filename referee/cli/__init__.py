"""The command `referee`. Each module of this package holds some of the subcommands, or helpers that they share."""

import gc

# Imported modules stay in memory. With the default thresholds, collecting garbage took a tenth of the start-up time.
gc.set_threshold(10_000, 50, 100)

from referee.cli.main import main  # noqa: E402  # after the thresholds, which speed this import up

__all__ = ["main"]
