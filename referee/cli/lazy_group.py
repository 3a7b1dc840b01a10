"""Groups of commands whose modules are imported when they are asked for: those that know all games take their time."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class Family(click.Group):
    """``members`` are, in the order of the help page, a module of ``package`` and the command's name in it."""

    def __init__(self, *args: Any, package: str, members: Mapping[str, tuple[str, str]], **more: Any) -> None:
        super().__init__(*args, **more)
        self._package = package
        self._members = members

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._members)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._members:
            return None
        module, name = self._members[cmd_name]
        command: click.Command = getattr(import_module(f"{self._package}.{module}"), name)
        return command
