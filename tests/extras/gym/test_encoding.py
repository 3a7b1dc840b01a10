"""The numbers of actions and the vectors of observations: the same for ever, and little is computed for a step."""

import pickle
import sys
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest

from referee.conformance.positions import scenarios
from referee.errors import BadOption, IllegalAction, NoSuchGame
from referee.games import catalogue, game
from referee.match.canonical import dumps
from referee_extras.gym.actions import NUMBERINGS, ActionSpace, list_actions, main
from referee_extras.gym.aec import CardGame, env
from referee_extras.gym.encoding import Encoder
from referee_extras.gym.table import LearningTable

# Version, number of actions, and the beginning of the SHA-256 of their list. Trained networks depend on them, so a list
# may only change together with its version.
LISTS = {
    "pool-nap": (1, 58, "22e0ff2ca81a0adc"),
    "prince-albert": (1, 288, "c213c49a1edf55a5"),
    "prisoners": (1, 4207, "98887053569a85b1"),
    "rummy-royal": (1, 256, "a4a3eef2fd2cec97"),
    "saint-poker": (1, 1430, "6413b3f0ec380b8b"),
}
VARIANTS = 8  # random options and numbers of seats of each game
MOST_DECISIONS = 250  # of a match
named_game = pytest.mark.parametrize("game_name", sorted(catalogue()))


@named_game
def test_a_number_never_gets_another_meaning_without_a_new_version(game_name: str) -> None:
    listed = list_actions(game_name)

    digest = sha256(b"\n".join(map(dumps, listed))).hexdigest()[:16]

    assert (NUMBERINGS[game_name].version, len(listed), digest) == LISTS[game_name]


@named_game
def test_legal_actions_have_distinct_numbers_that_decode_to_them_in_all_variants(game_name: str) -> None:
    dice, seen = Random(f"actions {game_name}"), set[int]()
    for terms in islice(scenarios(game(game_name), dice), VARIANTS):
        table, space = LearningTable(game_name, terms.seats, terms.options, dice), ActionSpace(game_name, terms.seats)
        for _ in range(MOST_DECISIONS):
            if (seat := table.to_act) is None:
                break
            legal = table.legal()
            numbers = [space.encode(action, seat) for action in legal]

            assert [space.decode(encoded, seat) for encoded in numbers] == legal
            assert len({*numbers}) == len(legal)
            assert space.encode_all(legal, seat) == numbers
            assert np.flatnonzero(space.mask(legal, seat)).tolist() == sorted(numbers)
            seen.update(numbers)
            table.act(dice.randrange(len(legal)))

    assert seen <= {*range(space.size)}
    assert len(seen) > 30  # matches reached many actions


@named_game
def test_every_number_of_the_largest_table_decodes_to_an_action_of_its_own(game_name: str) -> None:
    seats = game(game_name).seats[-1]
    space = ActionSpace(game_name, seats)

    for seat in range(seats):
        assert [space.encode(space.decode(number, seat), seat) for number in range(space.size)] == [*range(space.size)]


def test_other_seats_are_counted_from_the_seat_that_acts() -> None:
    space = ActionSpace("prince-albert", 3)
    from_the_next = [{"type": "exchange", "discard": "2c", "from": (seat + 1) % 3} for seat in range(3)]

    numbers = {space.encode(action, seat) for seat, action in enumerate(from_the_next)}

    assert len(numbers) == 1


def test_neither_the_order_of_members_nor_further_ones_matter_and_the_result_can_be_changed() -> None:
    space, bids = ActionSpace("saint-poker", 2), ActionSpace("pool-nap", 3)
    number, bid = space.encode({"cards": ["2c", "2d"], "type": "select"}, 0), {"type": "bid", "tricks": 2}

    space.decode(number, 0)["cards"].clear()

    assert space.decode(number, 0) == {"type": "select", "cards": ["2c", "2d"]}
    assert bids.encode_all([{**bid, "x_unknown": {"more": [1, "two", None]}}], 0) == [bids.encode(bid, 0)]
    with pytest.raises(IllegalAction):
        bids.encode({"type": "pass", "tricks": 2}, 0)


