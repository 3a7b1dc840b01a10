"""`referee tournament watch`: show a tournament until it is over, even if the service restarts meanwhile."""

import click

from referee.cli.tournament.live import display
from referee.cli.tournament.remote import Remote, service_command, tournament_argument
from referee.cli.tournament.stream import fetch_snapshot, follow_tournament, retry_until_answered


@click.command()
@tournament_argument
@service_command
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


def watch_tournament(remote: Remote, tournament_id: str) -> None:
    """Show a tournament until it is over. Raise if the first request fails; wait for the service later on."""
    tournament = remote.api.get(f"/tournaments/{tournament_id}")
    with display(tournament, as_json=remote.as_json) as shown:
        for message in follow_tournament(remote.api, tournament_id, shown.note):
            shown.show(message)
        if not remote.as_json:
            tournament, table = retry_until_answered(lambda: fetch_snapshot(remote.api, tournament_id), shown.note)
            shown.close(tournament, table["items"])
