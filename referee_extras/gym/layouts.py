"""Define how the members of each game's observation are encoded. The rules pages explain the members.

Members that follow from others (``game``, ``players``, ``to_act``) and histories of variable length (Prince Albert's
``history``) are not encoded. The complete observation is always available in addition to the arrays.
"""

from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, Final

from referee.games import game
from referee.games.cards import DECK, UNKNOWN
from referee_extras.gym.table import LearningTable

SUITS: Final = ("c", "d", "h", "s")
FACES: Final = {*DECK, UNKNOWN, "X1", "X2", "X3", "X4"}
TOLD_ELSEWHERE: Final = {"seat", "players", "options"}
MOST_PROBED: Final = 300  # maximum number of decisions played at each table size


@dataclass(frozen=True, slots=True)
class Layout:
    """Describe how to encode an observation. Dotted names lead into objects, and ``[]`` into all entries of a list."""

    most_seats: int
    words: dict[str, tuple[str, ...]]  # values of each member, which is encoded one-hot
    numbers: tuple[str, ...]  # encoded unchanged, with 0 for None
    by_seat: tuple[str, ...]  # a number for each seat, beginning with the observing seat
    cards: tuple[str, ...]  # number of each card
    seats: tuple[str, ...] = ()  # a seat, encoded one-hot relative to the observing seat
    cards_by_seat: tuple[str, ...] = ()  # number of each card for each seat, beginning with the observing seat


LAYOUTS: Final = {
    "pool-nap": Layout(
        most_seats=10,
        words={"phase": ("bid", "play", "over"), "trump": SUITS},
        numbers=("round", "round_limit", "pot", "bid"),
        by_seat=("chips", "hand_sizes", "tricks_won"),
        seats=("dealer", "bidder"),
        cards=("hand", "trick[].card", "tricks[].cards[].card"),
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
    ),
    "prisoners": Layout(
        most_seats=10,
        words={"phase": ("name_suit", "bid", "over"), "suit": SUITS},
        numbers=("deal", "prisoners_left", "left_over", "joker_seen", "high.total"),
        by_seat=("hand_sizes", "scores"),
        seats=("dealer", "leader", "high.seat"),
        cards=("hand", "prisoner", "high.cards", "refuse", "turned[].prisoner"),
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
    ),
    "saint-poker": Layout(
        most_seats=5,
        words={"phase": ("river", "select", "pickup", "over")},
        numbers=("round", "stock_size", "lap"),
        by_seat=("scores", "hand_sizes"),
        cards=("hand", "river[].card", "future_river", "discards"),
        cards_by_seat=("known", "revealed"),
    ),
}


@cache
def layout(game_name: str) -> Layout:
    """Return the layout of a game from ``LAYOUTS``, or derive it from random matches if there is no entry."""
    return LAYOUTS.get(game_name) or _layout_from_play(game_name)


def _layout_from_play(game_name: str) -> Layout:
    rules, dice = game(game_name), Random(0)  # noqa: S311  # the same layout in every process
    kinds: dict[str, set[str]] = {}
    phases: dict[str, None] = {}
    for players in rules.seats:
        table = LearningTable(game_name, players, None, dice)
        for _ in range(MOST_PROBED):
            observation, legal = table.state.observation(table.to_act or 0), table.legal()
            phases[observation["phase"]] = None
            for name, value in observation.items():
                kinds.setdefault(name, set()).add(_kind(value, players))
            if not legal:
                break
            table.act(dice.randrange(len(legal)))

    def members(kind: str) -> tuple[str, ...]:
        return tuple(
            name for name, found in kinds.items() if found - {"nothing"} == {kind} and name not in TOLD_ELSEWHERE
        )

    return Layout(
        most_seats=rules.seats[-1],
        words={"phase": tuple(phases)},
        numbers=members("number"),
        by_seat=members("number by seat"),
        cards=members("cards"),
        cards_by_seat=members("cards by seat"),
    )


def _kind(value: Any, players: int) -> str:
    match value:
        case None | []:
            return "nothing"
        case int():
            return "number"
        case str():
            return "cards" if value in FACES else "word"
        case [*entries] if len(entries) == players and all(isinstance(entry, int) for entry in entries):
            return "number by seat"
        case [*entries] if len(entries) == players and all(isinstance(entry, list) for entry in entries):
            return "cards by seat"
        case [*entries] if all(isinstance(entry, str) and entry in FACES for entry in entries):
            return "cards"
    return "other"
