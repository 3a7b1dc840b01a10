"""House players: always legal, and decided by the question and the dice alone."""

from random import Random

import pytest

from referee.games import catalogue
from referee.games.state import Seat, State
from referee.house.players import LEVELS, SearchPlayer, find_player
from referee.house.strategies.pool_nap import lead
from referee.match.canonical import Json, dumps
from tests.games import prince_albert, prisoners_table
from tests.games.playing import positions
from tests.games.rummy_royal import begun, choose

TABLES = [(name, game.seats[place]) for name, game in catalogue().items() for place in (0, -1)]


def question(state: State, seat: Seat) -> Json:
    """Return the question to a seat, without the members that house players do not read."""
    return {
        "observation": state.observation(seat),
        "legal_actions": state.legal(seat),
        "default_action": state.default(seat),
    }


@pytest.mark.parametrize("player", [player.key for player in LEVELS])
def test_answers_are_legal_repeatable_and_leave_the_question_alone(player: str) -> None:
    dice = Random(player)
    drawn = ((game, state) for game, seats in TABLES for state in positions(catalogue()[game].start(seats), dice))
    for game, state in drawn:
        if dice.random() < (0.997 if player == SearchPlayer.key else 0.9):  # a search takes long
            continue
        for seat in state.pending():
            asked = question(state, seat)
            before, seed = dumps(asked), dice.random()

            answers = [find_player(player)(Random(seed)).decide(game, asked) for _ in range(2)]

            assert answers[0] == answers[1]
            assert answers[0] in asked["legal_actions"]
            assert dumps(asked) == before


def test_first_plays_what_an_absent_seat_would() -> None:
    state = catalogue()["saint-poker"].start(2)
    state.resolve((state.chance() or {})["cards"])

    assert find_player("first")(Random(1)).decide("saint-poker", question(state, 1)) == state.default(1)


def test_sound_plays_at_random_where_it_knows_no_rules_of_thumb() -> None:
    asked = {
        "observation": {"phase": "guess"},
        "legal_actions": [{"guess": number} for number in range(9)],
        "default_action": {},
    }

    guesses = [find_player("sound")(Random(seed)).decide("some-other-game", asked)["guess"] for seed in range(40)]

    assert len(set(guesses)) > 3


def test_sound_bids_what_its_hand_should_take() -> None:
    state = catalogue()["pool-nap"].start(2)
    state.resolve(0)
    deck = ["Ts", "Js", "Qs", "2c", "4d", "7h", "Ks", "As", "9c", "3d"]
    state.resolve(deck + [card for card in (state.chance() or {})["cards"] if card not in deck])

    sound = find_player("sound")(Random(1))

    assert sound.decide("pool-nap", question(state, 1)) == {"type": "bid", "tricks": 5}


def test_sound_leads_trumps_before_cards_of_other_suits_that_are_at_most_three_ranks_higher() -> None:
    worth = lead({"trump": "h"})

    assert [worth({"card": card}) for card in ("9h", "Kd", "Th", "Ad", "Jh")] == [13, 13, 14, 14, 15]


@pytest.mark.parametrize(
    ("hand", "choice"), [("2c 4d 6s 8c 9d", "swap"), ("Th Qh Kh 2c 4d", "sell")], ids=["poor", "rich"]
)
def test_sound_gives_up_a_hand_that_the_board_pays_nothing_for(hand: str, choice: str) -> None:
    state = begun({0: hand, 1: "Jh"}, "Ah", seats=4)

    sound = find_player("sound")(Random(1))

    assert sound.decide("rummy-royal", question(state, 0)) == {"type": choice}


def test_sound_leads_what_it_can_follow_itself() -> None:
    state = begun({1: "4c 5c 6c 7c 2d 4d Jd 9h 3s 5s Ks"}, seats=4)
    choose(state, "keep")

    sound = find_player("sound")(Random(1))

    assert sound.decide("rummy-royal", question(state, 1)) == {"type": "lead", "card": "4c"}


@pytest.mark.parametrize(("prisoner", "total"), [("Jh", 0), ("Kh", 9)])
def test_sound_lets_a_cheap_prisoner_go_and_pays_for_a_dear_one(prisoner: str, total: int) -> None:
    state = prisoners_table.begun({0: "2c 3d 4s 6c 7d 8s Tc 5h 9h Th"}, prisoner)

    answer = find_player("sound")(Random(1)).decide("prisoners", question(state, 0))

    assert state.apply(0, answer)[0].get("total", 0) == total


def test_sound_names_a_suit_that_lets_its_aces_take_the_joker() -> None:
    state = prisoners_table.begun({0: "Ad Ah As", 1: "Ac"}, "X1")

    named = find_player("sound")(Random(1)).decide("prisoners", question(state, 0))

    assert named["suit"] in ("d", "h", "s")


@pytest.mark.parametrize(
    ("hand", "answer"),
    [("Qc Qd Qs 4c 7d", {"type": "bid", "cards": 0}), ("2c 4d 5h 7s 8c", {"type": "pass"})],
    ids=["three queens", "nothing"],
)
def test_sound_bids_zero_with_a_good_hand_and_passes_with_a_poor_one(hand: str, answer: Json) -> None:
    state = prince_albert.begun([hand, "Kd Kc 9d 6c 3h", "Ac Jd 9s 6h 3c"])

    assert find_player("sound")(Random(1)).decide("prince-albert", question(state, 0)) == answer


def test_sound_takes_the_card_that_betters_its_hand_off_a_pile() -> None:
    state = prince_albert.begun(["Kd Kc 9d 6c 3h", "Ac Jd 9s 6h 3c", "2c 4d 5h 7s Ks"])
    prince_albert.play(state, "0:p 1:b4 2:p 1:p 2:xKs")

    taken = find_player("sound")(Random(1)).decide("prince-albert", question(state, 0))

    assert taken == {"type": "exchange", "discard": "3h", "from": 2}


@pytest.mark.parametrize(("rank_by", "wager"), [("points", "call"), ("chips", "fold")])
def test_sound_pays_for_a_poor_hand_only_where_chips_do_not_matter(rank_by: str, wager: str) -> None:
    state = prince_albert.begun(["Kd Kc 9d 6c 3h", "2c 4d 5h 7s 8c", "Ac Jd 9s 6h 3c"], cash=True, rank_by=rank_by)
    prince_albert.play(state, "0:b")

    assert find_player("sound")(Random(1)).decide("prince-albert", question(state, 1)) == {"type": wager}
