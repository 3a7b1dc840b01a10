"""Play Prisoners: draw the first dealer, then play deals of pile -> deck -> prisoners: (name_suit) -> bids -> settled.

The code follows the order of the rules page, whose rulings are ``PR-nn``. ``prisoners_bids.py`` lists possible bids.
"""

from bisect import insort
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from referee.errors import BadOption, IllegalAction
from referee.games.cards import DECK, ORDER, SUITS, in_order
from referee.games.options import Option
from referee.games.prisoners_bids import ACE, ACTIONS, BID_CARDS, BOOKS, best_total, bids_within, claims_earned
from referee.games.state import Event, Json, Seat, Secret, State, rank_seats

JOKER = "X"
POINTS = {"J": 50, "Q": 100, "K": 150, JOKER: 200}
COURT_CARDS = tuple(card for card in DECK if card[0] in POINTS)  # prisoners of one deck, without its jokers
JOKERS = 2  # of one deck

# All possible actions except bids, created once. Callers must not modify them.
PASS: Json = {"type": "pass"}
NAMINGS: dict[str, Json] = {suit: {"type": "name_suit", "suit": suit} for suit in SUITS}


@dataclass
class Prisoners(State):
    """Represent a match of Prisoners for two to ten seats."""

    name = "prisoners"
    rules_version = 1
    opening = "deal"
    secrets = (
        Secret("deal", "deck"),
        Secret("deal", "pile"),
        Secret("deal", "left_over"),
        Secret("deal", "hands", by_seat=True),
    )
    seats = range(2, 11)
    standard_seats = 4
    questions_per_seat = 20
    option_specs = (
        Option(
            "decks",
            "int",
            0,
            "one deck or two; 0: one for up to four seats, else two",
            "The match is played with {value} deck{s} instead of {default}.",
            low=0,
            high=2,
        ),  # PR-02
        Option(
            "direction",
            "choice",
            "clockwise",
            "which way cards, bidding and the deal go round",
            {"anticlockwise": "Deal, bidding and change of dealer go anticlockwise."},
            choices=("clockwise", "anticlockwise"),
        ),  # PR-03
        Option(
            "bidding",
            "choice",
            "open",
            "open: round and round until all but one have passed; single: everybody speaks once",
            {"single": "Every seat has one turn to bid."},
            choices=("open", "single"),
        ),  # PR-05
        Option(
            "deals", "int", 1, "number of deals", "The match has {value} deals instead of {default}.", low=1, high=20
        ),  # PR-04
    )

    points: list[int] = field(default_factory=list)
    deal: int = 0
    dealer: Seat | None = None
    leader: Seat | None = None  # the seat that bids first
    hands: list[list[str]] = field(default_factory=list)  # canonical order
    left_over: list[str] = field(default_factory=list)  # cards not dealt
    pile: list[str] = field(default_factory=list)  # prisoners face down, top first
    refuse: list[str] = field(default_factory=list)  # bid cards spent in this deal, canonical order
    joker_seen: bool = False  # in this deal
    claims: list[Seat] = field(default_factory=list)  # seats that earned a joker, in the order of their claims
    turned: list[Json] = field(default_factory=list)  # settled prisoners: {"prisoner", "suit", "to"}
    prisoner: str | None = None  # up for bids
    suit: str | None = None  # that of the prisoner, or the suit that a joker takes
    high: Json | None = None  # {"seat", "cards", "total"}, the bid to beat
    # All bids and passes in the same form; a pass has no cards and the total 0:
    bids: list[Json] = field(default_factory=list)

    # -- options --

    @classmethod
    def complete_options(cls, players: int, given: Mapping[str, Any]) -> Json:
        options = super().complete_options(players, given)
        decks = options["decks"]
        if (decks == 1 and players > 4) or (decks == 2 and players < 4):  # PR-02: at four both are allowed
            raise BadOption("decks", f"expected {3 - decks} or 0 for {players} seats, got {decks}")
        return options | {"decks": decks or (1 if players <= 4 else 2)}

    # -- set-up of the match --

    def set_up(self) -> None:
        self.points = [0] * self.players
        self._clear_table()
        self.phase = "bid"
        self.emit("match_start", game=self.name, players=self.players, options=self.options)
        self.ask_draw("first_dealer", range(self.players))  # PR-04

    def settle(self, asked: Json, outcome: Any) -> None:
        if asked["kind"] == "draw":
            self.emit("draw", what="first_dealer", among=asked["among"], result=outcome)
            self._open_deal(outcome)
        elif not self.pile:
            self.pile = list(outcome)
            self.ask_deck(bid_cards(self.options["decks"]))
        else:
            self._deal(list(outcome))

    # -- set-up of a deal --

    def _open_deal(self, dealer: Seat) -> None:
        self.deal += 1
        self.dealer = self.leader = dealer
        self._clear_table()
        self.phase = "bid"
        self.ask_deck(prisoners(self.options["decks"]))

    def _clear_table(self) -> None:
        self.hands = [[] for _ in range(self.players)]
        self.left_over, self.pile, self.refuse = [], [], []
        self.joker_seen, self.claims, self.turned = False, [], []
        self.prisoner = self.suit = None
        self.high, self.bids = None, []

    def _deal(self, deck: list[str]) -> None:
        assert self.dealer is not None
        dealt = len(deck) // self.players * self.players
        for place, seat in enumerate([*self.lap_from(self.dealer)[1:], self.dealer]):
            self.hands[seat] = in_order(deck[place : dealt : self.players])
        self.left_over = deck[dealt:]  # PR-06
        self.emit(
            "deal",
            deal=self.deal,
            dealer=self.dealer,
            pile=self.pile[:],
            deck=deck,
            hands=[hand[:] for hand in self.hands],
            left_over=self.left_over,
        )
        self._go_on()

    # -- a prisoner, from turning to settling --

    def _go_on(self) -> None:
        """Turn up prisoners until a seat must decide about one. Close the deal when the pile is empty."""
        while self.pile:
            self._turn()
            if self.queue:
                return
        self._close_deal()

    def _turn(self) -> None:
        self.prisoner = self.pile.pop(0)
        self.high, self.bids = None, []
        first_joker = self._is_joker() and not self.joker_seen
        if first_joker:
            self.joker_seen = True
        elif not self._is_joker():
            self.suit = self.prisoner[1]  # PR-11: a joker does not change it
        self.emit("turn", deal=self.deal, index=len(self.turned) + 1, prisoner=self.prisoner, suit=self.suit)
        if self.suit is None:
            assert self.dealer is not None
            self.ask("name_suit", [self.dealer])  # PR-12
            return
        if first_joker:
            self._force_aces(self.suit)
        self._offer()

    def _name_suit(self, seat: Seat, suit: str) -> None:
        self.suit = suit
        self.emit("name_suit", deal=self.deal, seat=seat, suit=suit)
        self._force_aces(suit)  # only the first joker of a deal has its suit named
        self._offer()

    def _force_aces(self, suit: str) -> None:
        assert self.leader is not None
        for seat in self.lap_from(self.leader):  # PR-15
            while aces := aces_to_play(self.hands[seat], suit):
                self._spend(seat, aces)
                self.emit("aces", deal=self.deal, seat=seat, cards=aces)
                self._claim(seat, claims_earned(aces, suit))

    def _claim(self, seat: Seat, jokers: int) -> None:
        self.claims += [seat] * jokers
        self.emit("claim", deal=self.deal, seat=seat, jokers=jokers)

    def _offer(self) -> None:
        """Give the prisoner to a seat that is owed a joker, auction it, or leave it without a winner (PR-08)."""
        if self._is_joker() and self.claims:
            self._settle_prisoner(self.claims.pop(0), "claim")
        elif any(self.hands):
            assert self.leader is not None
            self.ask("bid", self.lap_from(self.leader))
            self._hear()
        else:
            self._settle_prisoner(None, "none")  # PR-08

    def _settle_prisoner(self, winner: Seat | None, how: str) -> None:
        assert self.prisoner is not None
        points = 0
        if winner is not None:
            points = POINTS[self.prisoner[0]]
            self.points[winner] += points
            self.leader = winner  # PR-07: also by a claim; without a winner the lead stays
        self.turned.append({"prisoner": self.prisoner, "suit": self.suit, "to": winner})
        self.emit(
            "prisoner",
            deal=self.deal,
            index=len(self.turned),
            prisoner=self.prisoner,
            to=winner,
            how=how,
            points=points,
        )

    def _is_joker(self) -> bool:
        return self.prisoner is not None and self.prisoner[0] == JOKER

    # -- decisions: what is legal --

    def legal(self, seat: Seat) -> list[Json]:
        if self.phase == "name_suit":
            return [*NAMINGS.values()]
        assert self.suit is not None
        return [PASS, *bids_within((*self.hands[seat],), self.suit, self._to_beat())]

    def default(self, seat: Seat) -> Json:
        return NAMINGS["c"] if self.phase == "name_suit" else PASS

    def validate_action(self, seat: Seat, action: Any) -> Json:
        meant = self._find_legal_action(seat, action) if type(action) is dict else None
        if meant is None:
            raise IllegalAction(f"seat {seat} may not play {str(action)[:200]} in {self.phase!r}")
        return meant

    def _find_legal_action(self, seat: Seat, action: Json) -> Json | None:
        """Return the legal action equal to ``action``, or None. The cards of a bid may be in any order."""
        if self.phase == "name_suit":
            suit = action.get("suit")
            return NAMINGS[suit] if type(suit) is str and NAMINGS.get(suit) == action else None
        if action == PASS:
            return PASS
        cards = action.get("cards")
        if type(cards) is not list or not all(card in self.hands[seat] for card in cards):
            return None
        meant = self._bid_of(in_order(cards))
        return meant if meant and {**action, "cards": meant["cards"]} == meant else None

    def _bid_of(self, cards: list[str]) -> Json | None:
        assert self.suit is not None
        place = BOOKS[self.suit].places.get((*cards,))  # PR-10: no book contains both twins
        beats = place is not None and BOOKS[self.suit].totals[place] > self._to_beat()
        return ACTIONS[(*cards,)] if beats else None

    def _to_beat(self) -> int:
        return self.high["total"] if self.high else 0

    # -- decisions: what follows --

    def act(self, seat: Seat, action: Json) -> None:
        match action:
            case {"suit": suit}:
                self._name_suit(seat, suit)
            case {"cards": cards}:
                self._bid(seat, cards)
                self._hear()
            case _:
                self._pass(seat)
                self._hear()
        if not self.queue:
            self._go_on()

    def _bid(self, seat: Seat, cards: list[str]) -> None:
        assert self.suit is not None
        book = BOOKS[self.suit]
        self.high = {"seat": seat, "cards": cards, "total": book.totals[book.places[(*cards,)]]}
        self.bids.append(self.high)
        self._spend(seat, cards)
        self.emit("bid", deal=self.deal, **self.high)
        jokers = 0 if self.joker_seen else claims_earned(cards, self.suit)
        if jokers:
            self._claim(seat, jokers)
        if self.options["bidding"] == "open":
            self.queue.append(seat)  # PR-05: it has another turn if it is overtaken

    def _pass(self, seat: Seat) -> None:
        self.bids.append({"seat": seat, "cards": [], "total": 0})
        self.emit("pass", deal=self.deal, seat=seat)

    def _spend(self, seat: Seat, cards: list[str]) -> None:
        for card in cards:  # PR-09: the cards are spent even if the bid is overtaken
            self.hands[seat].remove(card)
            insort(self.refuse, card, key=ORDER.__getitem__)

    def _hear(self) -> None:
        """Pass for seats that cannot bid (PR-16). Settle the prisoner when no seat is left that can bid."""
        assert self.suit is not None
        winner, to_beat = self.high["seat"] if self.high else None, self._to_beat()
        while self.queue and self.queue[0] != winner:
            hand = self.hands[self.queue[0]]
            if hand and best_total((*hand,), self.suit) > to_beat:
                return
            self._pass(self.queue.pop(0))
        self.queue = []
        self._settle_prisoner(winner, "none" if winner is None else "bid")

    # -- end of a deal, end of the match --

    def _close_deal(self) -> None:
        self.emit("deal_end", deal=self.deal, scores=self.scores())
        if self.deal == self.options["deals"]:
            self._end()
        else:
            assert self.dealer is not None
            self._open_deal(self.lap_from(self.dealer)[1])

    def _end(self) -> None:
        self.phase = "over"
        self.prisoner = self.suit = None
        self.emit("match_end", scores=self.scores(), placements=self.placements(), returns=self.returns())

    def scores(self) -> list[int]:
        return self.points[:]

    def returns(self) -> list[int]:
        return self.points[:]

    def placements(self) -> list[int]:
        return rank_seats(self.points)  # PR-17: equal points share a place

    def lap_from(self, seat: Seat) -> list[Seat]:
        """Return all seats in the direction of play, beginning with this one (PR-03)."""
        step = 1 if self.options["direction"] == "clockwise" else -1
        return [(seat + step * i) % self.players for i in range(self.players)]

    # -- what may be seen --

    def observation(self, seat: Seat) -> Json:
        return {
            "game": self.name,
            "players": self.players,
            "options": self.options,
            "seat": seat,
            "deal": self.deal,
            "dealer": self.dealer,
            "leader": self.leader,
            "phase": self.phase,
            "to_act": self.to_act(),
            "hand": self.hands[seat][:],
            "hand_sizes": [len(hand) for hand in self.hands],
            "prisoner": self.prisoner,
            "suit": self.suit,
            "high": self.high,
            "bids": self.bids[:],
            "turned": self.turned[:],
            "prisoners_left": len(self.pile),
            "refuse": self.refuse[:],
            "left_over": len(self.left_over),
            "joker_seen": self.joker_seen,
            "claims": self.claims[:],
            "scores": self.scores(),
        }

    @classmethod
    def may_be_forced(cls, event: Event) -> bool:
        return bool(event["event"] == "pass")  # PR-16

    @classmethod
    def legal_bound(cls, players: int) -> int:
        return 1058

    @classmethod
    def decision_bound(cls, players: int, options: Json) -> int:
        decks, deals = int(options["decks"]), int(options["deals"])
        passes = len(prisoners(decks)) * players
        bids = len(BID_CARDS) * decks // players * players if options["bidding"] == "open" else 0
        return deals * (passes + bids + 1)


def bid_cards(decks: int) -> list[str]:
    """Return all bid cards in canonical order. With two decks, each card occurs twice in a row."""
    return [card for card in BID_CARDS for _ in range(decks)]


def prisoners(decks: int) -> list[str]:
    """Return all prisoners in canonical order.

    With two decks, each occurs twice in a row, but jokers have different numbers.
    """
    jokers = [f"{JOKER}{number}" for number in range(1, JOKERS * decks + 1)]
    return [card for card in COURT_CARDS for _ in range(decks)] + jokers


def aces_to_play(hand: list[str], suit: str) -> list[str]:
    """Return the aces, one per suit, that the hand must play at the first joker, which has this suit; may be empty."""
    aces = in_order({card for card in hand if card[0] == ACE})
    return aces if claims_earned(aces, suit) else []  # PR-13, PR-14
