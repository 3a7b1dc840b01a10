"""Play Pool Nap by heuristics: bid the expected tricks, lead from the top, beat the bidder cheaply."""

from typing import Any

from referee.games.cards import RANK, SUITS
from referee.house.strategies.heuristics import Json, Worth, WorthByPhase


def bid(seen: Json) -> Worth:
    takes = max(tricks_expected(seen, suit) for suit in SUITS)

    def worth(action: Json) -> Any:
        tricks = action.get("tricks", 0)
        return tricks if tricks <= takes else -tricks

    return worth


def tricks_expected(seen: Json, trump: str) -> float:
    """Return the expected number of tricks of this hand with this trump."""
    hand, others = seen["hand"], seats_in(seen) - 1
    dealt_elsewhere = 5 * others / (52 - len(hand))

    def chance(card: str) -> float:
        unseen_above = 14 - RANK[card] - sum(card[1] == own[1] and RANK[own] > RANK[card] for own in hand)
        unbeaten: float = (1 - dealt_elsewhere) ** unseen_above
        return unbeaten if card[1] == trump else unbeaten * SIDE_SUIT_HOLDS**others

    return sum(map(chance, hand))


def seats_in(seen: Json) -> int:
    return sum(out is None for out in seen["out_round"])


SIDE_SUIT_HOLDS = 0.83  # probability that one other hand does not trump a lead of a side suit


def play(seen: Json) -> Worth:
    return follow(seen) if seen["trick"] else lead(seen)


def lead(seen: Json) -> Worth:
    """Lead the best suit first, because it becomes trump; then lead from the top, trumps before the other suits."""
    suit = seen["trump"] or max(SUITS, key=lambda suit: tricks_expected(seen, suit))
    ahead = 4 if seen["trump"] else 20

    def worth(action: Json) -> Any:
        card = action["card"]
        return RANK[card] + (ahead if card[1] == suit else 0)

    return worth


def follow(seen: Json) -> Worth:
    """Win every trick as the bidder, or else those that the bidder would win. Throw low cards on other tricks."""
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


WORTH: WorthByPhase = {"bid": bid, "play": play}

# -- the novice: expects every court card to win a trick, saves high cards when it leads, spends them when it follows --


def count_court_cards(seen: Json) -> Worth:
    high = sum(RANK[card] >= RANK["Jc"] for card in seen["hand"])
    return lambda action: action["tricks"] if action.get("tricks", 9) <= high else 0


def save_then_spend(seen: Json) -> Worth:
    sign = 1 if seen["trick"] else -1
    return lambda action: sign * RANK[action["card"]]


NOVICE: WorthByPhase = {"bid": count_court_cards, "play": save_then_spend}
