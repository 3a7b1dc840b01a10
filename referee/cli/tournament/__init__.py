"""`referee tournament`: events of a service, by its URL. Each file beside this one has a few of the commands."""

import click

from referee.cli.tournament.announcing import create
from referee.cli.tournament.downloads import logs, results
from referee.cli.tournament.judging import void, waiting
from referee.cli.tournament.remote import STATUSES
from referee.cli.tournament.running import cancel, enter, finish, open_, pause, resume, seeds, start, withdraw
from referee.cli.tournament.showing import list_, show
from referee.cli.tournament.tabling import bracket, crosstable, standings, strengths
from referee.cli.tournament.watching import watch

COMMANDS = (  # in the order of the help page
    *(create, open_, enter, withdraw, seeds, start, pause, resume, cancel, finish),
    *(list_, show, watch, standings, crosstable, bracket, strengths),
    *(logs, results, void, waiting),
)


class InOrder(click.Group):
    """Lists its commands in the order of an event's life."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=InOrder, epilog=STATUSES)
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


for command in COMMANDS:
    tournament.add_command(command)
