"""Play Prisoners by heuristics: give every card a price, and bid if the expected gain exceeds the price."""

from collections.abc import Iterable
from typing import Any

from referee.games.prisoners import JOKER, POINTS
from referee.games.prisoners_bids import ACE, FACE_VALUE, claims_earned, total
from referee.house.strategies.heuristics import Json, Worth, WorthByPhase


def name_suit(seen: Json) -> Worth:
    """Prefer a suit in which three aces take this joker, or else the strongest suit."""
    aces = sorted({card for card in seen["hand"] if card[0] == ACE})

    def worth(action: Json) -> Any:
        suit = action["suit"]
        return claims_earned(aces, suit), pips(card for card in seen["hand"] if card[1] == suit)

    return worth


def bid(seen: Json) -> Worth:
    """Prefer the bid with the most expected points minus the price of its cards. A pass is worth zero."""
    suit, rivals = seen["suit"], rivals_left(seen)
    prize = POINTS[seen["prisoner"][0]]

    def worth(action: Json) -> Any:
        cards = action.get("cards", [])
        holds = chance_to_hold(total(cards, suit), rivals)
        jokers = 0 if seen["joker_seen"] else claims_earned(cards, suit)
        return prize * holds + POINTS[JOKER] * jokers - PRICE * pips(cards)

    return worth


def pips(cards: Iterable[str]) -> int:
    return sum(FACE_VALUE[card[0]] for card in cards)


def rivals_left(seen: Json) -> int:
    """Return the number of seats with cards that may still bid after this one."""
    single = seen["options"]["bidding"] == "single"
    done = {said["seat"] for said in seen["bids"] if single or not said["cards"]}
    others = [seat for seat in range(seen["players"]) if seat != seen["seat"]]
    return sum(seen["hand_sizes"][seat] > 0 and seat not in done for seat in others)


def chance_to_hold(counted: int, rivals: int) -> float:
    """Estimate the probability that none of ``rivals`` seats bids higher."""
    return float(counted / (counted + EVEN)) ** rivals if counted else 0.0


PRICE = 6  # points that the cards can win elsewhere, per pip
EVEN = 3  # total that a rival overbids with probability 1/2

WORTH: WorthByPhase = {"name_suit": name_suit, "bid": bid}

# -- the novice: outbids others for kings, queens and jokers as cheaply as possible, whatever is left for later --


def outbid(seen: Json) -> Worth:
    wanted = POINTS[seen["prisoner"][0]] >= POINTS["Q"]

    def worth(action: Json) -> Any:
        return -total(action["cards"], seen["suit"]) if wanted and action["type"] == "bid" else -MOST_PAID

    return worth


MOST_PAID = 14  # total of a bid; the novice passes rather than bid more

NOVICE: WorthByPhase = {"bid": outbid}
