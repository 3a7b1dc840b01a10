"""The games as environments of Gymnasium, PettingZoo and OpenSpiel: the checks of these libraries, masks, rewards."""

import pickle
import warnings
from collections import Counter
from functools import partial
from random import Random
from typing import Any

import gymnasium
import numpy as np
import pyspiel
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, render_test, seed_test

from referee.errors import BadOption, IllegalAction, NoSuchGame
from referee.games import catalogue, game
from referee.house.players import NoSuchHousePlayer
from referee.match.canonical import Json
from referee_extras.gym import openspiel
from referee_extras.gym.aec import env
from referee_extras.gym.learner import LearnerEnv, name_of

Options = dict[str, Any]
PLAYED: list[tuple[str, int, Options]] = [  # every game, with options that reach other code
    ("pool-nap", 3, {"rounds": 2, "all_pass": "dealer_bids"}),
    ("prince-albert", 3, {"target": 2, "cash": True, "holdem": True, "vote": ["ties"]}),
    ("prisoners", 4, {"decks": 2}),
    ("rummy-royal", 3, {"deals": 1, "dealer_looks": False}),
    ("saint-poker", 5, {"rounds": 2}),
]
of_every_game = pytest.mark.parametrize(("game_name", "players", "options"), PLAYED)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("game_name", sorted(catalogue()))
def test_the_checker_of_gymnasium_passes_for_every_registered_game(game_name: str) -> None:
    check_env(gymnasium.make(name_of(game_name)).unwrapped)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("game_name", "players", "options", "settings"),
    [
        (*PLAYED[1], {"actions": "index", "observe": "dictionary", "reward": "scores", "seat": None}),
        (*PLAYED[3], {"opponents": ["house:1", "house:2"], "reward": "placement", "seat": 1}),
    ],
)
def test_the_checker_of_gymnasium_passes_with_variants(
    game_name: str, players: int, options: Options, settings: Options
) -> None:
    made = gymnasium.make(name_of(game_name), players=players, options=options, **settings)

    check_env(made.unwrapped)

    assert made.unwrapped.players == players  # type: ignore[attr-defined]
    assert name_of("pool-nap") == "referee/PoolNap-v1"
    assert {name for name, _, _ in PLAYED} == {*catalogue()}


@pytest.mark.parametrize(
    ("game_name", "players", "options", "actions"),
    [*((*played, "fixed") for played in PLAYED), (*PLAYED[4], "index")],
)
def test_equal_seeds_give_equal_matches_with_drawn_seats_and_opponents(
    game_name: str, players: int, options: Options, actions: str
) -> None:
    make = partial(LearnerEnv, game_name, players, options, opponents=["house:1", "house:2"], seat=None)

    one, other = (play_matches(make(actions=actions), seed=5, matches=3) for _ in range(2))  # type: ignore[arg-type]

    assert one == other
    assert play_matches(make(actions=actions), seed=6, matches=3) != one  # type: ignore[arg-type]
    assert len({returns for _, returns in one}) > 1  # a match without a seed is another match


@of_every_game
def test_the_mask_marks_the_legal_actions_and_each_can_be_played(
    game_name: str, players: int, options: Options
) -> None:
    env = LearnerEnv(game_name, players, options, opponents="house:1", illegal="raise")
    dice = np.random.default_rng(3)
    _, info = env.reset(seed=3)
    numbering = env.numbering
    assert numbering

    over = False
    while not over:
        asked = env.question()
        legal = [numbering.encode(action, info["seat"]) for action in asked["legal_actions"]]
        assert np.flatnonzero(info["action_mask"]).tolist() == sorted(legal)
        assert env.action_masks().dtype == np.bool_
        assert (env.action_masks() == info["action_mask"]).all()
        number = int(dice.choice(legal))
        assert env.action_space.sample(info["action_mask"]) in legal
        before = env.table.state.as_json()
        with pytest.raises(IllegalAction, match="is not legal here"):
            env.step(next(other for other in range(numbering.size) if other not in legal))
        assert env.table.state.as_json() == before
        _, _, over, truncated, info = env.step(number)
        assert not truncated

    assert not info["action_mask"].any()
    assert info["returns"] == env.table.state.returns()
    with pytest.raises(IllegalAction):
        env.step(number)


