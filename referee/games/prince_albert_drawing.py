"""Handle the cards of Prince Albert: deal them, exchange them, and hide them from seats that may not see them.

``prince_albert.py`` handles bids, which determine the number of draws, and decides which hands win.
"""

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from referee.games.cards import DECK, ORDER, UNKNOWN, in_order
from referee.games.state import Event, Json, Seat, State, hide_cards

HAND = 5
DOWN = 2  # cards of a hand dealt face down with the option holdem
VEILED = {"deck", "deal", "exchange"}  # events that are masked for some viewers
Source = str | Seat  # "deck", or the seat whose pile it is

# All possible actions, created once. Callers must not modify them.
PASS: Json = {"type": "pass"}
EXCHANGES: dict[str, dict[Source, Json]] = {
    card: {source: {"type": "exchange", "discard": card, "from": source} for source in ("deck", *range(5))}
    for card in DECK
}


@dataclass
class Drawing(State):
    """Represent the part of a position that concerns cards."""

    deck: list[str] = field(default_factory=list)  # top first
    down: list[list[str]] = field(default_factory=list)  # of each hand, canonical order
    up: list[list[str]] = field(default_factory=list)
    low_bidders: list[Seat] = field(default_factory=list)  # first bidder first; their piles are closed
    draws: int = 0  # exchanges a seat may make
    drawn: list[int] = field(default_factory=list)
    draw_out: list[bool] = field(default_factory=list)
    piles: list[list[str]] = field(default_factory=list)  # top last
    turned_up: list[bool] = field(default_factory=list)  # shown at the end

    # -- what the game provides --

    def close_drawing(self) -> None:
        """Continue the game when no seat draws any more."""
        raise NotImplementedError

    # -- the deal --

    def clear_cards(self) -> None:
        self.deck = [*DECK]
        self.down, self.up, self.piles = self._nothing(), self._nothing(), self._nothing()
        self.low_bidders, self.draws, self.drawn = [], 0, [0] * self.players
        self.draw_out, self.turned_up = [False] * self.players, [False] * self.players

    def deal(self, deck: list[str], order: Sequence[Seat]) -> None:
        """Deal five cards to each seat, one at a time, to the seats in this ``order`` (PA-02)."""
        seats = self.players
        self.emit("deck", cards=deck)
        self.deck = deck[HAND * seats :]
        down = DOWN if self.options["holdem"] else HAND  # PA-25
        for place, seat in enumerate(order):
            own = deck[place : HAND * seats : seats]
            self.down[seat], self.up[seat] = in_order(own[:down]), in_order(own[down:])
            self.emit("deal", seat=seat, down=self.down[seat][:], up=self.up[seat][:])

    def hand(self, seat: Seat) -> list[str]:
        """Return the hand: the cards face down, then those face up, each in canonical order."""
        return self.down[seat] + self.up[seat]

    def _nothing(self) -> list[list[str]]:
        return [[] for _ in range(self.players)]

    # -- discarding and drawing --

    def open_drawing(self, order: Sequence[Seat], draw_out: list[bool]) -> None:
        self.draw_out = draw_out
        self.ask("drawing", [seat for seat in order if not draw_out[seat]])
        if not self.queue:
            self.close_drawing()

    def exchanges(self, seat: Seat) -> list[Json]:
        """Return all exchanges open to the seat, in canonical order."""
        sources = self._sources(seat)
        return [EXCHANGES[card][source] for card in self.hand(seat) for source in sources]

    def meant_exchange(self, seat: Seat, action: Json) -> Json | None:
        """Return the exchange that ``action`` describes, or None if the seat may not make it."""
        card: Any = action["discard"]
        source: Any = action.get("from")
        if card not in self.down[seat] and card not in self.up[seat]:
            return None
        fits = type(source) in (str, int) and source in self._sources(seat)  # True is not a seat
        return EXCHANGES[card][source] if fits else None

    def exchange(self, seat: Seat, card: str, source: Source) -> None:
        was, part = ("down", self.down[seat]) if card in self.down[seat] else ("up", self.up[seat])
        part.remove(card)
        self.piles[seat].append(card)
        drawn = self.deck.pop(0) if source == "deck" else self.piles[int(source)].pop()
        insort(part, drawn, key=ORDER.__getitem__)  # PA-26: up for up, down for down
        pile = "down" if seat in self.low_bidders else "up"  # PA-15
        members = {"seat": seat, "discard": card, "was": was, "pile": pile, "from": source, "drawn": drawn}
        self.emit("exchange", **members)
        self.drawn[seat] += 1
        if self.drawn[seat] < self.draws:
            self.queue.append(seat)  # PA-12
        if not self.queue:
            self.close_drawing()

    def pass_drawing(self, seat: Seat) -> None:
        self.draw_out[seat] = True  # PA-17
        self.emit("pass", seat=seat, phase="drawing")
        if not self.queue:
            self.close_drawing()

    def _sources(self, seat: Seat) -> list[Source]:
        """Return the deck and the other seats whose pile has an open top card (PA-14, PA-16)."""
        piles, closed = self.piles, self.low_bidders
        return ["deck", *[other for other, pile in enumerate(piles) if pile and other != seat and other not in closed]]

    # -- who sees what --

    def show(self, seat: Seat, *, must: bool) -> None:
        self.turned_up[seat] = True
        self.emit("show", seat=seat, cards=self.hand(seat), must=must)

    def hands_seen(self, viewer: Seat) -> list[list[str]]:
        return [
            (down if owner == viewer or self.turned_up[owner] else hide_cards(down)) + self.up[owner]
            for owner, down in enumerate(self.down)
        ]

    def piles_seen(self, viewer: Seat) -> list[Json]:
        return [self._pile_seen(owner, viewer) for owner in range(self.players)]

    def _pile_seen(self, owner: Seat, viewer: Seat) -> Json:
        pile = self.piles[owner]
        if not pile:
            return {"cards": 0, "top": None}
        closed = owner in self.low_bidders and owner != viewer  # PA-15
        return {"cards": len(pile), "top": UNKNOWN if closed else pile[-1]}

    @classmethod
    def visible_events(cls, events: Sequence[Event], viewer: Seat | None, options: Json) -> list[Event]:
        # Mask only events that need it, because every observation contains the history and most of it is public.
        masked = cls.mask_event
        readings = [masked(event, viewer) if event["event"] in VEILED else event for event in events]
        return [event for event in readings if event is not None]

    @classmethod
    def mask_event(cls, event: Event, viewer: Seat | None) -> Event | None:
        kind = event["event"]
        if kind == "deck":
            return None
        if kind not in ("deal", "exchange") or event["seat"] == viewer:
            return event
        if kind == "deal":
            return {**event, "down": hide_cards(event["down"])}
        return _exchange_seen(event)


def _exchange_seen(event: Event) -> Event:
    """Return the exchange as other seats see it, without a card that is discarded or drawn face down."""
    if event["was"] == "up":
        return event
    discard = UNKNOWN if event["pile"] == "down" else event["discard"]
    drawn = UNKNOWN if event["from"] == "deck" else event["drawn"]
    return {**event, "discard": discard, "drawn": drawn}
