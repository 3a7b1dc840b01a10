"""Sentences about events are the same in the terminal and in the viewer."""

from typing import Any

import pytest

from referee.games import game
from referee.match.canonical import Json
from referee.match.log import parse_row
from referee.viewer.presentation import presentation
from referee.viewer.sentences import Sentences, describe_event
from tests.golden import RECORDED, path
from tests.viewer.test_viewer_tables import in_javascript


def seat_name(seat: int) -> str:
    return f"<{seat}>"


def in_python(name: str, events: list[Json]) -> list[list[Any]]:
    sentences = Sentences(presentation(name), seat_name)
    return [
        [sentences.text(event), sentences.detail(event), sentences.round_title(event), describe_event(event, seat_name)]
        for event in events
    ]


@pytest.mark.parametrize("name", RECORDED)
def test_terminal_and_viewer_say_the_same_of_every_event_to_every_viewer(name: str) -> None:
    played, seats, options = RECORDED[name]
    events = [event for line in path(name).read_bytes().splitlines() for event in parse_row(line).get("events", [])]
    options = game(played).complete_options(seats, options)
    views = [events, *(game(played).visible_events(events, view, options) for view in (None, 0))]

    told = in_javascript([{"game": played, "events": view} for view in views])

    assert told == [in_python(played, view) for view in views]
    assert not [words for view in told for words in view if words[0] is None]


def test_an_event_that_its_template_does_not_fit_is_told_by_its_members_in_both() -> None:
    strange: list[Json] = [
        {"event": "bid"},
        {"event": "bid", "seat": 1},
        {"event": "trump", "suit": "constructor"},
        {"event": "__proto__", "pot": None, "of_whom": [1, {"seat": 2, "made": True}]},
        {"event": "match_end", "placements": [2, 1], "scores": [1]},
    ]

    (told,) = in_javascript([{"game": "pool-nap", "events": strange}])

    assert told == in_python("pool-nap", strange)
    assert [words[0] for words in told] == [None] * len(strange)
    assert told[3][3] == "  proto  : pot -, of whom [1 {seat <2>, made true}]"


SENTENCES: list[tuple[str, Json, str]] = [
    ("pool-nap", {"event": "bid", "seat": 1, "tricks": 3}, "<1> bids 3 tricks."),
    ("pool-nap", {"event": "bid", "seat": 1, "tricks": 0}, "<1> passes."),
    (
        "prince-albert",
        {"event": "exchange", "seat": 0, "discard": "7d", "pile": "up", "from": 1, "drawn": "??"},
        "<0> discards the seven of diamonds, draws a hidden card from the pile of <1>.",
    ),
    (
        "prince-albert",
        {"event": "round_end", "winners": [2], "delta": [0, -1, 2]},
        "<2> has the best hand: <1> loses 1 point and <2> wins 2 points.",
    ),
    ("prisoners", {"event": "turn", "prisoner": "X3", "suit": None}, "A joker is turned, of a suit to be named."),
    ("rummy-royal", {"event": "play", "seat": 4, "card": "Kh", "lead": False}, "<4> must play the king of hearts."),
    ("rummy-royal", {"event": "sold", "seat": 3, "amount": 2, "hand": ["??", "??"]}, "<3> buys it for 2 chips."),
    (
        "saint-poker",
        {"event": "score", "groups": [[0, 1], [2]], "names": ["one pair", "one pair", "high card"], "points": 4},
        "<0> (one pair) and <1> (one pair) share the round and win 4 points each.",
    ),
]


@pytest.mark.parametrize("name", sorted({game_ for game_, _, _ in SENTENCES}))
def test_events_are_told_in_plain_words(name: str) -> None:
    examples = [(event, sentence) for game_, event, sentence in SENTENCES if game_ == name]

    (told,) = in_javascript([{"game": name, "events": [event for event, _ in examples]}])

    assert [words[0] for words in told] == [sentence for _, sentence in examples]
