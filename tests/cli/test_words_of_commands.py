"""What commands make of what is typed and of what a service answers; no service is needed."""

import io
import shlex
from datetime import UTC, datetime, timedelta

from referee.cli import watch
from referee.cli.plain_text import quote_argument, replace_control_characters
from referee.cli.service import parameters
from referee.cli.service.api_client import ApiRefusal
from referee.cli.service.remote import error_sentence
from referee.cli.service.stream import StreamMessage, parse_messages
from referee.games import catalogue
from referee.match.canonical import Json
from referee.rulebook import rules_page
from referee.workflows.explaining.waiting_reasons import Reason
from tests.cli.running import says

CREATE = ["create", "Cup", "--game", "pool-nap", "--seats", "3"]


def test_values_that_are_json_count_as_that() -> None:
    typed = ("rounds=3", "third_place=true", "seeding=hand", "rounds=null", "x=a=b")

    assert [parameters.pair(text)[1] for text in typed] == [3, True, "hand", None, "a=b"]


def test_moments_are_told_in_utc() -> None:
    ahead = datetime.fromisoformat(parameters.moment("+10m")) - datetime.now(UTC)

    assert parameters.moment("2030-05-01T18:00:00+02:00") == "2030-05-01T16:00:00Z"
    assert timedelta(minutes=9) < ahead <= timedelta(minutes=10)


def test_wrong_usage_is_told_before_anything_is_asked() -> None:
    for arguments, why in (
        ([*CREATE, "--starts-at", "2030-05-01T18:00"], "has no UTC offset"),
        ([*CREATE, "--starts-at", "tomorrow"], "+10m"),
        ([*CREATE, "--option", "rounds"], "NAME=VALUE"),
        ([*CREATE, *["--option", "a=1"] * 2], "more than once: a"),
        (["list", "--token", "no token"], "not a token"),
        (["list", "--token", "a", "--token-file", "-"], "not both"),
    ):
        assert why in says({}, "tournament", *arguments, status=2).stderr


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


def test_an_argument_is_quoted_for_people_and_a_shell_reads_it_back() -> None:
    quoted = {"Ada": "Ada", "Ada bot": '"Ada bot"', "Wanda's bot": '"Wanda\'s bot"', "a $HOME": "'a $HOME'"}
    names = ["", "a b", 'say "no"', "`id` x", "$(id) x", "a\\b c", "wow! x", "it's", "100 % x", "a\nb", *quoted]

    assert {name: quote_argument(name) for name in quoted} == quoted
    assert [shlex.split(quote_argument(name)) for name in names] == [[name] for name in names]


def seat(number: int, placement: int) -> Json:
    return {"seat": number, "name": f"bot {number}", "version": "1", "placement": placement, "returns": 0}


def test_the_result_of_a_watched_match_counts_seats_from_1() -> None:
    match = {"id": "mat_1", "game": "pool-nap", "rated": True, "status": "finished", "reason": None}

    lines = watch.result({**match, "seats": [seat(0, 2), seat(1, 1)]}).splitlines()

    assert [line.split()[-2] for line in lines[-2:]] == ["2", "1"]


def test_a_reason_to_wait_counts_the_seat_of_the_opponent_from_1() -> None:
    reason = Reason("rival_full", seat=0)

    assert reason.text.startswith("the bot in seat 1 has no free call")
    assert reason.seat == 0


def test_the_rules_say_from_where_seats_are_counted() -> None:
    for game in catalogue():
        rules = " ".join(rules_page(game).split())
        assert "Seats are numbered clockwise" in rules, game
        assert "from 0 in messages and logs, from 1 on pages and in commands" in rules, game
