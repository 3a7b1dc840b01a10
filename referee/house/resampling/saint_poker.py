"""Draw positions of Saint Poker: the stock and the cards that other seats were dealt, from the unseen cards."""

from random import Random

from referee.games.cards import DECK, in_order
from referee.games.saint_poker import SaintPoker
from referee.games.state import Json
from referee.house.resampling.dealing import deal


def resample(seen: Json, chance: Random) -> SaintPoker:
    """Return a random position in which the asked seat sees this observation."""
    own, river = seen["seat"], [entry["card"] for entry in seen["river"]]
    table = [*river, *(card for cards in seen["revealed"] for card in cards)]
    known = {
        *seen["hand"],
        *table,
        *seen["future_river"],
        *seen["discards"],
        *(c for own in seen["known"] for c in own),
    }
    unseen = [card for card in DECK if card not in known]
    hidden = [size - len(cards) for size, cards in zip(seen["hand_sizes"], seen["known"], strict=True)]
    hidden[own] = 0
    *hands, stock = deal(unseen, [*hidden, seen["stock_size"]], chance)
    hands = [in_order(hand + cards) for hand, cards in zip(hands, seen["known"], strict=True)]
    hands[own] = [*seen["hand"]]
    lists: Json = {name: [*seen[name]] for name in ("future_river", "river", "ranks", "pickup_order", "discards")}
    state = SaintPoker(
        seen["players"],
        seen["options"],
        phase=seen["phase"],
        points=[*seen["scores"]],
        hands=hands,
        known=[[*cards] for cards in seen["known"]],
        stock=stock,
        revealed=[[*cards] for cards in seen["revealed"]],
        round=seen["round"],
        lap=seen["lap"],
        **lists,
    )
    if seen["phase"] == "pickup":
        state.takeable = in_order(table)
        order = seen["pickup_order"] * 2
        state.queue = order[order.index(own, seen["players"] * (seen["lap"] - 1)) :]
    else:
        state.queue, state.together = [*range(seen["players"])], True
    return state
