"""`referee tournament`: events of a service, by its URL. Each file beside this one has a few of the commands."""

import click

from referee.cli.lazy_group import Family

STATUSES = "Exit status: 0 fine, 1 refused, 2 wrong usage, 3 the service cannot be reached."
COMMANDS = {  # in the order of an event's life: module beside this file, and the command's name in it
    "create": ("drafting", "create"),
    "open": ("lifecycle", "open_"),
    "edit": ("drafting", "edit"),
    "enter": ("lifecycle", "enter"),
    "withdraw": ("lifecycle", "withdraw"),
    "seeds": ("lifecycle", "seeds"),
    "start": ("lifecycle", "start"),
    "pause": ("lifecycle", "pause"),
    "resume": ("lifecycle", "resume"),
    "cancel": ("lifecycle", "cancel"),
    "finish": ("lifecycle", "finish"),
    "list": ("listing", "list_"),
    "show": ("listing", "show"),
    "watch": ("watching", "watch"),
    "standings": ("results", "standings"),
    "crosstable": ("results", "crosstable"),
    "meetings": ("results", "meetings"),
    "bracket": ("results", "bracket"),
    "strengths": ("results", "strengths"),
    "luck": ("results", "luck"),
    "logs": ("downloads", "logs"),
    "results": ("downloads", "results"),
    "void": ("voiding", "void"),
    "waiting": ("voiding", "waiting"),
    "local": ("local", "local"),
}


@click.group(cls=Family, package=__name__, members=COMMANDS, epilog=STATUSES)
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
