"""The sentences that describe options of games which differ from their defaults."""

from typing import Any

import pytest

from referee.games import catalogue
from referee.games.options import Option, describe_differences


def other_values(option: Option) -> list[Any]:
    """Return the values of an option that are not its default, or examples of them."""
    match option.kind:
        case "bool":
            return [not option.default]
        case "int":
            return [value for value in (option.low, option.high) if value != option.default]
        case "choice":
            return [choice for choice in option.choices if choice != option.default]
    return [list(option.choices)]


@pytest.mark.parametrize("name", sorted(catalogue()))
def test_each_option_of_each_game_has_a_sentence_for_every_other_value(name: str) -> None:
    for option in catalogue()[name].option_specs:
        assert option.sentence, option.name
        for value in other_values(option):
            sentence = option.describe(value, option.default)
            assert (sentence[0].isupper(), sentence[-1], len(sentence) < 100) == (True, ".", True), sentence
            assert not {"{", "_", "}"} & set(sentence), sentence


def test_only_options_that_differ_from_the_defaults_for_the_seats_are_described() -> None:
    rules = catalogue()["prisoners"]

    assert rules.describe_options(4, rules.complete_options(4, {})) == []
    assert rules.describe_options(6, rules.complete_options(6, {})) == []  # two decks are the default for six seats
    assert rules.describe_options(4, rules.complete_options(4, {"deals": 1, "decks": 2, "bidding": "single"})) == [
        "The match is played with 2 decks instead of 1.",
        "Every seat has one turn to bid.",
    ]


def test_options_without_a_sentence_are_described_by_their_names() -> None:
    specs = [Option("wild_cards", "bool", False, "jokers"), Option("hand", "int", 3, "cards", low=1, high=9)]

    assert describe_differences(specs, {"wild_cards": True, "hand": 3}, {"wild_cards": False, "hand": 3}) == [
        "Wild cards: yes."
    ]
    assert describe_differences(specs, {"hand": 4, "gone": 1}, {"wild_cards": False, "hand": 3}) == ["Hand: 4."]


def test_a_sentence_has_the_plural_of_its_number() -> None:
    rounds = Option("rounds", "int", 8, "rounds", "The match has {value} round{s} instead of {default}.", low=1, high=9)

    assert rounds.describe(1, 8) == "The match has 1 round instead of 8."
    assert rounds.describe(2, 8) == "The match has 2 rounds instead of 8."
