"""The games as PettingZoo and OpenSpiel environments, checked by the test suites of these libraries."""

import warnings
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pyspiel
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from referee.errors import BadOption, IllegalAction, NoSuchGame
from referee.games import catalogue, game
from referee_extras.gym import openspiel
from referee_extras.gym.aec import env
from referee_extras.gym.encoding import CARDS, Encoder
from referee_extras.gym.table import LearningTable

Options = dict[str, Any]
PLAYED: list[tuple[str, int, Options]] = [  # every game, with options that reach other code
    ("pool-nap", 3, {"rounds": 2, "all_pass": "dealer_bids"}),
    ("prince-albert", 3, {"target": 3}),
    ("prince-albert", 2, {"target": 2, "cash": True, "holdem": True}),
    ("prisoners", 2, {}),
    ("rummy-royal", 3, {"deals": 1}),
    ("saint-poker", 5, {"rounds": 2}),
]
of_every_game = pytest.mark.parametrize(("game_name", "seats", "options"), PLAYED)


@pytest.mark.parametrize(
    ("game_name", "seats", "options", "observe", "actions"),
    [
        *((*played, "vector", "index") for played in PLAYED),
        (*PLAYED[2], "dictionary", "index"),
        (*PLAYED[4], "vector", "fixed"),
    ],
)
def test_the_tests_of_pettingzoo_pass(
    game_name: str, seats: int, options: Options, observe: str, actions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make = partial(env, game_name, seats, options, observe=observe, actions=actions)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it expects observations without a mask
        api_test(make(), num_cycles=60)
        seed_test(make, num_cycles=30)
        render_test(make)

    assert "Passed API test" in capsys.readouterr().out


@of_every_game
def test_the_simulation_of_openspiel_passes(game_name: str, seats: int, options: Options) -> None:
    loaded = openspiel.load(game_name, seats, options)

    pyspiel.random_sim_test(loaded, num_sims=1, serialize=True, verbose=False)

    assert loaded.get_type().short_name == openspiel.name_of(game_name)


@of_every_game
def test_returns_are_those_of_the_match_and_scores_add_up_to_them(game_name: str, seats: int, options: Options) -> None:
    at_the_end, along = (env(game_name, seats, options, reward=reward) for reward in ("returns", "scores"))
    dice = Random(3)
    for one in (at_the_end, along):
        one.reset(seed=11)
    begun = along.table.state.scores()
    gained = dict.fromkeys(along.possible_agents, 0.0)

    while not along.terminations["seat_0"]:
        number = dice.randrange(len(along.table.legal()))
        for one in (at_the_end, along):
            one.step(number)
        gained = {agent: gained[agent] + along.rewards[agent] for agent in gained}

    state = along.table.state
    assert list(at_the_end.rewards.values()) == state.returns()
    assert list(gained.values()) == [now - before for now, before in zip(state.scores(), begun, strict=True)]


def test_cards_seats_and_numbers_stand_where_they_should() -> None:
    table = LearningTable("pool-nap", 3, {}, Random(2))
    seat = table.to_act
    assert seat is not None
    seen = table.state.observation(seat)

    parts = Encoder("pool-nap", 3).dictionary(seen)

    assert [card for card, count in zip(CARDS, parts["hand"], strict=True) if count] == sorted(
        seen["hand"], key=CARDS.index
    )
    turned = [seen["chips"][(seat + place) % 3] for place in range(3)]
    assert parts["chips"].tolist() == [*turned, *[0] * 7]
    assert int(np.argmax(parts["dealer"])) == (seen["dealer"] - seat) % 3
    assert parts["phase"].tolist() == [1, 0, 0]


@of_every_game
def test_numbered_actions_play_the_same_match_as_indices(game_name: str, seats: int, options: Options) -> None:
    indexed, numbered = (env(game_name, seats, options, actions=actions) for actions in ("index", "fixed"))
    dice = Random(3)
    for match in (indexed, numbered):
        match.reset(seed=11)

    while not indexed.terminations["seat_0"]:
        seat, legal = indexed.table.to_act, indexed.table.legal()
        assert seat is not None
        mask = numbered.observe(f"seat_{seat}")["action_mask"]
        numbers = numbered.numbering.encode_all(legal, seat)  # type: ignore[union-attr]
        assert np.flatnonzero(mask).tolist() == sorted(numbers)
        index = dice.randrange(len(legal))
        indexed.step(index)
        numbered.step(numbers[index])

    assert numbered.table.state == indexed.table.state


def test_what_cannot_be_played_is_refused() -> None:
    with pytest.raises(NoSuchGame):
        env("whist", 4)
    with pytest.raises(BadOption):
        env("pool-nap", 3, {"ante": 0})
    with pytest.raises(BadOption):
        openspiel.load("pool-nap", 30)
    begun = env("pool-nap", 3)
    begun.reset(seed=1)
    before = begun.table.state.as_json()
    for number in (-1, 99):
        with pytest.raises(IllegalAction):
            begun.step(number)
    assert begun.table.state.as_json() == before
    with pytest.raises(ValueError, match="got None"):
        begun.step(None)
    with pytest.raises(ValueError, match="'fixed', 'index', got 'all'"):
        env("pool-nap", 3, actions="all")


def test_every_option_of_every_game_can_be_said_to_openspiel() -> None:
    loaded = pyspiel.load_game("referee_pool_nap(players=3,options=rounds:2;ante:3)")
    options = loaded.new_initial_state().position.options
    assert (loaded.num_players(), options["rounds"], options["ante"]) == (3, 2, 3)
    assert {name for name, _, _ in PLAYED} == set(catalogue())
    for game_name, rules in catalogue().items():
        complete = rules.start(rules.seats[0], {}).options
        given = {name: value for name, value in complete.items() if name not in ("chips", "rank_by")}

        loaded = openspiel.load(game_name, rules.seats[0], given)

        assert loaded.new_initial_state().position.options == game(game_name).start(rules.seats[0], given).options
