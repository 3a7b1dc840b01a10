"""Facts that a position of the viewer must show, read from the engine's state and from the drawn position."""

from collections.abc import Callable
from typing import Any

from referee.games.pool_nap import PoolNap
from referee.games.prince_albert import PrinceAlbert
from referee.games.prisoners import Prisoners
from referee.games.rummy_royal import RummyRoyal
from referee.games.saint_poker import SaintPoker
from referee.match.canonical import Json

PHASES = {  # labels of the viewer for the phases of the rules page, where they differ
    "pool-nap": {"bid": "bidding"},
    "prince-albert": {
        "vote": "voting",
        "throw": "rock, paper, scissors",
        "bet1": "first betting",
        "bet2": "second betting",
        "all_in": "going all in",
        "bet3": "third betting",
        "show": "showing",
    },
    "prisoners": {"name_suit": "naming the suit", "bid": "auction"},
    "rummy-royal": {"dealer": "the dealer's choice", "auction": "auction of the extra hand", "lead": "play"},
    "saint-poker": {
        "river": "choosing a card for the river",
        "select": "choosing two cards to reveal",
        "pickup": "picking up",
    },
}
DEAD_HANDS = {  # labels of the viewer for the hand that nobody plays
    "undecided": "Extra hand",
    "aside": "Extra hand, aside",
    "swapped": "Hand given up",
    "auction": "Extra hand, for sale",
    "sold": "Hand given up",
    "unsold": "Extra hand, unsold",
}
SUITS = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades", None: None}


def everywhere(state: Any) -> Json:
    """Return the facts of every game."""
    return {
        "to_act": sorted(state.to_act()),
        "over": state.over,
        "placements": state.placements() if state.over else None,
        "scores": state.scores(),
    }


def everywhere_drawn(position: Json, scores: list[int]) -> Json:
    return {
        "to_act": [seat for seat, own in enumerate(position["seats"]) if own["toAct"]],
        "over": position["over"],
        "placements": position["placements"],
        "scores": scores,
    }


def hands(state: Any) -> list[list[str]]:
    """Return the face-down part of each hand, by seat."""
    return [*map(list, state.down if isinstance(state, PrinceAlbert) else state.hands)]


# -- public facts by game: of the state, then of the position --


def _pool_nap(state: PoolNap) -> Json:
    return {
        "title": f"Round {state.round}",
        "chips": state.chips,
        "pot": state.pot,
        "trick": [(entry["seat"], entry["card"]) for entry in state.trick],
        "tricks": state.tricks_won,
        "trump": SUITS[state.trump],
        "out": [None if out is None else f"out in round {out}" for out in state.out_round],
        "dealer": [state.dealer],
        "bidder": [] if state.phase == "bid" or state.bidder is None else [(state.bidder, f"plays for {state.bid}")],
        "bids": {} if state.phase != "bid" else {entry["seat"]: entry["tricks"] for entry in state.bids},
    }


def _pool_nap_drawn(position: Json) -> Json:
    bids = {seat: _number(mark) for seat, mark in _marks(position) if mark.startswith("bid ")}
    return {
        "title": position["title"].split(" of ")[0],
        "chips": _each(position, "chips"),
        "pot": _centre(position, "Pot")["chips"],
        "trick": _laid(position, "Trick"),
        "tricks": _piles(position, "Tricks"),
        "trump": _note(position, "Trump"),
        "out": [_out_mark(own) for own in position["seats"]],
        "dealer": _marked(position, "dealer"),
        "bidder": [(seat, mark) for seat, mark in _marks(position) if mark.startswith("plays for")],
        "bids": bids | dict.fromkeys(_marked(position, "passed"), 0),
    }


def _prince_albert(state: PrinceAlbert) -> Json:
    cash, bidding = state.options["cash"], state.phase == "bidding"
    return {
        "title": f"Round {state.round}" if state.round else "Before the first round",
        "chips": state.chips if cash else [None] * state.players,
        "scores": state.points,
        "pot": sum(state.paid) if cash and not state.over else None,
        "deck": len(state.deck) if state.round else None,
        "piles": [len(pile) for pile in state.piles],
        "tops": [pile and ("??" if seat in state.low_bidders else pile[-1]) for seat, pile in enumerate(state.piles)],
        "up": state.up,
        "opener": [state.opener],
        "folded": [seat for seat, folded in enumerate(state.folded) if folded],
        "all_in": [seat for seat, own in enumerate(state.all_in) if own],
        "shown": [seat for seat, own in enumerate(state.turned_up) if own],
        "low": sorted(state.low_bidders),
        "put": state.put,
        "passed": [seat for seat, out in enumerate(state.bid_out) if out and bidding and not state.folded[seat]],
        "motion": state.motion and state.motion.replace("_", " "),
    }


