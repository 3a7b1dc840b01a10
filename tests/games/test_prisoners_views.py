"""Prisoners: its legal lists, what is accepted, and what is logged."""

from itertools import combinations
from random import Random

import pytest

from referee.games.cards import ORDER
from referee.games.prisoners import bid_cards
from referee.games.prisoners_bids import total
from tests.games.playing import named
from tests.games.prisoners_table import HANDS, PASS, begun, say
from tests.match.playing import at_random, header, played

# -- lists and defaults --


@pytest.mark.parametrize("seed", range(8))
def test_a_list_holds_every_bid_there_is_in_the_order_of_the_page(seed: int) -> None:
    dice = Random(seed)
    state = begun({}, "Jh", players=8)
    state.hands[0] = sorted(dice.sample(bid_cards(2), 10), key=ORDER.__getitem__)
    state.suit, least = dice.choice("cdhs"), dice.choice([0, 4, 9])
    state.high = {"seat": 7, "cards": [], "total": least} if least else None

    found = {chosen for size in range(1, 11) for chosen in combinations(state.hands[0], size)}
    bids = [cards for cards in found if total(cards, state.suit) > least]
    bids.sort(key=lambda cards: (total(cards, state.suit or ""), len(cards), [ORDER[card] for card in cards]))

    assert state.legal(0) == [PASS, *({"type": "bid", "cards": [*cards]} for cards in bids)]


def test_cards_of_a_bid_may_stand_in_any_order() -> None:
    state = begun(HANDS, "Jh", players=3)

    assert say(state, "2s 2h 2c 2d")[0]["cards"] == ["2c", "2d", "2h", "2s"]


# -- the log --


def test_a_pass_of_the_referee_is_no_decision_and_looks_like_any_other() -> None:
    match = played(header("prisoners", 10), at_random(Random(5)))

    rows = [row for row in match.log.rows if row["type"] == "decision"]
    events = [event for row in rows for event in row["events"]]

    passes = named(events, "pass")
    assert len(passes) > sum(row["action"] == PASS for row in rows)
    assert {tuple(event) for event in passes} == {("event", "deal", "seat")}
    assert {row["source"] for row in rows} == {"bot"}
