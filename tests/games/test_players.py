"""House players: always legal, and nothing but the question and the dice decides."""

from random import Random

import pytest

from referee.canonical import Json, dumps
from referee.games import catalogue
from referee.games.state import Seat, State
from referee.players import players
from tests.games.playing import positions

every_player = pytest.mark.parametrize("player", sorted(players()))
every_table = pytest.mark.parametrize(
    ("game", "seats"), [(name, seats) for name, game in catalogue().items() for seats in game.seats]
)


def question(state: State, seat: Seat) -> Json:
    """What a seat is asked, without the parts that players of ours do not read."""
    return {"observation": state.observation(seat), "legal": state.legal(seat), "default": state.default(seat)}


@every_player
@every_table
def test_answers_are_legal_repeatable_and_leave_the_question_alone(player: str, game: str, seats: int) -> None:
    dice = Random(seats)
    for state in positions(catalogue()[game].start(seats), dice):
        if dice.random() < 0.8:
            continue
        for seat in state.pending():
            asked = question(state, seat)
            before, seed = dumps(asked), dice.random()

            answers = [players()[player](Random(seed)).decide(game, asked) for _ in range(2)]

            assert answers[0] == answers[1]
            assert answers[0] in asked["legal"]
            assert dumps(asked) == before


def test_first_plays_what_an_absent_seat_would() -> None:
    state = catalogue()["saint-poker"].start(2)
    state.resolve((state.chance() or {})["cards"])

    assert players()["first"](Random(1)).decide("saint-poker", question(state, 1)) == state.default(1)


def test_sound_plays_at_random_where_it_knows_no_rules_of_thumb() -> None:
    asked = {"observation": {"phase": "guess"}, "legal": [{"guess": number} for number in range(9)], "default": {}}

    guesses = [players()["sound"](Random(seed)).decide("some-other-game", asked)["guess"] for seed in range(40)]

    assert len(set(guesses)) > 3


def test_sound_bids_what_its_hand_should_take() -> None:
    state = catalogue()["pool-nap"].start(2)
    state.resolve(0)
    deck = ["Ts", "Js", "Qs", "2c", "4d", "7h", "Ks", "As", "9c", "3d"]
    state.resolve(deck + [card for card in (state.chance() or {})["cards"] if card not in deck])

    sound = players()["sound"](Random(1))

    assert sound.decide("pool-nap", question(state, 1)) == {"type": "bid", "tricks": 5}
