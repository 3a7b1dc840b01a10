"""The stream of a tournament with a service that breaks off or is busy: one on loopback with a script."""

import json

import pytest

from referee.cli.service import stream
from referee.cli.service.api_client import Api, ApiRefusal
from referee.cli.service.stream import StreamMessage, follow_tournament, retry_until_answered
from tests.cli.answering import Answer, Call, answering


def problem(status: int) -> Answer:
    return status, {}, json.dumps({"status": status, "code": "no", "detail": "No."}).encode()


def test_a_stream_is_taken_up_after_its_last_message_and_a_refusal_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "FIRST_PAUSE_S", 0.0)
    first = b'event: match\nid: 7\ndata: {"id": "mat_1"}\n\nevent: match\nid: 8\ndata: {"i'
    answers = iter([problem(503), (200, {"Content-Length": "999"}, first), problem(429), problem(403)])
    asked: list[str | None] = []
    notes: list[str] = []

    def answer(call: Call) -> Answer:
        asked.append(call.headers.get("Last-Event-ID"))
        return next(answers)

    with answering(answer) as url, Api(url) as api:
        following = follow_tournament(api, "trn_1", notes.append)
        told = next(following)
        with pytest.raises(ApiRefusal):
            next(following)

    assert told == StreamMessage("7", "match", {"id": "mat_1"})
    assert asked == [None, None, "7", "7"]
    assert [note.partition(":")[0] for note in notes][::2] == [
        f"the service refused the request ({status} no)" for status in (503, 429)
    ]


def test_a_request_is_repeated_until_it_is_answered_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "FIRST_PAUSE_S", 0.0)
    answers = iter([None, problem(503), problem(429), (200, {}, b"[1]"), problem(403)])
    notes: list[str] = []

    with answering(lambda _: next(answers)) as url, Api(url) as api:
        assert retry_until_answered(lambda: api.get("/games"), notes.append) == [1]
        with pytest.raises(ApiRefusal):
            retry_until_answered(lambda: api.get("/games"), notes.append)

    assert [note.partition(" no)")[0][-3:] for note in notes] == ["503", "429"]
