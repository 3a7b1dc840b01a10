"""What happens in an event: the service's stream, taken up again where it broke off, or asked for again and again.

The messages are those of the stream: ``match`` (one that ended), ``progress``, ``standings``, and one ``end``.
"""

import io
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar

from referee.cli.api_client import Api, ApiRefusal, ApiUnreachable
from referee.cli.tournament.formatting import OVER
from referee.cli.tournament.remote import is_passing
from referee.match.canonical import Json

SILENCE_S = 60.0  # a stream says at least a comment in less
LONGEST_LINE = 16 << 20
POLLED_S = 2.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 10.0  # between two attempts while the service is away
NO_STREAM = (404, 406)  # of older services
LINES = 50

Note = Callable[[str], None]
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class StreamMessage:
    """One message; ``content`` is its JSON. ``id`` is where to go on after it."""

    id: str
    name: str
    content: Any


def follow_tournament(api: Api, tournament_id: str, note: Note) -> Iterator[StreamMessage]:
    """All messages until the event is over, however often the line breaks; ``note`` is told what is the matter.

    Where there is no stream, or no room in it, it is asked how the event stands, every now and then. Raises
    ``ApiRefusal`` for what waiting does not mend.
    """
    last_id, pause_s = "", FIRST_PAUSE_S
    said: dict[str, Json] = {}
    while True:
        try:
            for message in stream(api, f"/tournaments/{tournament_id}/stream", last_id):
                last_id, pause_s = message.id, FIRST_PAUSE_S
                yield message
                if message.name == "end":
                    return
        except ApiRefusal as error:
            if error.status not in NO_STREAM and not is_passing(error):
                raise
            for message in state(api, tournament_id, note):
                if said.get(message.name) != message.content:
                    said[message.name] = message.content
                    yield message
                if message.name == "end":
                    return
            pause_s = POLLED_S
        except ApiUnreachable as error:
            note(str(error))
        time.sleep(pause_s)
        pause_s = min(LONGEST_PAUSE_S, pause_s * 2)


def stream(api: Api, path: str, last_id: str = "") -> Iterator[StreamMessage]:
    """The messages after ``last_id``, until the service ends the stream.

    Raises ``ApiRefusal``, and ``ApiUnreachable`` when the line breaks; ask again with the last id then.
    """
    headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last_id} if last_id else {})
    with api.stream(f"/api/v1{path}", headers, silence_s=SILENCE_S) as response:
        if response.status == HTTPStatus.NO_CONTENT:  # nothing will ever follow
            yield StreamMessage(last_id, "end", None)
            return
        try:
            yield from parse_messages(io.BufferedReader(response), last_id)
        except ValueError as error:
            raise ApiUnreachable(f"{api.url} sent a message that cannot be read: {error}") from error


def parse_messages(lines: io.BufferedIOBase, last_id: str = "") -> Iterator[StreamMessage]:
    """Messages out of their lines, as the HTML standard has it (9.2.6); an unfinished one at the end is dropped."""
    name, content = "", list[str]()
    while line := lines.readline(LONGEST_LINE):
        text = line.decode().rstrip("\r\n")
        if not text:
            if content:
                yield StreamMessage(last_id, name or "message", json.loads("\n".join(content)))
            name, content = "", []
            continue
        field, _, value = text.partition(":")
        value = value.removeprefix(" ")
        match field:
            case "id":
                last_id = value
            case "event":
                name = value
            case "data":
                content.append(value)


def state(api: Api, tournament_id: str, note: Note) -> Iterator[StreamMessage]:
    """How an event stands, in the messages of a stream."""
    event, table = retry_until_answered(lambda: fetch_snapshot(api, tournament_id), note)
    how = {"status": event["status"], "reason": event["status_reason"]}
    yield StreamMessage("", "progress", how | event["progress"])
    yield StreamMessage("", "standings", table)
    if event["status"] in OVER:
        yield StreamMessage("", "end", how)


def fetch_snapshot(api: Api, tournament_id: str) -> tuple[Json, Json]:
    """The event, and the head of its table."""
    path = f"/tournaments/{tournament_id}"
    return api.get(path), api.get(f"{path}/standings?limit={LINES}")


def retry_until_answered(ask: Callable[[], Answer], note: Note) -> Answer:
    """The answer, however long the service is away; what it refuses for good is raised."""
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            return ask()
        except (ApiUnreachable, ApiRefusal) as error:
            if not is_passing(error):
                raise
            note(str(error))
        time.sleep(pause_s)
        pause_s = min(LONGEST_PAUSE_S, pause_s * 2)
