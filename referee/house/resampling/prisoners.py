"""Draw positions of Prisoners: other hands and the pile from the unseen cards, without aces that had to be played."""

from collections import Counter
from collections.abc import Sequence
from random import Random

from referee.games.cards import in_order
from referee.games.prisoners import JOKER, Prisoners, aces_to_play, bid_cards, prisoners
from referee.games.state import Json
from referee.house.resampling.dealing import deal


def resample(seen: Json, chance: Random) -> Prisoners:
    """Return a random position in which the asked seat sees this observation."""
    own, decks = seen["seat"], seen["options"]["decks"]
    sizes = [0 if seat == own else size for seat, size in enumerate(seen["hand_sizes"])]
    unseen = _remove_known(bid_cards(decks), [*seen["hand"], *seen["refuse"]])
    suit = _suit_of_the_first_joker(seen)
    while True:  # few deals leave a hand with three aces
        *hands, left_over = deal(unseen, [*sizes, seen["left_over"]], chance)
        if suit is None or not any(aces_to_play(hand, suit) for hand in hands):
            break
    hands[own] = seen["hand"]
    pile = _remove_known(prisoners(decks), [*(entry["prisoner"] for entry in seen["turned"]), seen["prisoner"]])
    chance.shuffle(pile)
    lists: Json = {name: [*seen[name]] for name in ("refuse", "claims", "turned", "bids")}
    state = Prisoners(
        seen["players"],
        seen["options"],
        phase=seen["phase"],
        points=[*seen["scores"]],
        hands=[in_order(hand) for hand in hands],
        left_over=left_over,
        pile=pile,
        **{name: seen[name] for name in ("deal", "dealer", "leader", "joker_seen", "prisoner", "suit", "high")},
        **lists,
    )
    state.queue = [own] if seen["phase"] == "name_suit" else _still_bidding(state, own)
    return state


def _remove_known(cards: list[str], known: Sequence[str]) -> list[str]:
    """Return the cards that are left without the known ones; with two decks, each is removed as often as it occurs."""
    return [*(Counter(cards) - Counter(known)).elements()]


def _suit_of_the_first_joker(seen: Json) -> str | None:
    """Return the suit of the first joker of the deal if it has one yet: since then, no hand has aces for a joker."""
    settled = ((entry["prisoner"], entry["suit"]) for entry in seen["turned"])
    jokers = [suit for prisoner, suit in (*settled, (seen["prisoner"], seen["suit"])) if prisoner[0] == JOKER]
    return jokers[0] if jokers else None


def _still_bidding(state: Prisoners, own: int) -> list[int]:
    """Return the seats that may still bid, the asked one first. A bid ends a seat's turn only if each speaks once."""
    single = state.options["bidding"] == "single"
    done = {said["seat"] for said in state.bids if single or not said["cards"]}
    return [seat for seat in state.lap_from(own) if seat not in done]
