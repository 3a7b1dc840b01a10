"""The numbers of actions: a bijection in matches of all variants, and the same numbers for ever."""

from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import Random
from subprocess import run
from sys import executable

import numpy as np
import pytest

from referee.conformance.positions import scenarios
from referee.errors import BadOption, IllegalAction, NoSuchGame
from referee.games import catalogue, game
from referee.match.canonical import dumps
from referee_extras.gym.actions import NUMBERINGS, ActionSpace, list_actions
from referee_extras.gym.table import LearningTable
from tests.cli.running import surroundings

# Version, number of actions, and the beginning of the SHA-256 of their list. Trained networks depend on them, so a list
# may only change together with its version.
LISTS = {
    "pool-nap": (1, 58, "22e0ff2ca81a0adc"),
    "prince-albert": (1, 288, "c213c49a1edf55a5"),
    "prisoners": (1, 4207, "98887053569a85b1"),
    "rummy-royal": (1, 256, "a4a3eef2fd2cec97"),
    "saint-poker": (1, 1430, "6413b3f0ec380b8b"),
}
VARIANTS = 60  # random options and numbers of seats of each game
MOST_DECISIONS = 250  # of a match
named_game = pytest.mark.parametrize("game_name", sorted(catalogue()))


@named_game
def test_a_number_never_gets_another_meaning_without_a_new_version(game_name: str) -> None:
    listed = list_actions(game_name)

    digest = sha256(b"\n".join(map(dumps, listed))).hexdigest()[:16]

    assert (NUMBERINGS[game_name].version, len(listed), digest) == LISTS[game_name]


@named_game
@pytest.mark.parametrize("number", range(4))
def test_legal_actions_have_distinct_numbers_that_decode_to_them_in_all_variants(game_name: str, number: int) -> None:
    dice, seen = Random(f"actions {game_name} {number}"), set[int]()
    for terms in islice(scenarios(game(game_name), dice), VARIANTS // 4):
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


def test_the_order_of_members_does_not_matter_and_the_result_can_be_changed() -> None:
    space = ActionSpace("saint-poker", 2)
    number = space.encode({"cards": ["2c", "2d"], "type": "select"}, 0)

    space.decode(number, 0)["cards"].clear()

    assert space.decode(number, 0) == {"type": "select", "cards": ["2c", "2d"]}


def test_members_that_a_later_protocol_may_add_are_ignored() -> None:
    space = ActionSpace("pool-nap", 3)
    bid = {"type": "bid", "tricks": 2}

    assert space.encode_all([{**bid, "x_unknown": {"more": [1, "two", None]}}], 0) == [space.encode(bid, 0)]
    with pytest.raises(IllegalAction):
        space.encode({"type": "pass", "tricks": 2}, 0)


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


def test_the_command_states_the_sizes_and_lists_the_actions() -> None:
    command = [executable, "-m", "referee_extras.gym.actions"]
    sizes, listed = (
        run([*command, *names], env=surroundings(), capture_output=True, text=True, check=True).stdout
        for names in ([], ["pool-nap"])
    )

    assert {line.split()[0]: int(line.split()[1]) for line in sizes.splitlines()} == {
        name: size for name, (_, size, _) in LISTS.items()
    }
    page = (Path(__file__).parents[3] / "docs/learning.md").read_text()
    assert f"python -m referee_extras.gym.actions\n```\n\n```\n{sizes}```" in page
    assert listed.splitlines()[0] == '0 {"type":"pass"}'
    assert len(listed.splitlines()) == LISTS["pool-nap"][1]