def test_an_illegal_action_plays_the_default_action_and_is_reported() -> None:
    env, same = (LearnerEnv("prisoners", 2, opponents="house:2") for _ in range(2))
    for each in (env, same):
        each.reset(seed=4)
    assert same.numbering

    *_, info = env.step(4206)  # four aces or the like, which this hand lacks
    *_, legal_info = same.step(same.numbering.encode(same.question()["default_action"], 0))

    assert (info["illegal"], legal_info["illegal"]) == (True, False)
    assert env.table.state == same.table.state


@of_every_game
def test_rewards_are_returns_score_changes_or_the_share_of_seats_behind(
    game_name: str, players: int, options: Options
) -> None:
    totals: dict[str, float] = {}
    for reward in ("returns", "scores", "placement"):
        env = LearnerEnv(game_name, players, options, opponents="house:2", reward=reward)
        _, info = env.reset(seed=8)
        begun = type(env.table.state).start(players, options).scores()[0]
        rewards, over = [], False
        while not over:
            _, gained, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
            rewards.append(gained)
        totals[reward] = sum(rewards)
        assert reward == "scores" or not any(rewards[:-1])

    own, *others = info["placements"]
    assert totals["returns"] == info["returns"][0]
    assert totals["scores"] == env.table.state.scores()[0] - begun
    assert totals["placement"] == sum(0.5 * (own == other) + (own < other) for other in others) / (players - 1)


def test_functions_play_the_other_seats_with_the_question_of_their_own_seat() -> None:
    asked: Counter[int] = Counter()

    def first(question: Json) -> Json:
        asked[question["observation"]["seat"]] += 1
        assert set(question) == {"observation", "legal_actions", "default_action"}
        action: Json = question["legal_actions"][0]
        return action

    play_matches(LearnerEnv("pool-nap", 4, {"rounds": 4}, opponents=first, seat=2), seed=1, matches=1)

    assert asked.keys() == {0, 1, 3}
    with pytest.raises(IllegalAction):
        LearnerEnv("pool-nap", 3, opponents=lambda question: {"type": "bid", "tricks": 77}, seat=1).reset(seed=1)


def test_each_listed_opponent_and_each_seat_is_drawn() -> None:
    drawn: Counter[str] = Counter()

    def named(name: str, question: Json) -> Json:
        drawn[name] += 1
        action: Json = question["default_action"]
        return action

    env = LearnerEnv("saint-poker", 3, {"rounds": 1}, opponents=[partial(named, "a"), partial(named, "b")], seat=None)

    seats = {seat for seat, _ in play_matches(env, seed=1, matches=20)}

    assert seats == {0, 1, 2}
    assert min(drawn["a"], drawn["b"]) > 0


def test_the_learner_is_asked_what_a_bot_is_asked_and_no_visibly_forced_move() -> None:
    env = LearnerEnv("pool-nap", 2, opponents="house:1")
    _, info = env.reset(seed=2)
    for _ in range(40):
        assert env.table.state.forced_action(env.seat) is None
        assert env.question()["observation"] == env.table.state.observation(0)
        _, _, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
        if over:
            break


def test_a_match_in_which_the_learner_decides_nothing_is_replaced() -> None:
    env = LearnerEnv("prisoners", 10, {"decks": 2}, opponents="house:first", seat=0)
    env.reset(seed=1)

    for _ in range(20):
        env.reset()
        assert env.table.to_act == 0


def test_rendering_shows_what_the_learner_sees(capsys: pytest.CaptureFixture[str]) -> None:
    env = LearnerEnv("saint-poker", render_mode="ansi")
    env.reset(seed=1)

    text, again = env.render(), env.render()

    assert text is not None
    assert text.startswith("match_start: game saint-poker")
    assert env.question()["observation"]["hand"][0] in text
    assert not {*env.table.state.hands[1]} & {*text.replace("'", " ").split()}  # type: ignore[attr-defined]
    assert again == ""
    human = LearnerEnv("saint-poker", render_mode="human")
    human.reset(seed=1)
    assert capsys.readouterr().out == text + "\n"


