"""Follow a tournament through the service's event stream, which is resumed after interruptions.

The messages are ``match`` (a match that ended), ``progress``, ``standings``, and finally ``end``.
"""

import io
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar

from referee.cli.service.api_client import Api, ApiRefusal, ApiUnreachable
from referee.cli.service.remote import is_transient
from referee.match.canonical import Json

SILENCE_S = 60.0  # the service sends a message or a comment more often than this
MAX_LINE_LENGTH = 16 << 20
FIRST_PAUSE_S, MAX_PAUSE_S = 0.25, 10.0  # between two attempts while the service is unavailable
ROWS = 50  # standings rows to fetch

Note = Callable[[str], None]
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class StreamMessage:
    """Represent a message with its JSON ``content``. Its ``id`` is used to resume the stream after it."""

    id: str
    name: str
    content: Any


def follow_tournament(api: Api, tournament_id: str, note: Note) -> Iterator[StreamMessage]:
    """Yield all messages until the tournament is over, reconnecting as needed; pass connection errors to ``note``.

    Wait if the service has no capacity for one more stream. Raise ``ApiRefusal`` for refusals that are not transient.
    """
    last_id, pause_s = "", FIRST_PAUSE_S
    while True:
        try:
            for message in stream(api, f"/tournaments/{tournament_id}/stream", last_id):
                last_id, pause_s = message.id, FIRST_PAUSE_S
                yield message
                if message.name == "end":
                    return
        except (ApiRefusal, ApiUnreachable) as error:
            if not is_transient(error):
                raise
            note(str(error))
        time.sleep(pause_s)
        pause_s = min(MAX_PAUSE_S, pause_s * 2)


def stream(api: Api, path: str, last_id: str = "") -> Iterator[StreamMessage]:
    """Yield the messages after ``last_id`` until the service ends the stream.

    Raise ``ApiRefusal`` if the service refuses the request, and ``ApiUnreachable`` if the connection breaks or a
    message cannot be read. The caller can then resume with the last id.
    """
    headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last_id} if last_id else {})
    with api.stream(f"/api/v1{path}", headers, silence_s=SILENCE_S) as response:
        if response.status == HTTPStatus.NO_CONTENT:  # no message will follow
            yield StreamMessage(last_id, "end", None)
            return
        try:
            yield from parse_messages(io.BufferedReader(response), last_id)
        except ValueError as error:
            raise ApiUnreachable(f"{api.url} sent a message that cannot be read: {error}") from error


def parse_messages(lines: io.BufferedIOBase, last_id: str = "") -> Iterator[StreamMessage]:
    """Yield the messages of an event stream (HTML standard, 9.2.6), without an unfinished message at the end."""
    name, content = "", list[str]()
    while line := lines.readline(MAX_LINE_LENGTH):
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


def fetch_snapshot(api: Api, tournament_id: str) -> tuple[Json, Json]:
    """Return the tournament and the top of its standings."""
    path = f"/tournaments/{tournament_id}"
    return api.get(path), api.get(f"{path}/standings?limit={ROWS}")


def retry_until_answered(ask: Callable[[], Answer], note: Note) -> Answer:
    """Return the result of ``ask``, retrying after transient errors, which are passed to ``note``.

    Raise all other errors.
    """
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            return ask()
        except (ApiUnreachable, ApiRefusal) as error:
            if not is_transient(error):
                raise
            note(str(error))
        time.sleep(pause_s)
        pause_s = min(MAX_PAUSE_S, pause_s * 2)
