"""`referee tournament`: events of a service, by its URL. Each file beside this one has a few of the commands."""

from importlib import import_module

import click

STATUSES = "Exit status: 0 fine, 1 refused, 2 wrong usage, 3 the service cannot be reached."
COMMANDS = {  # in the order of an event's life: module beside this file, and the command's name in it
    "create": ("announcing", "create"),
    "open": ("running", "open_"),
    "enter": ("running", "enter"),
    "withdraw": ("running", "withdraw"),
    "seeds": ("running", "seeds"),
    "start": ("running", "start"),
    "pause": ("running", "pause"),
    "resume": ("running", "resume"),
    "cancel": ("running", "cancel"),
    "finish": ("running", "finish"),
    "list": ("showing", "list_"),
    "show": ("showing", "show"),
    "watch": ("watching", "watch"),
    "standings": ("tabling", "standings"),
    "crosstable": ("tabling", "crosstable"),
    "meetings": ("tabling", "meetings"),
    "bracket": ("tabling", "bracket"),
    "strengths": ("tabling", "strengths"),
    "luck": ("tabling", "luck"),
    "logs": ("downloads", "logs"),
    "results": ("downloads", "results"),
    "void": ("judging", "void"),
    "waiting": ("judging", "waiting"),
    "local": ("local", "local"),
}


class Family(click.Group):
    """Loads a command's module when it is asked for: those that know all games take their time."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(f"referee.cli.tournament.{module}"), name)
        return command


@click.group(cls=Family, epilog=STATUSES)
def tournament() -> None:
    """Events of a service: announce, enter, start, watch, download.

    A TOURNAMENT and a BOT may be given by id or by name. The service is that of --url or REFEREE_URL; a token
    comes from --token-file or REFEREE_TOKEN and is needed for whatever changes something.

    \b
    Example:
      export REFEREE_URL=http://127.0.0.1:8000 REFEREE_TOKEN=ref_…
      referee tournament create "Spring cup" --game saint-poker --seats 2 --open
      referee tournament enter "Spring cup" "Ada sound" "Carl random"
      referee tournament start "Spring cup" --watch
    """
