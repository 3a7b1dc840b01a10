"""The viewer's table modules, run in JavaScript and compared with the engine after every row."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from playwright._impl._driver import compute_driver_executable

from referee.games import catalogue, game
from referee.games.prisoners import Prisoners
from referee.games.rummy_royal import RummyRoyal
from referee.games.state import State
from referee.match.canonical import Json
from referee.viewer import FOLDER
from referee.viewer.presentation import presentations, table_module
from tests.games.playing import random_outcome
from tests.golden import RECORDED, path
from tests.viewer.viewer_facts import FACTS, PHASES, everywhere, everywhere_drawn, hands

HERE = Path(__file__).parent
DRAWN = sorted(name for name in catalogue() if table_module(name))
STRAY = ("undefined", "NaN", "null", "??", "[object")  # what a sentence must not contain
TABLES_PLAYED: list[tuple[str, int, Json]] = [
    ("pool-nap", 2, {"rounds": 3}),
    ("pool-nap", 4, {"rounds": 3, "all_pass": "dealer_bids", "bid_cover": False, "start_chips": 5}),
    ("pool-nap", 5, {"rounds": 2, "first_dealer_pays": True, "pot_end": "stay", "min_bid": 3}),
    ("pool-nap", 3, {"ending": "last_player", "start_chips": 3, "bid_cover": False}),
    ("pool-nap", 10, {"rounds": 2, "ante": 4}),
    ("prince-albert", 2, {"max_rounds": 4}),
    ("prince-albert", 5, {"max_rounds": 3, "cash": True, "holdem": True, "rank_by": "chips", "point_value": 2}),
    ("prince-albert", 3, {"max_rounds": 6, "cash": True, "stack": 6, "rank_by": "chips"}),
    ("prince-albert", 5, {"max_rounds": 6, "cash": True, "stack": 14, "ante": 0, "ties": "lose"}),
    ("prince-albert", 4, {"max_rounds": 2, "vote": ["forced_bid", "showing", "ties"]}),
    ("prince-albert", 2, {"max_rounds": 2, "vote": ["ties"], "cash": True, "max_raises": 0}),
    ("prince-albert", 3, {"max_rounds": 2, "cash": True, "stack": 1}),
    ("prince-albert", 4, {"max_rounds": 5, "showing": "all", "forced_bid": "max", "target": 6}),
    ("prince-albert", 3, {"max_rounds": 12, "target": 40, "holdem": True}),
    ("prisoners", 2, {}),
    ("prisoners", 4, {"decks": 1, "bidding": "single", "deals": 3}),
    ("prisoners", 4, {"decks": 2}),
    ("prisoners", 5, {"bidding": "single", "direction": "anticlockwise"}),
    ("prisoners", 10, {}),
    ("rummy-royal", 3, {"deals": 3, "sequence": "89T"}),
    ("rummy-royal", 4, {"deals": 3, "dealer_looks": False}),
    ("rummy-royal", 5, {"deals": 3, "stack": 10, "ante": 2}),
    ("rummy-royal", 3, {"deals": 4, "max_bid": 3, "dealer_looks": False}),
    ("rummy-royal", 9, {"deals": 2, "max_bid": 2}),
    ("saint-poker", 2, {}),
    ("saint-poker", 4, {"rounds": 3, "final_pickup": False}),
    ("saint-poker", 5, {"rounds": 2}),
]


@dataclass
class Play:
    """A match: its rows of events, and the position of the engine after each row."""

    game: str
    seats: int
    options: Json
    rows: list[list[Json]] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    views: list[Any] = field(default_factory=list)
    seen: list[Json] = field(default_factory=list)  # output of the viewer, by view

    def add(self, state: State, events: list[Json]) -> None:
        self.rows.append(events)
        self.states.append(state.clone())

    def asked(self) -> Json:
        header = {"game": self.game, "options": self.options, "seats": self.seats, "players": []}
        return {"game": self.game, "header": header, "rows": self.rows, "views": self.views}

    def watched(self) -> Iterator[tuple[Any, State, Json, list[int]]]:
        """Yield the positions of the engine and of the viewer after every row, by view."""
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
            # Two seats always vote differently, so that chance breaks their ties.
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


@cache
def plays_of(name: str) -> list[Play]:
    """Return golden and random matches of a game, in several views of the viewer."""
    dice = Random(5)
    tables = [(seats, options) for game_, seats, options in TABLES_PLAYED if game_ == name]
    logs = [log for log, (game_, _, _) in RECORDED.items() if game_ == name]
    made = [*map(_recorded, logs), *(_diced(name, *table, dice) for table in tables)]
    for play, seen in zip(made, in_javascript([play.asked() for play in made]), strict=True):
        play.seen = seen
    return made


@pytest.fixture(params=sorted(catalogue()))
def plays(request: pytest.FixtureRequest) -> list[Play]:
    return plays_of(request.param)


@pytest.fixture(params=DRAWN)
def drawn_plays(request: pytest.FixtureRequest) -> list[Play]:
    return plays_of(request.param)


def in_javascript(asked: list[Json]) -> Any:
    """Return the output of the viewer's modules for these plays."""
    node = compute_driver_executable()[0]
    done = subprocess.run(
        [node, str(HERE / "viewer_tables.mjs")],
        input=json.dumps({"folder": str(FOLDER), "presentations": presentations(), "plays": asked}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_every_file_of_a_presentation_or_a_table_belongs_to_a_game() -> None:
    named = {name.replace("-", "_") for name in catalogue()}

    assert {file.stem for file in (FOLDER / "presentations").iterdir()} - {"every_game"} <= named
    assert {file.stem for file in (FOLDER / "tables").iterdir()} - {"common", "prince_albert_round"} <= named
    assert set(FACTS) <= set(DRAWN)


def test_every_viewer_is_shown_what_the_engine_shows(plays: list[Play]) -> None:
    for play in plays:
        events = [event for row in play.rows for event in row]
        for view, seen in zip(play.views, play.seen, strict=True):
            expected = events if view == "open" else game(play.game).visible_events(events, view, play.options)
            assert seen["shown"] == expected, (play.game, play.options, view)


def test_positions_tell_what_the_engine_tells(drawn_plays: list[Play]) -> None:
    for play in drawn_plays:
        for view, state, position, scores in play.watched():
            about = (play.game, play.options, view, position)
            assert everywhere_drawn(position, scores) == everywhere(state), about
            if not (state.over or state.to_act()):
                continue  # between two rounds the position is still that of the last end
            if play.game in FACTS:
                of_state, of_position = FACTS[play.game]
                assert of_position(position) == of_state(state), about
                assert position["phase"].startswith(PHASES[play.game].get(state.phase, state.phase)), about


def test_hands_hold_what_the_viewer_may_know(drawn_plays: list[Play]) -> None:
    for play in drawn_plays:
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
                assert drawn[view] in (held[view], blind), about  # a blind dealer sees the hand in a later row


def test_no_position_knows_a_card_that_its_events_do_not_show(plays: list[Play]) -> None:
    for play in plays:
        for view, seen in zip(play.views, play.seen, strict=True):
            assert seen["leaks"] == [], (play.game, play.options, view)


def test_a_viewer_who_peeks_is_found_out(drawn_plays: list[Play]) -> None:
    ((peeking,),) = in_javascript([drawn_plays[0].asked() | {"views": ["peeking"]}])

    assert peeking["leaks"]


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
    assert silent - {("prince-albert", "deck")} == {(plays[0].game, "match_start")}
    assert not silent & told


def test_every_round_is_opened_by_the_event_that_opens_it(plays: list[Play]) -> None:
    for play in plays:
        opening, last = game(play.game).opening, play.states[-1]
        word, rounds = _rounds(last)
        final = ["Final deal"] if isinstance(last, RummyRoyal) and last.final_dealer is not None else []
        for seen in play.seen:
            opened = [(kind, title) for (kind, _), title in zip(seen["told"], seen["opened"], strict=True) if title]
            assert [title for _, title in opened] == [*(f"{word} {number}" for number in range(1, rounds + 1)), *final]
            assert {kind for kind, title in opened if title not in final} <= {opening}


def _rounds(last: State) -> tuple[str, int]:
    """Return the unit of a match, and the number of units played."""
    if isinstance(last, Prisoners | RummyRoyal):
        return "Deal", last.deal
    return "Round", getattr(last, "round", 0)  # 0 for a game without rounds


def test_what_no_game_knows_moves_nothing_and_is_told_by_its_members() -> None:
    strange: list[Json] = [{"event": "earthquake", "seat": 1}, {"event": "constructor"}, {"event": "__proto__"}]
    plays = [
        Play(name, 4, game(name).complete_options(4, {}), rows=[[], strange], views=["open"]).asked()
        for name in catalogue()
    ]

    seen = in_javascript(plays)

    for (untouched,) in seen:
        before, after = untouched["positions"]
        assert before == after
        assert [told for _, told in untouched["told"]] == ["earthquake: seat <1>", "constructor", "  proto  "]
