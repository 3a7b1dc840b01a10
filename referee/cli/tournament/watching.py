"""`referee tournament watch`: an event shown until it is over, also across restarts of the service."""

import time
from collections.abc import Callable
from typing import TypeVar

import click

from referee.canonical import Json
from referee.cli.api_client import Api, ApiRefusal, ApiUnreachable
from referee.cli.tournament import finding, words
from referee.cli.tournament.live import Display, display
from referee.cli.tournament.remote import Remote, asks_service

POLLED_S = 1.0
SLOWEST_S = 10.0  # between two attempts while the service is away
BUSY = 429
LINES = 50

Found = TypeVar("Found")


@click.command()
@click.argument("tournament", metavar="TOURNAMENT")
@asks_service
def watch(remote: Remote, tournament: str) -> None:
    """Show an event until it is over.

    Its table, a progress bar, the likely end. Where the output is no terminal, plain lines take the place of the moving
    table; --json gives a line of JSON for each change. It waits while the service is away. Ctrl-C ends it with status
    130; the event goes on.

    \b
    Example:
      referee tournament watch "Spring cup"
    """
    watched(remote, finding.tournament_id(remote.api, tournament))


def watched(remote: Remote, event_id: str) -> None:
    """Returns when the event is over; raises what the first look is refused with."""
    event = remote.api.get(f"/tournaments/{event_id}")
    with display(as_json=remote.as_json) as screen:
        while True:
            rows = patiently(lambda: _rows(remote.api, event_id), screen)
            screen.show(event, rows)
            if event["status"] in words.OVER:
                return
            time.sleep(POLLED_S)
            event = patiently(lambda: remote.api.get(f"/tournaments/{event_id}"), screen)


def _rows(api: Api, event_id: str) -> list[Json]:
    rows: list[Json] = api.get(f"/tournaments/{event_id}/standings")["items"]
    return rows[:LINES]


def patiently(ask: Callable[[], Found], screen: Display) -> Found:
    """The answer, however long the service is away; what it refuses for good is raised."""
    pause_s = 0.5
    while True:
        try:
            return ask()
        except ApiUnreachable as error:
            screen.note(str(error))
        except ApiRefusal as error:
            if error.status < 500 and error.status != BUSY:
                raise
            screen.note(str(error))
        time.sleep(pause_s)
        pause_s = min(SLOWEST_S, pause_s * 2)
