"""Deals of Rummy Royal for tests: hands in the notation of the page, and moves of seats in turn."""

from referee.games.cards import DECK
from referee.games.rummy_royal import BOARD, RummyRoyal
from referee.match.canonical import Json

Cards = str  # "2c Ah": as on the page

# The page's E5: seat 1 leads 9c, and the dealer, seat 0, plays all it has.
OUT_ON_ANOTHERS_LEAD = {0: "Tc Jc Qc Kc Ac", 1: "9c 2d 3d 4d 5d 6d"}

# The page's E7, with two seats: 2s and Qs are led.
NOBODY_OUT = {
    1: "2c 3c 4c 5c 6c 7c 8c 9c Tc 2s 3s 4s 5s 6s 7s 8s 9s Ts",
    0: "Jc Qc Kc Ac 5d 6d 7d 8d 9d Td Jd Qd Kd Ad Qs Ks As",
}


def begun(
    hands: dict[int, Cards] | None = None, extra: Cards = "", *, seats: int = 9, dealer: int = 0, **options: object
) -> RummyRoyal:
    """Return deal 1 before the dealer's choice, with these hands, filled up with unnamed cards."""
    state = RummyRoyal.start(seats, options)
    state.resolve(dealer)
    state.resolve(deck_for(state, hands or {}, extra))
    return state


def deck_for(state: RummyRoyal, hands: dict[int, Cards], extra: Cards = "") -> list[str]:
    """Return the deck that deals these cards one at a time from the dealer's left, the extra hand last in each lap."""
    order = state.seats_from((state.dealer or 0) + 1)
    places = [hands.get(seat, "").split() for seat in order] + [extra.split()]
    spare = [card for card in DECK if not any(card in place for place in places)]
    full = [
        place + [spare.pop(0) for _ in range(len(DECK[i :: len(places)]) - len(place))]
        for i, place in enumerate(places)
    ]
    return [full[i % len(places)][i // len(places)] for i in range(len(DECK))]


def choose(state: RummyRoyal, *choices: str) -> list[Json]:
    """Keep, sell, swap, pass or bid one more for the seats in turn. Return the events."""
    log: list[Json] = []
    for choice in choices:
        action = {"type": choice, "amount": state.amount + 1} if choice == "bid" else {"type": choice}
        log += state.apply(state.pending()[0], action)
    return log


def lead(state: RummyRoyal, cards: Cards) -> list[Json]:
    """Lead these cards for the seats in turn. Return the events."""
    return [
        event for card in cards.split() for event in state.apply(state.pending()[0], {"type": "lead", "card": card})
    ]


def leads(state: RummyRoyal) -> Cards:
    """Return what the asked seat may lead."""
    return " ".join(action["card"] for action in state.legal(state.pending()[0]))


def told(log: list[Json]) -> list[str]:
    """Return the play in short form: ``1 2c`` a lead or a forced card, ``1 seq 9`` a payment, ``stop red``,
    ``1 no red``, ``1 out``."""
    words = {
        "play": lambda row: f"{row['seat']} {row['card']}",
        "pay": lambda row: f"{row['seat']} {row['space']} {row['chips']}",
        "stop": lambda row: f"stop {row['colour']}",
        "no_colour": lambda row: f"{row['seat']} no {row['colour']}",
        "deal_end": lambda row: "nobody out" if row["winner"] is None else f"{row['winner']} out",
    }
    return [words[row["event"]](row) for row in log if row["event"] in words]


def board(each: int, **others: int) -> dict[str, int]:
    """Return the same number of chips on each space, except for the named ones."""
    return {space: others.get(space, each) for space in BOARD}