def _prince_albert_drawn(position: Json) -> Json:
    pot, put = _centre(position, "Pot"), {seat: _number(mark) for seat, mark in _marks(position) if "put in" in mark}
    return {
        "title": position["title"].split(",")[0],
        "chips": _each(position, "chips"),
        "scores": _each(position, "score"),
        "pot": pot["chips"] if pot and not position["over"] else None,
        "deck": (_centre(position, "Deck") or {}).get("count"),
        "piles": _piles(position, "Discards"),
        "tops": [own["piles"] and own["piles"][0]["top"] for own in position["seats"]],
        "up": _each(position, "up"),
        "opener": _marked(position, "opens"),
        "folded": _marked(position, "folded"),
        "all_in": _marked(position, "all in"),
        "shown": _marked(position, "shows"),
        "low": [seat for seat, mark in _marks(position) if mark.startswith("low bid")],
        "put": [put.get(seat, 0) for seat in range(len(position["seats"]))],
        "passed": _marked(position, "passed"),
        "motion": _note(position, "Voted on"),
    }


def _prisoners(state: Prisoners) -> Json:
    taken: list[list[str]] = [[] for _ in range(state.players)]
    for settled in state.turned:
        if settled["to"] is not None:
            taken[settled["to"]].append(_pictured(settled["prisoner"]))
    high = None if state.over else state.high
    joker = state.prisoner is not None and state.prisoner[0] == "X"
    return {
        "title": f"Deal {state.deal} of {state.options['deals']}",
        "scores": state.points,
        "prisoner": [] if state.prisoner is None else [(None, _pictured(state.prisoner))],
        "suit": (SUITS[state.suit] or "to be named") if joker else None,
        "high": [(high["seat"], card) for card in high["cards"]] if high else [],
        "total": high["total"] if high else None,
        "pile": len(state.pile),
        "spent": sorted(state.refuse),
        "taken": taken,
        "lost": [_pictured(settled["prisoner"]) for settled in state.turned if settled["to"] is None],
        "left_over": len(state.left_over),
        "dealer": [state.dealer],
        "leader": [state.leader],
        "owed": sorted(state.claims),
        "said": {} if state.over else {bid["seat"]: bid["total"] for bid in state.bids},
    }


def _pictured(prisoner: str) -> str:
    """Return a card with a picture: there are only two pictures of jokers."""
    return {"X3": "X1", "X4": "X2"}.get(prisoner, prisoner)


def _prisoners_drawn(position: Json) -> Json:
    high = next((part for part in position["centre"] if part["name"].startswith("Bid to beat")), None)
    prisoner = next((part for part in position["centre"] if part["name"].startswith("Prisoner,")), None)
    left_over, lost = _centre(position, "Left over"), _centre(position, "Prisoners nobody took")
    laid = _cards(high)
    said = {seat: _number(mark) for seat, mark in _marks(position) if mark.startswith("bid ")}
    owed = [seat for seat, mark in _marks(position) if mark.startswith("owed") for _ in range(_number(mark))]
    return {
        "title": position["title"],
        "scores": _each(position, "score"),
        "prisoner": _cards(prisoner),
        "suit": _note(position, "Suit of the joker"),
        "high": laid,
        "total": _number(high["name"]) if high else None,
        "pile": _centre(position, "Prisoners to come")["count"],
        "spent": sorted([*_centre(position, "Refuse")["cards"], *(card for _, card in laid)]),
        "taken": [own["piles"][0]["cards"] if own["piles"] else [] for own in position["seats"]],
        "lost": lost["cards"] if lost else [],
        "left_over": left_over["count"] if left_over else 0,
        "dealer": _marked(position, "dealer"),
        "leader": _marked(position, "bids first"),
        "owed": owed,
        "said": said | dict.fromkeys(_marked(position, "passed"), 0),
    }


def _rummy_royal(state: RummyRoyal) -> Json:
    final = state.final_dealer is not None
    lead = state.phase == "lead"
    return {
        "title": "Final deal" if final else f"Deal {state.deal} of {state.options['deals']}",
        "chips": state.stacks,
        "board": state.board,
        "played": None if final else [entry["card"] for entry in state.played],
        "dead": None if final else len(state.dead),
        "dealer": [state.final_dealer if final else state.dealer],
        "taker": None if final else state.taker,
        "bid": state.amount if state.phase == "auction" else None,
        "bidder": state.bidder if state.phase == "auction" else None,
        "passed": sorted(state.passed) if state.phase == "auction" else [],
        "fate": None if final else DEAD_HANDS[state.fate],
        "colour": state.colour if lead else None,
    }


