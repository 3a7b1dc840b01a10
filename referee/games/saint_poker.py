"""Play Saint Poker: deal, then rounds of river -> select -> (draw) -> pickup, until the last round is over.

The code follows the order of the rules page, whose rulings are ``SP-nn``. ``poker.py`` ranks hands.
"""

from bisect import insort
from dataclasses import dataclass, field
from itertools import combinations, groupby
from typing import Any

from referee.errors import IllegalAction
from referee.games.cards import DECK, ORDER, in_order
from referee.games.options import Option
from referee.games.poker import Rank, category, rank
from referee.games.state import Json, Seat, Secret, State, rank_seats

HAND = 10  # cards dealt to each seat
RIVER = 5  # cards: one of each seat, the others from the future river

# All possible actions, created once. Callers must not modify them.
RIVER_ACTIONS = {card: {"type": "river", "card": card} for card in DECK}
SELECT_ACTIONS = {pair: {"type": "select", "cards": [*pair]} for pair in combinations(DECK, 2)}
TAKE_ACTIONS = {card: {"type": "take", "card": card} for card in DECK}


@dataclass
class SaintPoker(State):
    """Represent a match of Saint Poker for two to five seats."""

    name = "saint-poker"
    rules_version = 1
    opening = "river_setup"
    secrets = (Secret("deal", "deck"), Secret("deal", "hands", by_seat=True))
    seats = range(2, 6)
    standard_seats = 2
    questions_per_seat = 30
    option_specs = (
        Option(
            "rounds",
            "int",
            8,
            "number of rounds",
            "The match has {value} round{s} instead of {default}.",
            low=1,
            high=8,
        ),  # SP-01
        Option(
            "final_pickup",
            "bool",
            True,
            "whether the last round has its pickup phase",
            "No cards are taken back in the last round.",
        ),  # SP-02
    )

    round: int = 0
    points: list[int] = field(default_factory=list)
    hands: list[list[str]] = field(default_factory=list)  # canonical order
    known: list[list[str]] = field(default_factory=list)  # taken from the table and still in hand
    stock: list[str] = field(default_factory=list)  # face down, top first
    future_river: list[str] = field(default_factory=list)
    river: list[Json] = field(default_factory=list)  # {"card", "from"}, still on the table
    revealed: list[list[str]] = field(default_factory=list)  # still on the table
    # All cards face up on the table after the scoring, canonical order:
    takeable: list[str] = field(default_factory=list)
    ranks: list[Rank | None] = field(default_factory=list)
    # Groups of tied seats not yet in the pickup order, worst first:
    unordered: list[list[Seat]] = field(default_factory=list)
    pickup_order: list[Seat] = field(default_factory=list)
    lap: int = 0
    discards: list[str] = field(default_factory=list)

    # -- set-up of the match --

    def set_up(self) -> None:
        self.points = [0] * self.players
        self.hands = self._nothing()
        self.known = self._nothing()
        self._clear_table()
        self.phase = "river"
        self.emit("match_start", game=self.name, players=self.players, options=self.options)
        self.ask_deck(DECK)

    def settle(self, asked: Json, outcome: Any) -> None:
        if asked["kind"] == "deck":
            self._deal(list(outcome))
        else:
            self._order_group(asked["among"], list(outcome))

    def _deal(self, deck: list[str]) -> None:
        dealt, up = HAND * self.players, RIVER - self.players
        self.hands = [in_order(deck[seat : dealt : self.players]) for seat in range(self.players)]  # SP-03
        self.future_river = deck[dealt : dealt + up]
        self.stock = deck[dealt + up :]
        self.emit("deal", deck=deck, hands=[hand[:] for hand in self.hands], future_river=self.future_river[:])
        self._open_round()

    # -- a round: river set-up --

    def _open_round(self) -> None:
        self.round += 1
        self.lap = 0
        self._clear_table()
        self.river = [{"card": card, "from": None} for card in self.future_river]
        start, up = self.future_river, RIVER - self.players
        self.future_river, self.stock = self.stock[:up], self.stock[up:]  # SP-04: in the last round too
        self.emit(
            "river_setup", round=self.round, river=start, future_river=self.future_river[:], stock_size=len(self.stock)
        )
        self.ask("river", range(self.players), together=True)

    def _clear_table(self) -> None:
        self.revealed = self._nothing()
        self.ranks = [None] * self.players
        self.pickup_order = []

    def _nothing(self) -> list[list[str]]:
        return [[] for _ in range(self.players)]

    # -- decisions: what is legal --

    def legal(self, seat: Seat) -> list[Json]:
        match self.phase:
            case "river":
                return [RIVER_ACTIONS[card] for card in self.hands[seat]]
            case "select":
                return [*map(SELECT_ACTIONS.__getitem__, combinations(self.hands[seat], 2))]
            case _:
                return [TAKE_ACTIONS[card] for card in self.takeable]

    def validate_action(self, seat: Seat, action: Any) -> Json:
        meant = self._find_legal_action(self.hands[seat], action) if type(action) is dict else None
        if meant is None:
            raise IllegalAction(f"seat {seat} may not play {str(action)[:200]} in {self.phase!r}")
        return meant

    def _find_legal_action(self, hand: list[str], action: Json) -> Json | None:
        """Return the legal action equal to ``action``, or None. The cards of a pair may be in either order."""
        if self.phase == "select":
            cards = action.get("cards")
            if type(cards) is not list or len(cards) != 2 or cards[0] not in hand or cards[1] not in hand:
                return None
            one, other = in_order(cards)
            meant = SELECT_ACTIONS.get((one, other))
            return meant if meant and {**action, "cards": meant["cards"]} == meant else None
        card = action.get("card")
        actions, among = (RIVER_ACTIONS, hand) if self.phase == "river" else (TAKE_ACTIONS, self.takeable)
        return actions[card] if card in among and action == actions[card] else None

    def forced_action(self, seat: Seat) -> Json | None:
        # Hand sizes are public and cards are not, so an action is publicly forced only when two cards are left.
        if self.phase == "select" and len(self.hands[seat]) == 2:
            return self.legal(seat)[0]
        return None

    # -- decisions: what follows --

    def act_together(self, actions: dict[Seat, Json]) -> None:  # SP-12: nothing changes until all have chosen
        if self.phase == "river":
            self._complete_river([actions[seat]["card"] for seat in range(self.players)])
        else:
            self._reveal([actions[seat]["cards"] for seat in range(self.players)])

    def _complete_river(self, cards: list[str]) -> None:
        for seat, card in enumerate(cards):
            self._lay(seat, card)
            self.river.append({"card": card, "from": seat})
        self.emit("river", round=self.round, cards=cards, river=[entry["card"] for entry in self.river])
        self.ask("select", range(self.players), together=True)  # SP-14: after the river is public

    def _reveal(self, pairs: list[list[str]]) -> None:
        for seat, pair in enumerate(pairs):
            for card in pair:
                self._lay(seat, card)
        self.revealed = [pair[:] for pair in pairs]
        self.emit("reveal", round=self.round, cards=pairs)
        self._score()

    def _lay(self, seat: Seat, card: str) -> None:
        self.hands[seat].remove(card)
        if card in self.known[seat]:
            self.known[seat].remove(card)

    # -- scoring and pickup order --

    def _score(self) -> None:
        river = [entry["card"] for entry in self.river]
        ranks = [rank(river + own) for own in self.revealed]  # SP-05: any five of the seven
        best_first = sorted(range(self.players), key=ranks.__getitem__, reverse=True)
        groups = [list(tied) for _, tied in groupby(best_first, key=ranks.__getitem__)]  # SP-15: all are ranked
        points = -(-self.round // len(groups[0]))  # SP-08: split, rounded up
        for winner in groups[0]:
            self.points[winner] += points
        self.ranks = [*ranks]
        self.emit(
            "score",
            round=self.round,
            ranks=ranks,
            names=[category(own) for own in ranks],
            groups=groups,
            points=points,
            scores=self.points[:],
        )
        if self.round == self.options["rounds"] and not self.options["final_pickup"]:
            self._end()
        else:
            self.phase, self.lap = "pickup", 1
            # A seat may take any card there, including its own and those that others put in the river (SP-09).
            self.takeable = in_order(river + [card for own in self.revealed for card in own])
            self.unordered = groups[::-1]
            self._order_pickup()

    def _order_pickup(self) -> None:
        """Order seats from the worst rank. Request a draw for every tied group, even the winners (SP-10)."""
        while self.unordered:
            if len(self.unordered[0]) > 1:
                self.ask_draw("pickup_order", self.unordered[0], ordered=True)
                return
            self.pickup_order += self.unordered.pop(0)
        self.emit("pickup_order", round=self.round, order=self.pickup_order[:])
        self.ask("pickup", self.pickup_order * 2)  # SP-10: one order for both laps

    def _order_group(self, among: list[Seat], order: list[Seat]) -> None:
        self.emit("draw", what="pickup_order", round=self.round, among=among, result=order)
        self.unordered.pop(0)
        self.pickup_order += order
        self._order_pickup()

    # -- pickup --

    def act(self, seat: Seat, action: Json) -> None:
        card = action["card"]
        source = self._lift(card)
        insort(self.hands[seat], card, key=ORDER.__getitem__)
        insort(self.known[seat], card, key=ORDER.__getitem__)
        self.emit("take", round=self.round, lap=self.lap, seat=seat, card=card, source=source)
        if len(self.queue) == self.players:
            self.lap = 2
        if not self.queue:
            self._discard()

    def _lift(self, card: str) -> str | Seat:
        """Take the card off the table. Return its source: "river", or the seat that revealed it."""
        self.takeable.remove(card)
        for place, entry in enumerate(self.river):
            if entry["card"] == card:
                del self.river[place]
                return "river"
        owner = next(seat for seat, own in enumerate(self.revealed) if card in own)
        self.revealed[owner].remove(card)
        return owner

    def _discard(self) -> None:
        left, self.takeable = self.takeable, []
        self.discards += left
        self.river, self.revealed = [], self._nothing()
        self.emit("discard", round=self.round, cards=left)
        if self.round == self.options["rounds"]:
            self._end()
        else:
            self._open_round()

    # -- end of the match --

    def _end(self) -> None:
        self.phase, self.lap = "over", 0
        self.emit(
            "match_end", rounds=self.round, scores=self.scores(), placements=self.placements(), returns=self.returns()
        )

    def scores(self) -> list[int]:
        return self.points[:]

    def returns(self) -> list[int]:
        return self.points[:]

    def placements(self) -> list[int]:
        return rank_seats(self.points)  # SP-11: equal points share a place

    # -- what may be seen --

    def observation(self, seat: Seat) -> Json:
        ordered = len(self.pickup_order) == self.players
        return {
            "game": self.name,
            "seat": seat,
            "players": self.players,
            "options": self.options,
            "phase": self.phase,
            "round": self.round,
            "scores": self.points[:],  # SP-13
            "to_act": self.to_act(),
            "hand": self.hands[seat][:],
            "hand_sizes": [len(hand) for hand in self.hands],
            "known": [cards[:] for cards in self.known],
            "river": self.river[:],
            "future_river": self.future_river[:],
            "stock_size": len(self.stock),
            "revealed": [cards[:] for cards in self.revealed],
            "ranks": self.ranks[:],
            "pickup_order": self.pickup_order[:] if ordered else [],
            "lap": self.lap,
            "discards": self.discards[:],
        }

    @classmethod
    def legal_bound(cls, players: int) -> int:
        return 36

    @classmethod
    def decision_bound(cls, players: int, options: Json) -> int:
        unplayed = 0 if options["final_pickup"] else 2 * players
        return 4 * players * int(options["rounds"]) - unplayed
