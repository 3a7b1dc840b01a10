"""What of each game's observation becomes numbers, and how. What the members mean stands on the rules pages.

Left out is what other members tell as well (``game``, ``players``, ``to_act``) and what needs a memory of its own
(Prince Albert's ``history``): the observation itself is always to be had beside the numbers.
"""

from dataclasses import dataclass
from typing import Final

SUITS: Final = ("c", "d", "h", "s")


@dataclass(frozen=True, slots=True)
class Layout:
    """How the members of an observation are read. Dotted names lead into objects, ``[]`` over the entries of a list."""

    most_seats: int
    words: dict[str, tuple[str, ...]]  # one place for each word
    numbers: tuple[str, ...]  # as they are; None is 0
    by_seat: tuple[str, ...]  # a number for each seat, from one's own on
    seats: tuple[str, ...]  # a seat, one place for each, from one's own on
    cards: tuple[str, ...]  # how many of each card
    cards_by_seat: tuple[str, ...]  # the same for each seat, from one's own on
    action_words: tuple[str, ...]
    action_numbers: tuple[str, ...]


LAYOUTS: Final = {
    "pool-nap": Layout(
        most_seats=10,
        words={"phase": ("bid", "play", "over"), "trump": SUITS},
        numbers=("round", "round_limit", "pot", "bid"),
        by_seat=("chips", "hand_sizes", "tricks_won"),
        seats=("dealer", "bidder"),
        cards=("hand", "trick[].card", "tricks[].cards[].card"),
        cards_by_seat=(),
        action_words=("pass", "bid", "play"),
        action_numbers=("tricks",),
    ),
    "prince-albert": Layout(
        most_seats=5,
        words={"phase": (*("vote", "throw", "bet1", "bidding", "bet2", "drawing", "all_in", "bet3", "show", "over"),)},
        numbers=("round", "deck", "bid", "pot", "to_call", "raises"),
        by_seat=(
            *("scores", "chips", "bids", "bid_out", "drawn", "draw_out", "all_in", "shown", "folded", "paid", "put"),
            "piles[].cards",
        ),
        seats=("opener",),
        cards=("piles[].top",),
        cards_by_seat=("hands",),
        action_words=(
            *("pass", "bid", "exchange", "all_in", "stay", "show", "hide", "check", "call", "bet", "raise", "fold"),
            *("vote", "throw"),
        ),
        action_numbers=("cards", "from"),
    ),
    "prisoners": Layout(
        most_seats=10,
        words={"phase": ("name_suit", "bid", "over"), "suit": SUITS},
        numbers=("deal", "prisoners_left", "left_over", "joker_seen", "high.total"),
        by_seat=("hand_sizes", "scores"),
        seats=("dealer", "leader", "high.seat"),
        cards=("hand", "prisoner", "high.cards", "refuse", "turned[].prisoner"),
        cards_by_seat=(),
        action_words=("pass", "bid", "name_suit", *SUITS),
        action_numbers=(),
    ),
    "rummy-royal": Layout(
        most_seats=9,
        words={
            "phase": ("dealer", "auction", "lead", "over"),
            "extra.fate": ("undecided", "aside", "swapped", "auction", "sold", "unsold"),
            "colour": ("any", "black", "red"),
        },
        numbers=(
            *("deal", "dead_size", "extra.price", "auction.amount"),
            *(f"board.{space}" for space in ("Ah", "Kh", "Qh", "Jh", "Th", "QK", "seq", "kitty", "pot")),
        ),
        by_seat=("hand_sizes", "stacks"),
        seats=("dealer", "extra.seat", "auction.seat"),
        cards=("hand", "discarded", "played[].card"),
        cards_by_seat=(),
        action_words=("keep", "sell", "swap", "pass", "bid", "lead"),
        action_numbers=("amount",),
    ),
    "saint-poker": Layout(
        most_seats=5,
        words={"phase": ("river", "select", "pickup", "over")},
        numbers=("round", "stock_size", "lap"),
        by_seat=("scores", "hand_sizes"),
        seats=(),
        cards=("hand", "river[].card", "future_river", "discards"),
        cards_by_seat=("known", "revealed"),
        action_words=("river", "select", "take"),
        action_numbers=(),
    ),
}