def test_an_environment_in_mid_match_can_be_sent_to_another_process() -> None:
    env = LearnerEnv("rummy-royal", 3, opponents="house:2")
    env.reset(seed=3)

    copy: LearnerEnv = pickle.loads(pickle.dumps(env))

    number = int(np.flatnonzero(env.action_masks())[0])
    assert env.step(number)[1:4] == copy.step(number)[1:4]
    assert env.table.state == copy.table.state


@pytest.mark.parametrize(
    ("arguments", "settings", "error", "words"),
    [
        (("whist",), {}, NoSuchGame, "whist"),
        (("pool-nap", 30), {}, BadOption, "2 to 10 seats"),
        (("pool-nap", 3, {"ante": 0}), {}, BadOption, "ante"),
        (("pool-nap", 3), {"seat": 3}, BadOption, "seat: expected 0 to 2, or None"),
        (("pool-nap", 3), {"opponents": "house:9"}, NoSuchHousePlayer, "house:9"),
        (("pool-nap", 3), {"opponents": []}, BadOption, "at least one"),
        (("pool-nap", 3), {"opponents": [3]}, BadOption, "house players or functions, got 3"),
        (("pool-nap", 3), {"reward": "money"}, ValueError, "'returns', 'scores', 'placement'"),
        (("pool-nap", 3), {"actions": "all"}, ValueError, "'fixed', 'index'"),
        (("pool-nap", 3), {"render_mode": "rgb_array"}, ValueError, "'ansi', 'human'"),
    ],
)
def test_invalid_arguments_are_refused(
    arguments: tuple[Any, ...], settings: Options, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        LearnerEnv(*arguments, **settings)


def play_matches(env: LearnerEnv, seed: int, matches: int) -> list[tuple[int, tuple[int, ...]]]:
    """Play at random by the mask. Return the learner's seat and the returns of each match."""
    dice, ended = np.random.default_rng(seed), []
    for number in range(matches):
        _, info = env.reset(seed=None if number else seed)
        over = False
        while not over:
            _, _, over, _, info = env.step(int(dice.choice(np.flatnonzero(info["action_mask"]))))
        ended.append((info["seat"], tuple(info["returns"])))
    return ended


@pytest.mark.parametrize(
    ("game_name", "players", "options", "observe", "actions"),
    [
        *((*played, "vector", "index") for played in PLAYED),
        (*PLAYED[1], "dictionary", "index"),
        (*PLAYED[4], "vector", "fixed"),
    ],
)
def test_the_tests_of_pettingzoo_pass(
    game_name: str, players: int, options: Options, observe: str, actions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make = partial(env, game_name, players, options, observe=observe, actions=actions)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it expects observations without a mask
        api_test(make(), num_cycles=60)
        seed_test(make, num_cycles=30)
        render_test(make)

    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.parametrize(("game_name", "players", "options"), [*PLAYED[:2], ("prisoners", 2, {}), *PLAYED[3:]])
def test_the_simulation_of_openspiel_passes(game_name: str, players: int, options: Options) -> None:
    loaded = openspiel.load(game_name, players, options)

    pyspiel.random_sim_test(loaded, num_sims=1, serialize=True, verbose=False)

    assert loaded.get_type().short_name == openspiel.name_of(game_name)


@of_every_game
def test_returns_are_those_of_the_match_and_scores_add_up_to_them(
    game_name: str, players: int, options: Options
) -> None:
    at_the_end, along = (env(game_name, players, options, reward=reward) for reward in ("returns", "scores"))
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


@of_every_game
def test_numbered_actions_play_the_same_match_as_indices(game_name: str, players: int, options: Options) -> None:
    indexed, numbered = (env(game_name, players, options, actions=actions) for actions in ("index", "fixed"))
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
