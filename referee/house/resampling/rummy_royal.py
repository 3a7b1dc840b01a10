"""Draw positions of Rummy Royal: hidden hands and the dead hand, as far as leads, stops and passes allow."""

from itertools import pairwise
from random import Random

from referee.games.cards import DECK, ORDER, UNKNOWN, in_order
from referee.games.rummy_royal import NEXT, SUITS_DUE, RummyRoyal
from referee.games.state import Json
from referee.house.resampling.dealing import deal


def resample(seen: Json, chance: Random) -> RummyRoyal:
    """Return a random position in which the asked seat sees this observation."""
    seat, own, discarded = seen["seat"], seen["hand"], seen["discarded"] or []
    known = {*own, *discarded, *(laid["card"] for laid in seen["played"])}
    unseen = [card for card in DECK if card not in known]
    sizes = [*seen["hand_sizes"], seen["dead_size"]]
    sizes[seat] = sizes[seat] if UNKNOWN in own else 0
    sizes[-1] = 0 if discarded and UNKNOWN not in discarded else sizes[-1]
    *hands, dead = deal(unseen, sizes, chance, _impossible_cards(seen))
    hands[seat], dead = hands[seat] or own, dead or discarded
    state = RummyRoyal(
        seen["players"],
        seen["options"],
        phase=seen["phase"],
        queue=[seat],
        stacks=[*seen["stacks"]],
        board={**seen["board"]},
        deal=seen["deal"],
        dealer=seen["dealer"],
        hands=[in_order(hand) for hand in hands],
        dead=in_order(dead),
        fate=seen["extra"]["fate"],
        taker=seen["extra"]["seat"],
        amount=seen["auction"]["amount"],
        bidder=seen["auction"]["seat"],
        passed=[*seen["auction"]["passed"]],
        colour=seen["colour"],
        played=[*seen["played"]],
        no_colour=[*seen["no_colour"]],
    )
    if seen["phase"] == "lead":
        state.index_hands()
        state.leads = state.find_leads(seat)
    return state


def _impossible_cards(seen: Json) -> list[set[str]]:
    """Return, by seat, the cards that its hand cannot contain.

    1. A seat leads the lowest card of a suit. 2. The card that did not follow before a stop is in no hand. 3. A seat
    that passed the lead on had no card of the colour due.
    """
    never: list[set[str]] = [set() for _ in range(seen["players"])]
    stopped: set[str] = set()
    for before, laid in pairwise([None, *seen["played"], None]):
        follower = NEXT[before["card"]] if before else None
        if laid and laid["card"] != follower:
            card = laid["card"]
            never[laid["seat"]] |= {low for low in DECK if low[1] == card[1] and ORDER[low] < ORDER[card]}
        if follower and (laid is None or laid["card"] != follower):
            stopped.add(follower)
    for entry in seen["no_colour"]:
        never[entry["seat"]] |= {card for card in DECK if card[1] in SUITS_DUE[entry["colour"]]}
    return [own | stopped for own in never]
