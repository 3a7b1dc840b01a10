"""Play Saint Poker by heuristics: give up some points in early rounds for better cards, then play the best hand."""

from collections import Counter
from itertools import combinations
from typing import Any

from referee.games.cards import RANK
from referee.games.poker import rank
from referee.house.strategies.heuristics import Json, Worth, WorthByPhase

SAVING_ROUNDS = 3  # in these, save good cards: later rounds are worth more points, and the loser takes cards first


def river(seen: Json) -> Worth:
    hand, river = seen["hand"], [entry["card"] for entry in seen["river"]]

    def worth(action: Json) -> Any:
        card = action["card"]
        rest = [own for own in hand if own != card]
        if seen["round"] <= SAVING_ROUNDS:
            return (-RANK[card],)
        return (max(rank([*river, card, *pair]) for pair in combinations(rest, 2)), -RANK[card])

    return worth


def select(seen: Json) -> Worth:
    river = [entry["card"] for entry in seen["river"]]

    def worth(action: Json) -> Any:
        cards = action["cards"]
        if seen["round"] <= SAVING_ROUNDS:
            return (-sum(RANK[card] for card in cards),)
        return (rank([*river, *cards]), -sum(RANK[card] for card in cards))

    return worth


def pickup(seen: Json) -> Worth:
    kept = seen["hand"] + seen["future_river"]
    of_rank, of_suit = Counter(card[0] for card in kept), Counter(card[1] for card in kept)

    def worth(action: Json) -> Any:
        card = action["card"]
        return RANK[card] + PARTNER * of_rank[card[0]] + NEIGHBOUR * of_suit[card[1]]

    return worth


PARTNER, NEIGHBOUR = 6, 1  # added to the rank of a card for each kept card of its rank or of its suit

WORTH: WorthByPhase = {"river": river, "select": select, "pickup": pickup}

# -- the novice: likes high cards, knows pairs, and overlooks straights and flushes --


def give_low_card(_: Json) -> Worth:
    return lambda action: -RANK[action["card"]]


def lay_pair(_: Json) -> Worth:
    def worth(action: Json) -> Any:
        one, other = action["cards"]
        return one[0] == other[0], RANK[one] + RANK[other]

    return worth


def take_high_card(_: Json) -> Worth:
    return lambda action: RANK[action["card"]]


NOVICE: WorthByPhase = {"river": give_low_card, "select": lay_pair, "pickup": take_high_card}
