"""Clients that read streams message by message."""

import http.client
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.api.conftest import API

PATIENCE_S = 30
LONGEST_S = 120  # that a client follows a stream


@dataclass(frozen=True, slots=True)
class Message:
    name: str
    id: str
    data: Any


class Watching:
    """A client that reads a stream message by message."""

    def __init__(self, port: int, path: str, last_id: str | None = None, address: str = "192.0.2.1") -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        headers = {"X-Forwarded-For": address} | ({} if last_id is None else {"Last-Event-ID": last_id})
        self.connection.request("GET", API + path, headers=headers)
        self.answer = self.connection.getresponse()

    def __iter__(self) -> Iterator[Message]:
        return messages(for_a_while(iter(self.answer.readline, b"")))

    def until(self, last: Callable[[Message], bool]) -> list[Message]:
        """Return all messages up to the first for which ``last`` is true."""
        told = []
        for message in self:
            told.append(message)
            if last(message):
                return told
        pytest.fail(f"the stream ended after {told}")

    def leave(self) -> None:
        self.answer.close()
        self.connection.close()


def for_a_while(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines; fail if they go on for long, since a stream sends comments while nothing happens."""
    end = time.monotonic() + LONGEST_S
    for line in lines:
        assert time.monotonic() < end, "what is waited for does not arrive"
        yield line


def messages(lines: Iterator[bytes]) -> Iterator[Message]:
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name:
            fields[name] = value
        elif "event" in fields:
            yield Message(fields["event"], fields.get("id", ""), json.loads(fields["data"]))
            fields = {}
