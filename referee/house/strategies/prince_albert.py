"""Play Prince Albert by heuristics: bid low with a good hand as dealt, draw to improve it, claim when ahead.

Most heuristics use ``chance_to_win``, the probability that no other hand is better.
"""

from collections.abc import Callable
from functools import partial
from itertools import accumulate
from typing import Any

from referee.games.cards import DECK, RANK, UNKNOWN
from referee.games.poker import Rank, rank
from referee.house.strategies.heuristics import Json, Worth, WorthByPhase

# Share of dealt hands in each category, from high card to straight flush, and in all worse categories together.
SHARE = (0.5012, 0.4226, 0.0475, 0.0211, 0.0039, 0.0020, 0.0014, 0.0002, 0.0001)
WORSE = (0.0, *accumulate(SHARE))
HELP_OF_A_DRAW = 0.25  # added strength of the other hands for each card that they draw
FORGOTTEN_AFTER = 6  # number of draws after which the dealt hand hardly matters
CONFIDENT = 0.6


def strength(hand: Rank) -> float:
    """Estimate the share of dealt hands that this one beats, from its category and its first two ranks."""
    category, first, second = (*hand, 2)[:3]
    within = ((first - 2) + (second - 2) / 13) / 13
    return WORSE[category] + SHARE[category] * within


def chance_to_win(seen: Json, draws: float) -> float:
    """Estimate the probability that the current hand beats all others if each of them draws ``draws`` cards."""
    own = strength(rank(seen["hands"][seen["seat"]]))
    rivals = seen["players"] - sum(seen["folded"]) - 1
    return float(own ** (rivals * (1 + HELP_OF_A_DRAW * draws)))


# -- bidding --


def bid(seen: Json) -> Worth:
    """Prefer the bid with the highest expected gain: low bids pay more for a good hand, high bids save a bad one."""
    even = 1 / (seen["players"] - sum(seen["folded"]))

    def worth(action: Json) -> Any:
        if action["type"] == "pass":
            return even
        cards = action["cards"]
        # The more cards everybody draws, the less the dealt hand matters.
        kept = max(0, 1 - cards / FORGOTTEN_AFTER)
        wins = kept * chance_to_win(seen, 1 if cards == 0 else 0) + (1 - kept) * even
        return max(1, 8 - cards) * (2 * wins - 1)

    return worth


# -- drawing --


def draw(seen: Json, step: int = 1) -> Worth:
    """Prefer the exchange with the best expected hand, unless keeping the hand is better.

    Expect a card of the deck to be one of every ``step``-th unseen card.
    """
    hand, known = seen["hands"][seen["seat"]], cards_seen(seen)
    unseen = [card for card in DECK if card not in known][::step]
    average: dict[str, float] = {}

    def worth(action: Json) -> Any:
        if action["type"] == "pass":
            return strength(rank(hand))
        discard, source = action["discard"], action["from"]
        kept = [card for card in hand if card != discard]
        if source != "deck":
            return strength(rank([*kept, seen["piles"][source]["top"]]))
        if discard not in average:
            average[discard] = sum(strength(rank([*kept, card])) for card in unseen) / len(unseen)
        return average[discard]

    return worth


def cards_seen(seen: Json) -> set[str]:
    """Return the cards that cannot be drawn from the deck: visible now, or seen earlier in this round."""
    cards = {card for hand in seen["hands"] for card in hand}
    cards |= {event[key] for event in seen["history"] if event["event"] == "exchange" for key in ("discard", "drawn")}
    return cards - {UNKNOWN}


# -- claiming --


def all_in(seen: Json) -> Worth:
    ahead = chance_to_win(seen, seen["bid"]) > CONFIDENT
    return lambda action: (action["type"] == "all_in") == ahead


def show(seen: Json) -> Worth:
    """Show an unbeaten hand, because this costs nothing and a hidden hand wins nothing."""
    shown = [rank(hand) for hand, shown in zip(seen["hands"], seen["shown"], strict=True) if shown]
    unbeaten = rank(seen["hands"][seen["seat"]]) >= max(shown, default=[])
    return lambda action: (action["type"] == "show") == unbeaten


# -- betting --


def bet(seen: Json) -> Worth:
    """Bet when ahead, call when the pot odds justify it. Never fold if points, not chips, rank the seats."""
    to_come = {"bet1": 2, "bet2": seen["bid"] or 0, "bet3": 0}[seen["phase"]]
    wins = chance_to_win(seen, to_come)
    price = seen["to_call"] / (seen["pot"] + seen["to_call"]) if seen["to_call"] else 0
    stays = seen["options"]["rank_by"] == "points" or wins >= price
    order = ["bet", "raise"] if wins > CONFIDENT else []
    order += ["check", "call", "fold"] if stays else ["check", "fold", "call"]
    return lambda action: -order.index(action["type"]) if action["type"] in order else -len(order)


WORTH: WorthByPhase = {
    "bidding": bid,
    "drawing": draw,
    "all_in": all_in,
    "show": show,
    **dict.fromkeys(("bet1", "bet2", "bet3"), bet),
}
# -- the novice: bids on pairs, draws for its lowest card, and always shows, calls and stays --


def bid_on_pair(seen: Json) -> Worth:
    pair = rank(seen["hands"][seen["seat"]])[0] > 0
    return lambda action: action["cards"] == MODEST_BID if action["type"] == "bid" else 0.5 - pair


def replace_lowest_card(seen: Json) -> Worth:
    hand = seen["hands"][seen["seat"]]
    ranks = [card[0] for card in hand]
    single = [card for card in hand if ranks.count(card[0]) == 1]

    def worth(action: Json) -> Any:
        if action["type"] == "pass":
            return 0
        return (
            (RANK["Ah"] - RANK[action["discard"]]) if action["discard"] in single and action["from"] == "deck" else -1
        )

    return worth


def prefer(*kinds: str) -> Callable[[Json], Worth]:
    return lambda _: lambda action: action["type"] in kinds


MODEST_BID = 4

NOVICE: WorthByPhase = {
    "bidding": bid_on_pair,
    "drawing": replace_lowest_card,
    "all_in": prefer("stay"),
    "show": prefer("show"),
    **dict.fromkeys(("bet1", "bet2", "bet3"), prefer("check", "call")),
}
QUICK: WorthByPhase = WORTH | {"drawing": partial(draw, step=7)}  # for search, which plays many rounds
