"""`referee tournament watch`: show a tournament until it is over, also across restarts of the service."""

import click

from referee.cli.tournament.live import display
from referee.cli.tournament.remote import Remote, asks_service, tournament_argument
from referee.cli.tournament.stream import fetch_snapshot, follow_tournament, retry_until_answered


@click.command()
@tournament_argument
@asks_service
def watch(remote: Remote, tournament_id: str) -> None:
    """Show a tournament until it is over.

    A terminal shows the standings, a progress bar and the estimated end; other output gets lines of text. --json prints
    a line of JSON for each message: match, progress, standings, end. If the service is away, the command waits for it.
    Ctrl-C ends the command with status 130; the tournament continues.

    \b
    Example:
      referee tournament watch "Spring cup"
    """
    watch_tournament(remote, tournament_id)


def watch_tournament(remote: Remote, event_id: str) -> None:
    """Returns when the event is over; raises what the first look is refused with."""
    event = remote.api.get(f"/tournaments/{event_id}")
    with display(event, as_json=remote.as_json) as screen:
        for message in follow_tournament(remote.api, event_id, screen.note):
            screen.tell(message)
        if not remote.as_json:
            event, table = retry_until_answered(lambda: fetch_snapshot(remote.api, event_id), screen.note)
            screen.close(event, table["items"])
