"""What an encoded match contains, bit by bit, and how little is computed for a step."""

import pickle
import sys
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from random import Random
from types import FrameType
from typing import Any

import numpy as np
import pytest

from referee.games import catalogue
from referee_extras.gym.aec import CardGame, env
from referee_extras.gym.encoding import Encoder
from referee_extras.gym.table import LearningTable

# Beginnings of the SHA-256 of all vectors and rows of actions of a random match. Trained agents depend on them.
DIGESTS: list[tuple[str, int, dict[str, Any], str]] = [
    ("pool-nap", 3, {"rounds": 2, "all_pass": "dealer_bids"}, "85215cb4b95f1b72"),
    ("pool-nap", 10, {"rounds": 1}, "a5d6278404dc9152"),
    ("prince-albert", 3, {"target": 3}, "d373755bb1faa172"),
    ("prince-albert", 5, {"target": 2, "cash": True, "holdem": True}, "23044cc8f5e1922b"),
    ("prisoners", 2, {}, "a733550ed14f92a4"),
    ("prisoners", 4, {"decks": 2, "bidding": "open"}, "e1613d53a249b15d"),
    ("rummy-royal", 3, {"deals": 1}, "c3a473ff5865dc12"),
    ("rummy-royal", 9, {"deals": 1, "dealer_looks": False}, "939b207a1f4b1061"),
    ("saint-poker", 2, {"rounds": 2}, "4a800fd493699878"),
    ("saint-poker", 5, {"rounds": 2}, "e697b8b306c6a9d9"),
]


@pytest.mark.parametrize(("game_name", "seats", "options", "digest"), DIGESTS)
def test_vectors_and_rows_of_actions_never_change(
    game_name: str, seats: int, options: dict[str, Any], digest: str
) -> None:
    table, encoder = LearningTable(game_name, seats, options, Random(5)), Encoder(game_name, seats)
    dice, found = Random(8), sha256()

    while not table.state.over:
        for seat in range(seats):
            found.update(encoder.vector(table.state.observation(seat)).astype("<f4").tobytes())
        found.update(encoder.actions(table.legal()).astype("<f4").tobytes())
        table.act(dice.randrange(len(table.legal())))

    assert found.hexdigest()[:16] == digest


def test_the_dictionary_has_the_numbers_of_the_vector() -> None:
    table, encoder = LearningTable("saint-poker", 3, {}, Random(2)), Encoder("saint-poker", 3)
    seen = table.state.observation(1)

    parts = encoder.dictionary(seen)

    assert {name: part.shape for name, part in parts.items()} == encoder.parts
    assert np.concatenate([part.ravel() for part in parts.values()]).tolist() == encoder.vector(seen).tolist()


def test_hidden_cards_missing_objects_and_closed_lists_are_zeros() -> None:
    encoder = Encoder("rummy-royal", 3)
    table = LearningTable("rummy-royal", 3, {"dealer_looks": False}, Random(4))
    seen = table.state.observation(table.to_act or 0)

    parts = encoder.dictionary({**seen, "discarded": None, "dealer": None})

    assert set(seen["hand"]) == {"??"}
    assert not parts["hand"].any()
    assert not parts["discarded"].any()
    assert not parts["dealer"].any()


@pytest.mark.parametrize("game_name", catalogue())
def test_a_step_asks_the_rules_once_for_the_view_and_once_for_the_actions(game_name: str) -> None:
    match = env(game_name, catalogue()[game_name].seats[0])
    match.reset(seed=1)

    def step_and_look() -> None:
        match.step(0)
        match.last()

    called = Counter(calls_of(step_and_look))

    rules = type(match.table.state)
    assert [called[method.__code__] for method in (rules.observation, rules.legal)] == [1, 1]


@pytest.mark.parametrize("game_name", catalogue())
def test_an_observation_is_written_into_one_array(game_name: str) -> None:
    seats = catalogue()[game_name].seats[-1]
    encoder, state = Encoder(game_name, seats), LearningTable(game_name, seats, {}, Random(1)).state
    encoder.vector(state.observation(0))  # computes the places

    called = calls_of(lambda: encoder.vector(state.observation(0)))

    assert [function for function in called if getattr(function, "__module__", "") == "numpy"] == [np.zeros]


def test_what_a_seat_that_waits_sees_has_no_legal_action() -> None:
    match = env("pool-nap", 3)
    match.reset(seed=1)
    state, waiting = match.table.state, (match.table.state.queue[0] + 1) % 3

    seen = match.observe(f"seat_{waiting}")

    assert not seen["action_mask"].any()
    assert seen["observation"].tolist() == match.encoder.vector(state.observation(waiting)).tolist()


def test_an_environment_can_be_sent_to_another_process_in_mid_match() -> None:
    match = env("prince-albert", 3)
    match.reset(seed=7)
    match.step(0)
    match.last()

    copy: CardGame = pickle.loads(pickle.dumps(match))

    for one in (match, copy):
        one.step(1)
    assert copy.table.state == match.table.state
    assert [array.tolist() for array in copy.last()[0].values()] == [
        array.tolist() for array in match.last()[0].values()
    ]


def calls_of(work: Callable[[], object]) -> list[Any]:
    """Return the functions written in C, and the code of those in Python, that are called during ``work``."""
    called: list[Any] = []

    def note(frame: FrameType, event: str, function: Any) -> None:
        if event in ("call", "c_call"):
            called.append(frame.f_code if event == "call" else function)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return called
