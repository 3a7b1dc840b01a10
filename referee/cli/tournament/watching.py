"""`referee tournament watch`: an event shown until it is over, also across restarts of the service."""

import click

from referee.cli.tournament import lookup
from referee.cli.tournament.live import display
from referee.cli.tournament.remote import Remote, asks_service
from referee.cli.tournament.stream import followed, looked, patiently


@click.command()
@click.argument("tournament", metavar="TOURNAMENT")
@asks_service
def watch(remote: Remote, tournament: str) -> None:
    """Show an event until it is over.

    Its table, a progress bar, the likely end. Where the output is no terminal, plain lines take the place of the moving
    table; --json gives a line of JSON for each message: match, progress, standings, end. While the service is away it
    waits. Ctrl-C ends it with status 130; the event goes on.

    \b
    Example:
      referee tournament watch "Spring cup"
    """
    watched(remote, lookup.tournament_id(remote.api, tournament))


def watched(remote: Remote, event_id: str) -> None:
    """Returns when the event is over; raises what the first look is refused with."""
    event = remote.api.get(f"/tournaments/{event_id}")
    with display(event, as_json=remote.as_json) as screen:
        for message in followed(remote.api, event_id, screen.note):
            screen.tell(message)
        if not remote.as_json:
            event, table = patiently(lambda: looked(remote.api, event_id), screen.note)
            screen.close(event, table["items"])