def test_what_is_no_action_and_no_number_is_refused() -> None:
    space = ActionSpace("prince-albert", 2)
    for action in ({"type": "exchange", "discard": "2c", "from": 0}, {"type": "bid", "cards": 9}, {}):
        with pytest.raises(IllegalAction, match="is no action of prince-albert with 2 seats"):
            space.encode(action, 0)
    beyond = list_actions("prince-albert").index({"type": "exchange", "discard": "2c", "from": 2})
    for number in (-1, space.size, beyond):
        with pytest.raises(IllegalAction, match=f"{number} is the number of no action"):
            space.decode(number, 0)
    with pytest.raises(NoSuchGame):
        ActionSpace("whist", 2)
    with pytest.raises(BadOption, match="2 to 5 seats, got 6"):
        ActionSpace("saint-poker", 6)


def test_the_command_states_the_sizes_and_lists_the_actions(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    sizes = capsys.readouterr().out
    main(["pool-nap"])
    listed = capsys.readouterr().out

    assert {line.split()[0]: int(line.split()[1]) for line in sizes.splitlines()} == {
        name: size for name, (_, size, _) in LISTS.items()
    }
    page = (Path(__file__).parents[3] / "docs/learning.md").read_text()
    assert f"python -m referee_extras.gym.actions\n```\n\n```\n{sizes}```" in page
    assert listed.splitlines()[0] == '0 {"type":"pass"}'
    assert len(listed.splitlines()) == LISTS["pool-nap"][1]


# Beginnings of the SHA-256 of all vectors of a random match. Trained agents depend on them.
DIGESTS: list[tuple[str, int, dict[str, Any], str]] = [
    ("pool-nap", 3, {"rounds": 2, "all_pass": "dealer_bids"}, "bc5e489ebef0dba2"),
    ("pool-nap", 10, {"rounds": 1}, "c7eb02ada40a37a9"),
    ("prince-albert", 3, {"target": 3}, "8817fd9a69a3227c"),
    ("prince-albert", 5, {"target": 2, "cash": True, "holdem": True}, "88075e66cba6f38b"),
    ("prisoners", 2, {}, "8e55054e17cee57a"),
    ("prisoners", 4, {"decks": 2, "bidding": "open"}, "c8cb87951b84ea6e"),
    ("rummy-royal", 3, {"deals": 1}, "0e4557aa967b8554"),
    ("rummy-royal", 9, {"deals": 1, "dealer_looks": False}, "1f491f85945de818"),
    ("saint-poker", 2, {"rounds": 2}, "bdf3d90236305529"),
    ("saint-poker", 5, {"rounds": 2}, "95bb74c46c12c73d"),
]


@pytest.mark.parametrize(("game_name", "seats", "options", "digest"), DIGESTS)
def test_vectors_never_change(game_name: str, seats: int, options: dict[str, Any], digest: str) -> None:
    table, encoder = LearningTable(game_name, seats, options, Random(5)), Encoder(game_name, seats)
    dice, found = Random(8), sha256()

    while not table.state.over:
        for seat in range(seats):
            found.update(encoder.vector(table.state.observation(seat)).astype("<f4").tobytes())
        table.act(dice.randrange(len(table.legal())))

    assert found.hexdigest()[:16] == digest


def test_the_dictionary_has_the_numbers_of_the_vector() -> None:
    table, encoder = LearningTable("saint-poker", 3, {}, Random(2)), Encoder("saint-poker", 3)
    seen = table.state.observation(1)

    parts = encoder.dictionary(seen)

    assert {name: part.shape for name, part in parts.items()} == encoder.parts
    assert np.concatenate([part.ravel() for part in parts.values()]).tolist() == encoder.vector(seen).tolist()


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


def calls_of(work: Callable[[], object]) -> list[CodeType]:
    """Return the code of the functions that are called during ``work``."""
    called: list[CodeType] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            called.append(frame.f_code)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return called
