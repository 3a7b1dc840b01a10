"""Group commands under headings, and import the module of a command only when the command is used.

Importing all modules takes long, because some of them import every game.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """Load each command from a module of ``package``. ``members`` maps each heading to {command: module}."""

    def __init__(self, *args: Any, package: str, members: Mapping[str, Mapping[str, str]], **more: Any) -> None:
        super().__init__(*args, **more)
        self._package = package
        self._headings = members
        self._members = {name: found for group in members.values() for name, found in group.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._members)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._members:
            return None
        module = import_module(f"{self._package}.{self._members[cmd_name]}")
        commands = (value for value in vars(module).values() if isinstance(value, click.Command))
        return next(command for command in commands if command.name == cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, group in self._headings.items():
            with formatter.section(heading):
                formatter.write_dl([(name, self._summary(ctx, name)) for name in group])

    def _summary(self, ctx: click.Context, name: str) -> str:
        """Return the first paragraph of a command's help."""
        command = self.get_command(ctx, name)
        assert command is not None, "the name comes from the members"
        return " ".join((command.help or "").partition("\n\n")[0].split())
