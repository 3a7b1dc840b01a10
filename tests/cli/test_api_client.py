"""The client of the public API: what it sends again, what it never sends twice, and whom it asks."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from referee.cli.service.api_client import Api, ApiUnreachable
from tests.cli.answering import Answer, Call, answering

Asked = list[tuple[str, str | None]]  # the method, and the key of a request that must have one effect


@contextmanager
def hanging_up(at: int) -> Iterator[tuple[str, Asked]]:
    """Yield the URL of a service and what it was asked; it hangs up without an answer at this request, from 0."""
    asked: Asked = []

    def answer(call: Call) -> Answer | None:
        asked.append((call.method, call.headers.get("Idempotency-Key")))
        return None if len(asked) == at + 1 else (200, {}, b"{}")

    with answering(answer) as url:
        yield url, asked


def test_a_request_is_sent_again_with_the_same_key_when_a_kept_connection_closes() -> None:
    with hanging_up(at=1) as (url, asked), Api(url, "ref_token") as api:
        api.get("/games")
        api.post("/bots", {"name": "Ada"})

    (_, _), first, second = asked
    assert first == second
    assert first[0] == "POST"
    assert first[1]


def test_a_request_without_a_key_is_never_sent_twice() -> None:
    with hanging_up(at=1) as (url, asked), Api(url) as api:
        api.get("/games")
        with pytest.raises(ApiUnreachable, match="does not answer: Server disconnected"):
            api.post("/accounts", {"name": "Ada"})

    assert asked == [("GET", None), ("POST", None)]


def test_a_proxy_of_the_machine_sees_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    with hanging_up(at=9) as (url, asked), Api(url.replace("http://", "http://ada:secret@")) as api:
        api.get("/games")

    assert len(asked) == 1
    assert "secret" not in api.url
