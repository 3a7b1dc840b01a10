"""Play Rummy Royal by heuristics: swap or bid if an unknown hand is worth more; lead suits that the hand can follow."""

from referee.games.cards import RANK, RANKS, SUITS
from referee.house.strategies.heuristics import Json, Worth, WorthByPhase

PAY_CARDS = ("Th", "Jh", "Qh", "Kh", "Ah")
UNSEEN_HAND_PAYS = 0.8  # share of the chips on its pay cards, since some are never played
SHED = 1.0  # worth of playing a card, which wins a chip and brings the kitty nearer
LOW = 0.3  # added for each rank below the ace, since low cards are harder to play later
NEXT_LEAD = 1.5  # worth of also having the next lead


def dealer(seen: Json) -> Worth:
    """Prefer an auction to keeping the hand, since it costs nothing. Swap if an unseen hand is worth more chips."""
    poor = hand_pays(seen) < unseen_hand_pays(seen)
    worth = {"keep": 0, "sell": 1, "swap": 2 if poor and "??" not in seen["hand"] else -1}
    return lambda action: worth[action["type"]]


def auction(seen: Json) -> Worth:
    """Bid one chip more as long as the unseen hand minus its price is expected to pay more than this seat's hand."""
    gain = unseen_hand_pays(seen) - hand_pays(seen)
    return lambda action: gain - action["amount"] if action["type"] == "bid" else 0


def hand_pays(seen: Json) -> float:
    """Return the number of chips on the spaces that the hand of this seat can win."""
    hand, board = seen["hand"], seen["board"]
    pays: int = sum(board[card] for card in PAY_CARDS if card in hand)
    pays += board["QK"] if "Qh" in hand and "Kh" in hand else 0
    ranks = seen["options"]["sequence"]
    return pays + (board["seq"] if any(all(rank + suit in hand for rank in ranks) for suit in SUITS) else 0)


def unseen_hand_pays(seen: Json) -> float:
    """Return the expected number of chips for the pay cards in the extra hand, which may contain any unseen card."""
    missing: int = sum(seen["board"][card] for card in PAY_CARDS if card not in seen["hand"])
    return UNSEEN_HAND_PAYS * missing * int(seen["dead_size"]) / (52 - len(seen["hand"]))


def lead(seen: Json) -> Worth:
    """Rate each lead by the chips that its sequence of higher cards brings to this seat or costs it."""
    hand, played = seen["hand"], {laid["card"] for laid in seen["played"]}
    dead = dead_for_sure(seen, played)
    unseen, unseen_dead = 52 - len(hand) - len(played) - len(dead), seen["dead_size"] - len(dead)
    goes_on = 1 - unseen_dead / unseen if unseen else 0.0  # probability that another seat has an unseen card

    def worth(action: Json) -> float:
        reached, total, mine = 1.0, 0.0, True
        for card in higher_cards(action["card"]):
            if card in played or card in dead:
                break
            mine_next = card in hand
            if not mine_next:
                total += reached * (1 - goes_on) * mine * NEXT_LEAD
                reached *= goes_on
            sign = 1 if mine_next else -1 / (seen["players"] - 1)
            total += reached * sign * (SHED + seen["board"].get(card, 0))
            mine = mine_next
        return total + reached * mine * NEXT_LEAD + LOW * (RANK["Ah"] - RANK[action["card"]])

    return worth


def dead_for_sure(seen: Json, played: set[str]) -> set[str]:
    """Return the cards that no seat can have: the hand that this seat gave up, and cards that did not follow a lead."""
    given_up = {*(seen["discarded"] or [])} - {"??"}
    followers = {card for lower in played for card in higher_cards(lower)[1:2]}
    return given_up | followers - played


def higher_cards(card: str) -> list[str]:
    """Return the card and all higher cards of its suit, in ascending order."""
    return [rank + card[1] for rank in RANKS[RANKS.index(card[0]) :]]


WORTH: WorthByPhase = {"dealer": dealer, "auction": auction, "lead": lead}

# -- the novice: sells the extra hand, buys none, and leads its lowest card --

NOVICE: WorthByPhase = {
    "dealer": lambda _: lambda action: action["type"] == "sell",
    "auction": lambda _: lambda action: action["type"] == "pass",
    "lead": lambda _: lambda action: -RANK[action["card"]],
}
