"""`referee tournament`: commands for the tournaments of a service. Each module of this package has some of them."""

import click

from referee.cli.lazy_group import LazyGroup

STATUSES = "The exit status is 0 on success, 1 if refused, 2 for wrong usage, 3 if the service cannot be reached."
COMMANDS = {  # by heading, in the order of the help page: module beside this file, and the command's name in it
    "Prepare": {
        "create": ("drafting", "create"),
        "edit": ("drafting", "edit"),
        "open": ("lifecycle", "open_"),
        "enter": ("lifecycle", "enter"),
        "withdraw": ("lifecycle", "withdraw"),
        "seeds": ("lifecycle", "seeds"),
    },
    "Run": {
        "start": ("lifecycle", "start"),
        "pause": ("lifecycle", "pause"),
        "resume": ("lifecycle", "resume"),
        "cancel": ("lifecycle", "cancel"),
        "finish": ("lifecycle", "finish"),
        "void": ("voiding", "void"),
        "waiting": ("voiding", "waiting"),
    },
    "Follow": {
        "list": ("listing", "list_"),
        "show": ("listing", "show"),
        "watch": ("live", "watch"),
        "standings": ("results", "standings"),
        "crosstable": ("results", "crosstable"),
        "opponents": ("results", "opponents"),
        "bracket": ("results", "bracket"),
        "strengths": ("results", "strengths"),
        "luck": ("results", "luck"),
    },
    "Download": {
        "logs": ("downloads", "logs"),
        "results": ("downloads", "results"),
    },
    "Without a service": {
        "local": ("local", "local"),
    },
}


@click.group(cls=LazyGroup, package=__name__, members=COMMANDS, epilog=STATUSES)
def tournament() -> None:
    """Create, run, follow and download tournaments of a service.

    Give a TOURNAMENT and a BOT by id or by name, and the service with --url or $REFEREE_URL. Commands that change
    something need a token, from --token-file or $REFEREE_TOKEN.

    \b
    Example:
      export REFEREE_URL=http://127.0.0.1:8000 REFEREE_TOKEN=ref_…
      referee tournament create "Spring cup" --game saint-poker --seats 2 --open
      referee tournament enter "Spring cup" "Ada sound" "Carl random"
      referee tournament start "Spring cup" --watch
    """
