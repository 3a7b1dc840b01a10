"""Server-sent events read from a service: parsed, and taken up again where they broke off."""

import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from referee.cli.api_client import Api, ApiUnreachable

SILENCE_S = 60.0  # a stream says at least a comment in less
LONGEST_LINE = 16 << 20


@dataclass(frozen=True, slots=True)
class Event:
    """One message; ``content`` is its JSON. ``id`` is where to go on after it."""

    id: str
    name: str
    content: Any


def stream(api: Api, path: str, last_id: str = "") -> Iterator[Event]:
    """The messages after ``last_id``, until the service ends the stream.

    Raises ``ApiRefusal``, and ``ApiUnreachable`` when the line breaks; ask again with the last id then.
    """
    headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last_id} if last_id else {})
    with api.stream(f"/api/v1{path}", headers, silence_s=SILENCE_S) as response:
        try:
            yield from parsed(response, last_id)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise ApiUnreachable(f"the stream of {api.url} broke: {error}") from error


def parsed(lines: IO[bytes] | http.client.HTTPResponse, last_id: str = "") -> Iterator[Event]:
    """Messages out of their lines, as the HTML standard has it (9.2.6); an unfinished one at the end is dropped."""
    name, content = "", list[str]()
    while line := lines.readline(LONGEST_LINE):
        text = line.decode().rstrip("\r\n")
        if not text:
            if content:
                yield Event(last_id, name or "message", json.loads("\n".join(content)))
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
