"""Implement `referee tournament`.

Each module of this package contains some of the commands, or functions that they share.
"""

import click

from referee.cli.lazy_group import LazyGroup

STATUSES = "The exit status is 0 on success, 1 if refused, 2 for wrong usage, 3 if the service cannot be reached."
COMMANDS = {  # heading: {name of the command: (module, first paragraph of its help)}
    "Prepare": {
        "create": ("drafting", "Draft a tournament. Bots can enter once it is open."),
        "open": ("lifecycle", "Open a draft for entries."),
        "enter": ("lifecycle", "Enter bots, or ask the organiser to enter them if the tournament approves entries."),
        "withdraw": ("lifecycle", "Withdraw bots."),
    },
    "Run": {
        "start": ("lifecycle", "Close entries, call every bot, and start the matches."),
        "pause": ("lifecycle", "Start no further matches."),
        "resume": ("lifecycle", "Resume a paused tournament."),
        "cancel": ("lifecycle", "End a tournament early."),
        "disqualify": ("lifecycle", "Disqualify a bot."),
        "void": ("lifecycle", "Void a finished match, so that its result does not count."),
        "waiting": ("reading", "Show why a bot is not playing."),
    },
    "Follow": {
        "list": ("reading", "List tournaments, the newest first."),
        "show": ("reading", "Show a tournament."),
        "watch": ("live_view", "Show a tournament until it is over."),
        "standings": ("reading", "Show the standings."),
        "bracket": ("reading", "List the tables of a knockout, round by round."),
    },
    "Download": {"results": ("reading", "Show all results.")},
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