def _rummy_royal_drawn(position: Json) -> Json:
    final = position["title"] == "Final deal"
    run = _laid(position, "Sequence")
    hand = next((part for part in position["centre"] if part["name"] in DEAD_HANDS.values()), None)
    bid = _note(position, "Highest bid")
    colour = _note(position, "Colour due")
    taker = [seat for seat, mark in _marks(position) if mark == "swapped" or mark.startswith("bought")]
    bidder = [seat for seat, mark in _marks(position) if mark.startswith("bid ")]
    return {
        "title": position["title"],
        "chips": _each(position, "chips"),
        "board": {space["id"]: space["chips"] for space in _centre(position, "Board")["spaces"]},
        "played": None if final else [*_centre(position, "Played before")["cards"], *(card for _, card in run)],
        "dead": hand and hand["count"],
        "dealer": _marked(position, "dealer"),
        "taker": taker[0] if taker else None,
        "bid": (0 if bid == "no bid yet" else _number(bid)) if bid else None,
        "bidder": bidder[0] if bidder else None,
        "passed": _marked(position, "passed"),
        "fate": hand and hand["name"],
        "colour": colour and colour.split()[0],
    }


def _saint_poker(state: SaintPoker) -> Json:
    return {
        "title": f"Round {state.round} of {state.options['rounds']}",
        "scores": state.points,
        "river": [(entry["from"], entry["card"]) for entry in state.river],
        "future": state.future_river,
        "stock": len(state.stock),
        "discards": state.discards,
        "revealed": state.revealed,
        "known": state.known,
        "ranked": [own is not None for own in state.ranks],
        "order": state.pickup_order if state.phase == "pickup" else [],
        "lap": state.lap,
    }


def _saint_poker_drawn(position: Json) -> Json:
    places = {_number(mark): seat for seat, mark in _marks(position) if mark.endswith("to pick")}
    names = ("high card", "one pair", "two pair", "three", "straight", "flush", "full", "four")
    future = _centre(position, "Next river")
    return {
        "title": position["title"],
        "scores": _each(position, "score"),
        "river": _laid(position, "River"),
        "future": [entry["card"] for entry in future["cards"]] if future else [],
        "stock": _centre(position, "Stock")["count"],
        "discards": _centre(position, "Discards")["cards"],
        "revealed": _each(position, "up"),
        "known": _each(position, "known"),
        "ranked": [any(mark.startswith(names) for mark in own["marks"]) for own in position["seats"]],
        "order": [places[place] for place in sorted(places)],
        "lap": {"first card": 1, "second card": 2}.get(position["phase"].split(", ")[-1], 0),
    }


FACTS: dict[str, tuple[Callable[[Any], Json], Callable[[Json], Json]]] = {
    "pool-nap": (_pool_nap, _pool_nap_drawn),
    "prince-albert": (_prince_albert, _prince_albert_drawn),
    "prisoners": (_prisoners, _prisoners_drawn),
    "rummy-royal": (_rummy_royal, _rummy_royal_drawn),
    "saint-poker": (_saint_poker, _saint_poker_drawn),
}


# -- reading a position --


def _each(position: Json, member: str) -> list[Any]:
    return [own[member] for own in position["seats"]]


def _marks(position: Json) -> list[tuple[int, str]]:
    return [(seat, mark) for seat, own in enumerate(position["seats"]) for mark in own["marks"]]


def _marked(position: Json, wanted: str) -> list[int]:
    return [seat for seat, mark in _marks(position) if mark == wanted]


def _out_mark(own: Json) -> str | None:
    return next((mark for mark in own["marks"] if own["out"] and mark.startswith("out in")), None)


def _centre(position: Json, name: str) -> Any:
    return next((part for part in position["centre"] if part["name"] == name and part["kind"] != "note"), None)


def _note(position: Json, name: str) -> Any:
    notes = (part for part in position["centre"] if part["name"] == name and part["kind"] == "note")
    return next((part["text"] for part in notes), None)


def _cards(part: Json | None) -> list[tuple[int | None, str]]:
    return [(entry["seat"], entry["card"]) for entry in part["cards"]] if part else []


def _laid(position: Json, name: str) -> list[tuple[int | None, str]]:
    return _cards(_centre(position, name))


def _piles(position: Json, name: str) -> list[int]:
    return [sum(pile["count"] for pile in own["piles"] if pile["name"] == name) for own in position["seats"]]


def _number(text: str) -> int:
    return int("".join(character for character in text if character.isdigit()))
