"""House players that decide in this process: ``random``, ``first``, ``sound``. Serving them over HTTP is not done here.

A decision follows from the question and the dice handed in alone; players keep nothing between two questions.
"""

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from random import Random
from typing import Any, ClassVar

from referee.cards import RANK, SUITS
from referee.poker import rank

Json = dict[str, Any]


class Player:
    """Answers questions as a bot would; ``question`` holds ``observation``, ``legal`` and ``default``."""

    name: ClassVar[str]

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def decide(self, game: str, question: Json) -> Json:
        """One of the legal actions."""
        raise NotImplementedError


class RandomPlayer(Player):
    """Any legal action, each as likely as the other."""

    name = "random"

    def decide(self, game: str, question: Json) -> Json:
        action: Json = self.rng.choice(question["legal"])
        return action


class FirstPlayer(Player):
    """Always what would be played for an absent seat."""

    name = "first"

    def decide(self, game: str, question: Json) -> Json:
        default: Json = question["default"]
        return default


class SoundPlayer(Player):
    """Plays each game by a few rules of thumb, and at random where it knows none."""

    name = "sound"

    def decide(self, game: str, question: Json) -> Json:
        legal: list[Json] = question["legal"]
        worth = _WORTH.get((game, question["observation"]["phase"]))
        if worth is None:
            action: Json = self.rng.choice(legal)
            return action
        return max(legal, key=worth(question["observation"]))


def players() -> dict[str, type[Player]]:
    """All house players by name."""
    return {player.name: player for player in (RandomPlayer, FirstPlayer, SoundPlayer)}


# How much an action is worth in a position: one function of the observation for each phase of each game.
Worth = Callable[[Json], Any]

# -- pool nap: bid what the hand should take, lead from the top, beat the bidder as cheaply as possible --


def pool_nap_bid(seen: Json) -> Worth:
    takes = max(tricks_expected(seen, suit) for suit in SUITS)

    def worth(action: Json) -> Any:
        tricks = action.get("tricks", 0)
        return tricks if tricks <= takes else -tricks

    return worth


def tricks_expected(seen: Json, trump: str) -> float:
    """Tricks that this hand may hope for with this trump."""
    hand, others = seen["hand"], seats_in(seen) - 1
    dealt_elsewhere = 5 * others / (52 - len(hand))

    def chance(card: str) -> float:
        unseen_above = 14 - RANK[card] - sum(card[1] == own[1] and RANK[own] > RANK[card] for own in hand)
        unbeaten: float = (1 - dealt_elsewhere) ** unseen_above
        return unbeaten if card[1] == trump else unbeaten * SIDE_SUIT_HOLDS**others

    return sum(map(chance, hand))


def seats_in(seen: Json) -> int:
    return sum(out is None for out in seen["out_round"])


SIDE_SUIT_HOLDS = 0.83  # chance that one other hand does not trump a lead of another suit


def pool_nap_play(seen: Json) -> Worth:
    return pool_nap_follow(seen) if seen["trick"] else pool_nap_lead(seen)


def pool_nap_lead(seen: Json) -> Worth:
    """The first lead names the trump: the best suit. Then from the top, trumps before the others."""
    suit = seen["trump"] or max(SUITS, key=lambda suit: tricks_expected(seen, suit))
    ahead = 4 if seen["trump"] else 20

    def worth(action: Json) -> Any:
        card = action["card"]
        return RANK[card] + (ahead if card[1] == suit else 0)

    return worth


def pool_nap_follow(seen: Json) -> Worth:
    """The bidder wins what it can, the others win what the bidder would; the rest is thrown low."""
    trump, trick, bidder = seen["trump"], seen["trick"], seen["bidder"]
    led = trick[0]["card"][1]

    def power(card: str) -> int:
        return RANK[card] + (20 if card[1] == trump else 0 if card[1] == led else -20)

    best = max(trick, key=lambda laid: power(laid["card"]))
    bidder_to_come = seen["seat"] != bidder and all(laid["seat"] != bidder for laid in trick)
    worth_winning = bidder in (seen["seat"], best["seat"]) or bidder_to_come
    last = len(trick) + 1 == seats_in(seen)

    def worth(action: Json) -> Any:
        own = power(action["card"])
        if worth_winning and own > power(best["card"]):
            return (1, -own if last else own)
        return (0, -RANK[action["card"]] - (20 if action["card"][1] == trump else 0))

    return worth


# -- saint poker: a point or two is given away for better cards, then the best hand in sight --

SAVING_ROUNDS = 3  # the points grow with the rounds, and who loses takes first


def saint_poker_river(seen: Json) -> Worth:
    hand, river = seen["hand"], [entry["card"] for entry in seen["river"]]

    def worth(action: Json) -> Any:
        card = action["card"]
        rest = [own for own in hand if own != card]
        if seen["round"] <= SAVING_ROUNDS:
            return (-RANK[card],)
        return (max(rank([*river, card, *pair]) for pair in combinations(rest, 2)), -RANK[card])

    return worth


def saint_poker_select(seen: Json) -> Worth:
    river = [entry["card"] for entry in seen["river"]]

    def worth(action: Json) -> Any:
        cards = action["cards"]
        if seen["round"] <= SAVING_ROUNDS:
            return (-sum(RANK[card] for card in cards),)
        return (rank([*river, *cards]), -sum(RANK[card] for card in cards))

    return worth


def saint_poker_pickup(seen: Json) -> Worth:
    kept = seen["hand"] + seen["future_river"]
    of_rank, of_suit = Counter(card[0] for card in kept), Counter(card[1] for card in kept)

    def worth(action: Json) -> Any:
        card = action["card"]
        return RANK[card] + PARTNER * of_rank[card[0]] + NEIGHBOUR * of_suit[card[1]]

    return worth


PARTNER, NEIGHBOUR = 6, 1  # what a card of the same rank, of the same suit adds to a card's own rank

_WORTH: dict[tuple[str, str], Callable[[Json], Worth]] = {
    ("pool-nap", "bid"): pool_nap_bid,
    ("pool-nap", "play"): pool_nap_play,
    ("saint-poker", "river"): saint_poker_river,
    ("saint-poker", "select"): saint_poker_select,
    ("saint-poker", "pickup"): saint_poker_pickup,
}
