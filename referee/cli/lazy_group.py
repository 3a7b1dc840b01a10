"""Group commands under headings, and import the module of a command only when the command runs.

Importing all modules takes long, because some of them import every game. So the help of a group imports none: the table
of the group has the summaries.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from referee import plugs
from referee.cli.former_commands import FORMER

Members = Mapping[str, Mapping[str, tuple[str, str]]]


class LazyGroup(click.Group):
    """Load each command from a module of ``package`` or from an extra, whose commands follow those of the service.

    ``members`` maps each heading to {command: (module, summary)}; the summary is the first paragraph of its help.
    """

    def __init__(self, *args: Any, package: str = "referee.cli", members: Members, **more: Any) -> None:
        super().__init__(*args, **more)
        self._members = members
        self._package = package
        self._modules = {name: module for group in members.values() for name, (module, _) in group.items()}

    def summaries(self) -> dict[str, dict[str, str]]:
        """Return the summaries of all commands by heading and name."""
        found = {
            heading: {name: summary for name, (_, summary) in group.items()} for heading, group in self._members.items()
        }
        for command in plugs.list_commands(self.name or ""):
            found.setdefault(command.heading, {})[command.name] = command.summary
        return found

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for group in self.summaries().values() for name in group]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._modules:
            of_extras = plugs.list_commands(self.name or "")
            return next((plugs.load(each.command) for each in of_extras if each.name == cmd_name), None)
        module = import_module(f"{self._package}.{self._modules[cmd_name]}")
        commands = (value for value in vars(module).values() if isinstance(value, click.Command))
        return next(command for command in commands if command.name == cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the arguments. Name what replaces a former command, and exit with status 2."""
        path = " ".join([*ctx.command_path.split()[1:], args[0]])
        if path in FORMER:
            ctx.fail(FORMER[path])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, group in self.summaries().items():
            with formatter.section(heading):
                formatter.write_dl(list(group.items()))
