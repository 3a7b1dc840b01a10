"""The command `referee`. Each file beside this one is a family of subcommands, or what they are made of."""

from referee.cli.main import main

__all__ = ["main"]
