"""What `referee tournament` makes of what is typed and of what a service answers; no service is needed."""

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from click.testing import CliRunner

from referee.cli import main
from referee.cli.plain_text import replace_control_characters
from referee.cli.service import parameters
from referee.cli.service.api_client import ApiRefusal
from referee.cli.service.remote import error_sentence
from referee.cli.service.stream import StreamMessage, parse_messages

CREATE = ["create", "Cup", "--game", "pool-nap", "--seats", "3"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("rounds=3", 3), ("third_place=true", True), ("seeding=hand", "hand"), ("rounds=null", None), ("x=a=b", "a=b")],
)
def test_values_that_are_json_count_as_that(typed: str, meant: Any) -> None:
    assert parameters.pair(typed)[1] == meant


def test_moments_are_told_in_utc() -> None:
    ahead = datetime.fromisoformat(parameters.moment("+10m")) - datetime.now(UTC)

    assert parameters.moment("2030-05-01T18:00:00+02:00") == "2030-05-01T16:00:00Z"
    assert timedelta(minutes=9) < ahead <= timedelta(minutes=10)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([*CREATE, "--starts-at", "2030-05-01T18:00"], "has no UTC offset"),
        ([*CREATE, "--starts-at", "tomorrow"], "+10m"),
        ([*CREATE, "--option", "rounds"], "NAME=VALUE"),
        ([*CREATE, *["--option", "a=1"] * 2], "more than once: a"),
        (["list", "--token", "no token"], "not a token"),
        (["list", "--token", "a", "--token-file", "-"], "not both"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_asked(arguments: list[str], why: str) -> None:
    said = CliRunner().invoke(main, ["tournament", *arguments])

    assert (said.exit_code, why in said.stderr) == (2, True), said.output


def test_a_refusal_names_what_was_typed() -> None:
    fields = [("format_options.rounds", "at most 3"), ("time.bank_ms", "too much"), ("name", "taken")]

    said = error_sentence(ApiRefusal(422, "validation_failed", "Not acceptable.", fields))

    assert said == "--format-option rounds: at most 3; --bank-ms: too much; name: taken"
    assert replace_control_characters("a\x1b[2J\nb") == "a\N{REPLACEMENT CHARACTER}[2J\nb"
    assert "--token-file" in error_sentence(ApiRefusal(401, "unauthenticated", "A token is needed."))


def test_events_are_read_as_the_standard_has_it() -> None:
    text = b': hello\n\nid: 7\nevent: progress\ndata: {"done":\ndata: 1}\n\ndata: 2\r\n\r\nid: 9\ndata: 3\n'

    assert list(parse_messages(io.BytesIO(text))) == [
        StreamMessage("7", "progress", {"done": 1}),
        StreamMessage("7", "message", 2),
    ]
