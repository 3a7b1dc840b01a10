"""The games of the replay viewer, run as a browser runs them and compared with the engine after every row."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest
from playwright._impl._driver import compute_driver_executable

from referee.games import catalogue, game
from referee.games.pool_nap import PoolNap
from referee.games.prince_albert import PrinceAlbert
from referee.games.prisoners import Prisoners
from referee.games.rummy_royal import RummyRoyal
from referee.games.saint_poker import SaintPoker
from referee.games.state import State
from referee.match.canonical import Json
from tests.games.playing import random_outcome
from tests.golden import RECORDED, path
from tests.viewer.viewer_facts import OF_POSITION, OF_STATE, PHASES, everywhere, everywhere_drawn, hands

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / "referee" / "viewer" / "tables"
TABLES = {
    "pool-nap": ("pool_nap.js", "poolNap"),
    "prince-albert": ("prince_albert.js", "princeAlbert"),
    "prisoners": ("prisoners.js", "prisoners"),
    "rummy-royal": ("rummy_royal.js", "rummyRoyal"),
    "saint-poker": ("saint_poker.js", "saintPoker"),
}
STRAY = ("undefined", "NaN", "null", "??", "[object")  # what a sentence must not hold
TABLES_PLAYED: list[tuple[str, int, Json]] = [
    ("pool-nap", 2, {"rounds": 3}),
    ("pool-nap", 3, {"rounds": 4, "start_chips": 6}),
    ("pool-nap", 4, {"rounds": 3, "all_pass": "dealer_bids", "bid_cover": False, "start_chips": 5}),
    ("pool-nap", 5, {"rounds": 2, "first_dealer_pays": True, "pot_end": "stay", "min_bid": 3}),
    ("pool-nap", 3, {"ending": "last_player", "start_chips": 3, "bid_cover": False}),
    ("pool-nap", 7, {"rounds": 2}),
    ("pool-nap", 10, {"rounds": 2, "ante": 4}),
    ("prince-albert", 2, {"max_rounds": 4}),
    ("prince-albert", 3, {"max_rounds": 4, "holdem": True}),
    ("prince-albert", 4, {"max_rounds": 3, "cash": True}),
    ("prince-albert", 5, {"max_rounds": 3, "cash": True, "holdem": True, "rank_by": "chips", "point_value": 2}),
    ("prince-albert", 3, {"max_rounds": 6, "cash": True, "stack": 6, "rank_by": "chips"}),
    ("prince-albert", 5, {"max_rounds": 6, "cash": True, "stack": 14, "ante": 0, "ties": "lose"}),
    ("prince-albert", 4, {"max_rounds": 2, "vote": ["forced_bid", "showing", "ties"]}),
    ("prince-albert", 2, {"max_rounds": 2, "vote": ["ties"], "cash": True, "max_raises": 0}),
    ("prince-albert", 3, {"max_rounds": 2, "cash": True, "stack": 1}),
    ("prince-albert", 4, {"max_rounds": 5, "showing": "all", "forced_bid": "max", "target": 6}),
    ("prince-albert", 3, {"max_rounds": 12, "target": 40, "holdem": True}),
    ("prisoners", 2, {}),
    ("prisoners", 3, {"deals": 2, "direction": "anticlockwise"}),
    ("prisoners", 4, {"decks": 1, "bidding": "single", "deals": 3}),
    ("prisoners", 4, {"decks": 2}),
    ("prisoners", 5, {"bidding": "single", "direction": "anticlockwise"}),
    ("prisoners", 7, {}),
    ("prisoners", 10, {}),
    ("rummy-royal", 2, {"deals": 3}),
    ("rummy-royal", 3, {"deals": 3, "sequence": "89T"}),
    ("rummy-royal", 4, {"deals": 3, "dealer_looks": False}),
    ("rummy-royal", 5, {"deals": 3, "stack": 10, "ante": 2}),
    ("rummy-royal", 3, {"deals": 4, "max_bid": 3, "dealer_looks": False}),
    ("rummy-royal", 9, {"deals": 2, "max_bid": 2}),
    ("saint-poker", 2, {}),
    ("saint-poker", 3, {"rounds": 4}),
    ("saint-poker", 4, {"rounds": 3, "final_pickup": False}),
    ("saint-poker", 5, {"rounds": 2}),
]


@dataclass
class Play:
    """A match: its rows of events, and after each row the engine's own position."""

    game: str
    seats: int
    options: Json
    rows: list[list[Json]] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    views: list[Any] = field(default_factory=list)
    seen: list[Json] = field(default_factory=list)  # what the viewer made of it, by view

    def add(self, state: State, events: list[Json]) -> None:
        self.rows.append(events)
        self.states.append(state.clone())

    def asked(self) -> Json:
        header = {"game": self.game, "options": self.options, "seats": self.seats, "players": []}
        return {"game": self.game, "header": header, "rows": self.rows, "views": self.views}

    def watched(self) -> Iterator[tuple[Any, State, Json, list[int]]]:
        """The engine's position after every row with the viewer's, by view."""
        for view, seen in zip(self.views, self.seen, strict=True):
            for state, position, scores in zip(self.states, seen["positions"], seen["scores"], strict=True):
                yield view, state, position, scores


