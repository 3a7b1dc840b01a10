"""Implement `referee tournament`.

Each module of this package contains some of the commands, or functions that they share.
"""

import click

from referee.cli.lazy_group import LazyGroup

STATUSES = "The exit status is 0 on success, 1 if refused, 2 for wrong usage, 3 if the service cannot be reached."
COMMANDS = {  # in the order of the help page: heading, name of the command, module in this package
    "Prepare": {
        "create": "drafting",
        "edit": "drafting",
        "delete": "drafting",
        **dict.fromkeys(("open", "enter", "withdraw", "seeds"), "lifecycle"),
        **dict.fromkeys(("admission", "requests", "approve", "refuse", "organisers"), "admission"),
    },
    "Run": {
        **dict.fromkeys(("start", "pause", "resume", "cancel", "disqualify"), "lifecycle"),
        **dict.fromkeys(("void", "voids", "confirm-void", "decline-void", "withdraw-void", "waiting"), "voiding"),
    },
    "Follow": {
        "list": "listing",
        "show": "listing",
        "watch": "live_view",
        **dict.fromkeys(("standings", "crosstable", "opponents", "bracket", "strengths", "luck"), "results"),
    },
    "Download": {"logs": "downloads", "results": "downloads"},
    "Without a service": {"local": "local"},
}


@click.group(cls=LazyGroup, package=__name__, members=COMMANDS, epilog=STATUSES)
def tournament() -> None:
    """Create, run, follow and download tournaments of a service.

    Pass a TOURNAMENT or a BOT by id or by name, and the service with --url or $REFEREE_URL. Commands that change
    something need a token: from `referee login`, --token-file or $REFEREE_TOKEN.

    \b
    Example:
      export REFEREE_URL=http://127.0.0.1:8000 REFEREE_TOKEN=ref_…
      referee tournament create "Spring cup" --game saint-poker --seats 2 --open
      referee tournament enter "Spring cup" "Ada sound" "Carl random"
      referee tournament start "Spring cup" --watch
    """