def _opened(state: State) -> Play:
    seats, first = state.players, state.unsent[:]
    state.unsent.clear()
    return Play(state.name, seats, state.options, rows=[first], states=[state.clone()])


def _diced(name: str, seats: int, options: Json, dice: Random) -> Play:
    state = game(name).start(seats, options)
    play = _opened(state)
    while not state.over:
        asked = state.chance()
        if asked is not None:
            play.add(state, state.resolve(random_outcome(asked, dice)))
        else:
            seat = dice.choice(state.pending())
            legal = state.legal(seat)
            # Two seats never agree, so that chance breaks their ties.
            stubborn = {"vote": legal[seat % len(legal)], "throw": legal[0]} if seats == 2 else {}
            play.add(state, state.apply(seat, stubborn.get(state.phase) or dice.choice(legal)))
    play.views = ["open", None, *dice.sample(range(seats), 2)]
    return play


def _recorded(name: str) -> Play:
    header, *rows = map(json.loads, path(name).read_bytes().splitlines())
    state = game(header["game"]).start(header["seats"], header["options"])
    play = _opened(state)
    for row in rows:
        if row["type"] == "chance":
            play.add(state, state.resolve(row["outcome"]))
        elif row["type"] == "decision":
            play.add(state, state.apply(row["seat"], row["action"]))
    play.views = ["open", None, *range(header["seats"])][:4]
    return play


@pytest.fixture(scope="module")
def plays() -> list[Play]:
    """Golden matches and freshly diced ones, as the viewer sees them in several views."""
    dice = Random(5)
    tables = [(name, seats, options) for name, seats, options in TABLES_PLAYED for _ in range(2)]
    made = [*map(_recorded, RECORDED), *(_diced(*table, dice) for table in tables)]
    for play, seen in zip(made, _through_the_viewer([play.asked() for play in made]), strict=True):
        play.seen = seen
    return made


def _through_the_viewer(asked: list[Json]) -> Any:
    node = compute_driver_executable()[0]
    tables = {name: (str(FOLDER / file), const) for name, (file, const) in TABLES.items()}
    done = subprocess.run(
        [node, str(HERE / "viewer_tables.mjs")],
        input=json.dumps({"tables": tables, "plays": asked}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_every_game_has_a_table() -> None:
    assert set(TABLES) == set(catalogue())


def test_every_viewer_is_shown_what_the_engine_shows(plays: list[Play]) -> None:
    for play in plays:
        events = [event for row in play.rows for event in row]
        for view, seen in zip(play.views, play.seen, strict=True):
            expected = events if view == "open" else game(play.game).shown(events, view, play.options)
            assert seen["shown"] == expected, (play.game, play.options, view)


def test_positions_tell_what_the_engine_tells(plays: list[Play]) -> None:
    for play in plays:
        for view, state, position, scores in play.watched():
            about = (play.game, play.options, view, position)
            assert everywhere_drawn(position, scores) == everywhere(state), about
            if not (state.over or state.to_act()):
                continue  # between two rounds a position is still as the last one ended
            assert OF_POSITION[play.game](position) == OF_STATE[play.game](state), about
            assert position["phase"].startswith(PHASES[play.game][state.phase]), about


def test_hands_hold_what_the_viewer_may_know(plays: list[Play]) -> None:
    for play in plays:
        for view, state, position, _ in play.watched():
            if not (state.over or state.to_act()):
                continue
            drawn = [own["hand"] for own in position["seats"]]
            held = hands(state) if position["title"] != "Final deal" else [[]] * play.seats  # gathered for a fresh deck
            about = (play.game, play.options, view, position)
            assert [*map(len, drawn)] == [*map(len, held)], about
            if view == "open":
                assert drawn == held, about
            elif view is not None:
                blind = ["??"] * len(held[view]) if play.options.get("dealer_looks") is False else held[view]
                assert drawn[view] in (held[view], blind), about  # a blind dealer learns his hand by a later row


def test_no_position_knows_a_card_that_its_events_do_not_show(plays: list[Play]) -> None:
    for play in plays:
        for view, seen in zip(play.views, play.seen, strict=True):
            assert seen["leaks"] == [], (play.game, play.options, view)


def test_a_viewer_who_peeks_is_found_out(plays: list[Play]) -> None:
    asked = [next(play for play in plays if play.game == name).asked() | {"views": ["peeking"]} for name in TABLES]

    seen = _through_the_viewer(asked)

    assert all(peeking["leaks"] for (peeking,) in seen)


def test_every_event_is_told_in_a_sentence(plays: list[Play]) -> None:
    silent: set[tuple[str, str]] = set()
    told: set[tuple[str, str]] = set()
    for play in plays:
        for kind, sentence in (telling for seen in play.seen for telling in seen["told"]):
            (told if sentence else silent).add((play.game, kind))
            if sentence:
                assert sentence[0] in "<ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", sentence
                assert sentence[-1] == ".", sentence
                assert not any(stray in sentence for stray in STRAY), sentence
    assert silent == {(name, "match_start") for name in TABLES} | {("prince-albert", "deck")}
    assert not silent & told


def test_every_round_is_opened_by_the_event_that_opens_it(plays: list[Play]) -> None:
    for play in plays:
        opening, last = game(play.game).opening, play.states[-1]
        word, rounds = _rounds(last)
        final = ["Final deal"] if isinstance(last, RummyRoyal) and last.final_dealer is not None else []
        for seen in play.seen:
            opened = [(kind, title) for (kind, _), title in zip(seen["told"], seen["opened"], strict=True) if title]
            assert [title for _, title in opened] == [*(f"{word} {number}" for number in range(1, rounds + 1)), *final]
            assert {kind for kind, title in opened if title not in final} == {opening}


def _rounds(last: State) -> tuple[str, int]:
    """What a match is made of, and how many of it were played."""
    if isinstance(last, Prisoners | RummyRoyal):
        return "Deal", last.deal
    assert isinstance(last, PoolNap | PrinceAlbert | SaintPoker)
    return "Round", last.round


SENTENCES: list[tuple[str, Json, str]] = [
    ("pool-nap", {"event": "bid", "seat": 1, "tricks": 3}, "<1> bids 3 tricks."),
    ("pool-nap", {"event": "bid", "seat": 1, "tricks": 0}, "<1> passes."),
    ("pool-nap", {"event": "play", "seat": 0, "card": "Ts"}, "<0> plays the ten of spades."),
    (
        "pool-nap",
        {
            "event": "payout",
            "seat": 1,
            "bid": 5,
            "tricks": 3,
            "made": False,
            "pot_won": 0,
            "pot_paid": 1,
            "payments": [[1, 2, 5], [1, 0, 5]],
        },
        "<1> bid 5, took 3, fails and puts 1 chip in the pot: <2> gets 5 chips and <0> gets 5 chips.",
    ),
    (
        "prince-albert",
        {"event": "exchange", "seat": 2, "discard": "??", "pile": "down", "from": "deck", "drawn": "??"},
        "<2> discards a hidden card face down, draws a hidden card from the deck.",
    ),
    (
        "prince-albert",
        {"event": "exchange", "seat": 0, "discard": "7d", "pile": "up", "from": 1, "drawn": "Kd"},
        "<0> discards the seven of diamonds, draws the king of diamonds from the pile of <1>.",
    ),
    (
        "prince-albert",
        {"event": "round_end", "winners": [2], "delta": [0, -1, 2]},
        "<2> has the best hand: <1> loses 1 point and <2> wins 2 points.",
    ),
    (
        "prisoners",
        {"event": "bid", "seat": 0, "cards": ["6c", "6d", "6s"], "total": 9},
        "<0> bids the six of clubs, the six of diamonds and the six of spades: 9.",
    ),
    ("prisoners", {"event": "turn", "prisoner": "X3", "suit": None}, "A joker is turned, of a suit to be named."),
    (
        "prisoners",
        {"event": "prisoner", "prisoner": "X1", "to": 1, "how": "claim", "points": 200},
        "<1> is owed and takes a joker for 200 points.",
    ),
    ("rummy-royal", {"event": "play", "seat": 4, "card": "Kh", "lead": False}, "<4> must play the king of hearts."),
    ("rummy-royal", {"event": "pay", "seat": 4, "space": "QK", "chips": 9}, "<4> takes 9 chips for queen and king."),
    ("rummy-royal", {"event": "sold", "seat": 3, "amount": 2, "hand": ["??", "??"]}, "<3> buys it for 2 chips."),
    (
        "saint-poker",
        {"event": "score", "groups": [[0, 1], [2]], "names": ["one pair", "one pair", "high card"], "points": 4},
        "<0> (one pair) and <1> (one pair) share the round and win 4 points each.",
    ),
    (
        "saint-poker",
        {"event": "take", "seat": 1, "card": "2c", "source": 1},
        "<1> takes the two of clubs from its own cards.",
    ),
]


def test_events_are_told_in_plain_words() -> None:
    asked = [{"game": name, "events": [event for game_, event, _ in SENTENCES if game_ == name]} for name in TABLES]

    told = _through_the_viewer(asked)

    assert [sentence for sentences in told for sentence in sentences] == [
        sentence for name in TABLES for game_, _, sentence in SENTENCES if game_ == name
    ]


def test_what_no_game_knows_moves_nothing() -> None:
    strange: list[Json] = [{"event": "earthquake", "seat": 1}, {"event": "constructor"}, {"event": "__proto__"}]
    plays = [
        Play(name, 4, game(name).complete_options(4, {}), rows=[[], strange], views=["open"]).asked() for name in TABLES
    ]

    seen = _through_the_viewer(plays)

    for (untouched,) in seen:
        before, after = untouched["positions"]
        assert before == after
        assert {sentence for _, sentence in untouched["told"]} == {None}
