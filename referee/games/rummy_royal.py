"""Play Rummy Royal: draw the first dealer, then play deals: ante -> deck -> dealer -> (auction) -> lead … -> pay up.

After the last deal, chance deals out the chips left on the board. The code follows the order of the rules page, whose
rulings are ``RR-nn``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from referee.errors import IllegalAction
from referee.games.cards import DECK, RANKS, SUITS, in_order
from referee.games.rummy_royal_options import MOST_BID, OPTIONS
from referee.games.state import Event, Json, Seat, State, hide_cards, rank_seats

PAY_CARDS = ("Th", "Jh", "Qh", "Kh", "Ah")
BOARD = (*PAY_CARDS, "QK", "seq", "kitty", "pot")  # RR-02
MOST_SEATS = 9  # RR-01

NEXT = {
    low + suit: high + suit for low, high in pairwise(RANKS + "-") for suit in SUITS
}  # the next card of the suit; after an ace, no card
OPPOSITE = {"c": "red", "d": "black", "h": "black", "s": "red"}
PAYING = {ranks: {*PAY_CARDS, *(ranks[-1] + suit for suit in SUITS)} for ranks in ("678", "89T")}  # by `sequence`
SUITS_DUE = {"any": SUITS, "black": "cs", "red": "dh"}

# All possible actions, created once. Callers must not modify them.
CHOICES: list[Json] = [{"type": "keep"}, {"type": "sell"}, {"type": "swap"}]
PASS: Json = {"type": "pass"}
BIDS: list[Json] = [{"type": "bid", "amount": amount} for amount in range(MOST_BID + 1)]
LEADS: dict[str, Json] = {card: {"type": "lead", "card": card} for card in DECK}
# Entries for played cards, indexed by seat and card, which are also created only once.
LAID: list[dict[str, Json]] = [{card: {"seat": seat, "card": card} for card in DECK} for seat in range(MOST_SEATS)]


@dataclass
class RummyRoyal(State):
    """Represent a match of Rummy Royal for two to nine seats."""

    name = "rummy-royal"
    rules_version = 1
    opening = "ante"
    seats = range(2, MOST_SEATS + 1)
    standard_seats = 4
    questions_per_seat = 25
    option_specs = OPTIONS

    stacks: list[int] = field(default_factory=list)  # may fall below zero (RR-05)
    board: dict[str, int] = field(default_factory=dict)  # chips by space
    deal: int = 0
    dealer: Seat | None = None
    hands: list[list[str]] = field(default_factory=list)  # canonical order
    dead: list[str] = field(default_factory=list)  # the extra hand or, after a swap or sale, the hand given up (RR-07)
    fate: str = "undecided"  # of the extra hand
    taker: Seat | None = None  # of the extra hand
    amount: int = 0  # the highest bid so far
    bidder: Seat | None = None
    passed: list[Seat] = field(default_factory=list)
    holder: dict[str, Seat] = field(default_factory=dict)  # by card: the seat whose hand contains it, during play
    colour: str = "any"  # the colour to lead
    leads: list[str] = field(default_factory=list)  # the cards that the seat to act may lead
    played: list[Json] = field(default_factory=list)  # {"seat", "card"}
    no_colour: list[Json] = field(default_factory=list)  # {"seat", "colour", "after"}
    final_dealer: Seat | None = None

    # -- options --

    @classmethod
    def complete_options(cls, players: int, given: Mapping[str, Any]) -> Json:
        options = super().complete_options(players, given)
        return {**options, "deals": _deals(players, options)}

    # -- set-up of the match --

    def set_up(self) -> None:
        self.stacks = [self.options["stack"]] * self.players
        self.board = dict.fromkeys(BOARD, 0)
        self._clear_table()
        self.emit("match_start", game=self.name, players=self.players, options=self.options)
        self.ask_draw("first_dealer", range(self.players))  # RR-04

    def settle(self, asked: Json, outcome: Any) -> None:
        match asked:
            case {"kind": "draw", "what": what, "among": among}:
                self.emit("draw", what=what, among=among, result=outcome)
                self._seat_dealer(what, outcome)
            case _ if self.final_dealer is None:
                self._deal(list(outcome))
            case _:
                self._deal_out(self.final_dealer, list(outcome))

    def _seat_dealer(self, what: str, drawn: Seat) -> None:
        if what == "first_dealer":
            self._open_deal(drawn)
        else:
            self.final_dealer = drawn
            self.ask_deck(DECK)

    # -- a deal: ante and cards --

    def _open_deal(self, dealer: Seat) -> None:
        self.deal += 1
        self.dealer = dealer
        self._clear_table()
        each = self.options["ante"]
        self.stacks = [stack - each * len(BOARD) for stack in self.stacks]  # RR-03, RR-05: in full
        self.board = {space: chips + each * self.players for space, chips in self.board.items()}
        self.emit("ante", deal=self.deal, each=each * len(BOARD), stacks=self.stacks[:], board={**self.board})
        self.ask_deck(DECK)

    def _clear_table(self) -> None:
        self.phase = "dealer"
        self.hands = [[] for _ in range(self.players)]
        self.dead, self.fate, self.taker = [], "undecided", None
        self.amount, self.bidder, self.passed = 0, None, []
        self.holder, self.colour, self.leads = {}, "any", []
        self.played, self.no_colour = [], []

    def _deal(self, deck: list[str]) -> None:
        dealer, places = self._dealer(), self.players + 1
        for place, seat in enumerate(self.seats_from(dealer + 1)):  # RR-06: the extra hand comes last
            self.hands[seat] = in_order(deck[place::places])
        self.dead = in_order(deck[self.players :: places])
        self.emit(
            "deal", deal=self.deal, dealer=dealer, deck=deck, hands=[hand[:] for hand in self.hands], extra=self.dead[:]
        )
        self.ask("dealer", [dealer])

    def _dealer(self) -> Seat:
        assert self.dealer is not None, "there is a dealer from the first draw on"
        return self.dealer

    # -- decisions: what is legal --

    def legal(self, seat: Seat) -> list[Json]:
        match self.phase:
            case "dealer":
                return [*CHOICES]
            case "auction":
                return [PASS, BIDS[self.amount + 1]]  # seats that cannot bid are not asked
            case _:
                return [LEADS[card] for card in self.leads]

    def validate_action(self, seat: Seat, action: Any) -> Json:
        meant = self._find_legal_action(action) if type(action) is dict else None
        if meant is None or meant != action:
            raise IllegalAction(f"seat {seat} may not play {str(action)[:200]} in {self.phase!r}")
        return meant

    def _find_legal_action(self, action: Json) -> Json | None:
        """Return the only legal action that ``action`` can mean, or None. The caller compares all members."""
        if self.phase == "lead":
            card = action.get("card")
            return LEADS[card] if card in self.leads else None
        if self.phase == "dealer":
            return next((choice for choice in CHOICES if choice == action), None)
        amount = action.get("amount")
        if amount is None:
            return PASS
        return BIDS[amount] if type(amount) is int and amount == self.amount + 1 else None

    def _may_bid(self, seat: Seat) -> bool:
        return self.amount < self.options["max_bid"] and self.amount < self.stacks[seat]  # RR-11

    def find_leads(self, seat: Seat) -> list[str]:
        """Return the lowest card of each suit of the colour due, in the order of the suits."""
        lowest = {card[1]: card for card in reversed(self.hands[seat])}
        return [lowest[suit] for suit in SUITS_DUE[self.colour] if suit in lowest]

    # -- decisions: what follows --

    def act(self, seat: Seat, action: Json) -> None:
        match self.phase:
            case "lead":
                self._play_on(seat, action["card"])
            case "dealer":
                self._decide(seat, action["type"])
            case _:
                self._call(seat, action.get("amount"))

    # -- the dealer's choice --

    def _decide(self, seat: Seat, choice: str) -> None:
        if choice == "swap":
            self.fate = "swapped"
            self._take_extra(seat)
            self.emit("swap", deal=self.deal, seat=seat, hand=self.hands[seat][:], discarded=self.dead[:])
            self._open_play()
        elif choice == "keep":
            self.fate = "aside"
            self.emit("keep", deal=self.deal, seat=seat)
            self._open_play()
        else:
            self.fate = "auction"
            self.emit("sell", deal=self.deal, seat=seat)
            self._auction(seat + 1)

    def _take_extra(self, seat: Seat) -> None:
        """Give the seat the extra hand in exchange for its own hand, for the rest of the deal."""
        self.taker = seat
        self.hands[seat], self.dead = self.dead, self.hands[seat]

    # -- the auction --

    def _auction(self, first: Seat) -> None:
        """Ask the next seat that can bid, from ``first`` clockwise.

        Seats that cannot bid pass for good (RR-10, RR-13).
        """
        for seat in self.seats_from(first):
            if seat in (self.dealer, self.bidder) or seat in self.passed:
                continue
            if self._may_bid(seat):
                self.ask("auction", [seat])
                return
            self._pass(seat)
        self._knock_down()

    def _call(self, seat: Seat, amount: int | None) -> None:
        if amount is None:
            self._pass(seat)
        else:
            self.amount, self.bidder = amount, seat
            self.emit("bid", deal=self.deal, seat=seat, amount=amount)
        self._auction(seat + 1)

    def _pass(self, seat: Seat) -> None:
        self.passed.append(seat)
        self.emit("pass", deal=self.deal, seat=seat)

    def _knock_down(self) -> None:
        if self.bidder is None:
            self.fate = "unsold"
            self.emit("unsold", deal=self.deal)
        else:
            self.fate = "sold"
            self._sell(self.bidder)
        self._open_play()

    def _sell(self, buyer: Seat) -> None:
        self.stacks[buyer] -= self.amount
        self.stacks[self._dealer()] += self.amount  # RR-09
        self._take_extra(buyer)
        self.emit(
            "sold",
            deal=self.deal,
            seat=buyer,
            amount=self.amount,
            hand=self.hands[buyer][:],
            discarded=self.dead[:],
            stacks=self.stacks[:],
            board={**self.board},
        )

    # -- play: sequences and stops --

    def _open_play(self) -> None:
        self.index_hands()
        self._play_on(*self._next_lead(self._dealer() + 1))

    def index_hands(self) -> None:
        """Derive ``holder`` from the hands."""
        self.holder = {card: seat for seat, hand in enumerate(self.hands) for card in hand}

    def _play_on(self, seat: Seat, lead: str | None) -> None:
        """Play a lead and all forced leads after it, until a seat has a choice or the deal is over (RR-13)."""
        while lead is not None:
            seat = self._play_sequence(seat, lead)
            if not self.hands[seat]:
                self._pay_up(seat)
                return
            self._stop(seat)
            seat, lead = self._next_lead(seat)

    def _play_sequence(self, seat: Seat, lead: str) -> Seat:
        """Play the lead and the cards that it forces. Return the seat that played the last of these cards."""
        card, deal, holder, paying = lead, self.deal, self.holder, PAYING[self.options["sequence"]]
        while True:
            hand = self.hands[seat]
            hand.remove(card)
            del holder[card]
            self.played.append(LAID[seat][card])
            # emit() is inlined for speed, because this is the most frequent event.
            self.unsent.append({"event": "play", "deal": deal, "seat": seat, "card": card, "lead": card == lead})
            if card in paying:
                self._pay(seat, card)
            card = NEXT[card]
            # RR-12: no seat holds a card that is dead or was played before.
            follower = holder.get(card)
            if follower is None or not hand:
                return seat
            seat = follower

    def _stop(self, seat: Seat) -> None:
        card = self.played[-1]["card"]
        self.colour = OPPOSITE[card[1]]
        self.emit("stop", deal=self.deal, seat=seat, card=card, colour=self.colour)

    def _next_lead(self, first: Seat) -> tuple[Seat, str | None]:
        """Pass the lead from ``first`` to a seat that has the colour. Return that seat and the card that it must lead.

        The card is None if the seat has a choice and was asked, and if no seat has the colour, which ends the deal.
        """
        for seat in self.seats_from(first):
            leads = self.leads = self.find_leads(seat)
            if len(leads) > 1:
                self.ask("lead", [seat])
                return seat, None
            if leads:
                return seat, leads[0]
            self.no_colour.append({"seat": seat, "colour": self.colour, "after": len(self.played)})
            self.emit("no_colour", deal=self.deal, seat=seat, colour=self.colour)
        self._pay_up(None)
        return first, None

    # -- play: pay spaces --

    def _pay(self, seat: Seat, card: str) -> None:
        ranks = self.options["sequence"]
        if card in self.board:
            self._win(seat, card)
        # RR-14: a seat that has all cards of a combination always plays them consecutively.
        if card == "Kh" and self._played_last(seat, "Qh", "Kh"):
            self._win(seat, "QK")
        if card[0] == ranks[-1] and self._played_last(seat, *(rank + card[1] for rank in ranks)):
            self._win(seat, "seq")

    def _played_last(self, seat: Seat, *cards: str) -> bool:
        """Return whether this seat played these cards last, in this order."""
        return self.played[-len(cards) :] == [LAID[seat][card] for card in cards]

    def _win(self, seat: Seat, space: str) -> None:
        chips = self.board[space]
        if chips:
            self.stacks[seat] += chips
            self.board[space] = 0
            self.emit("pay", deal=self.deal, seat=seat, space=space, chips=chips)

    # -- paying up --

    def _pay_up(self, winner: Seat | None) -> None:
        left = [len(hand) for hand in self.hands]
        self.stacks = [stack - cards for stack, cards in zip(self.stacks, left, strict=True)]
        if winner is None:
            self.board["kitty"] += sum(left)
        else:
            self.stacks[winner] += sum(left)
            self._win(winner, "kitty")  # RR-16: after the spaces of the card
            if winner == self.dealer:
                self._win(winner, "pot")
        self.emit(
            "deal_end", deal=self.deal, winner=winner, cards_left=left, stacks=self.stacks[:], board={**self.board}
        )
        if self.deal < self.options["deals"]:
            self._open_deal((self._dealer() + 1) % self.players)
        else:
            self._close_board()

    # -- end of the match --

    def _close_board(self) -> None:
        """Distribute all chips not won over the pay cards; the remainder goes chip by chip from the ten on (RR-15)."""
        each, first = divmod(sum(self.board.values()), len(PAY_CARDS))
        if not each and not first:
            self._end()
            return
        self.board = dict.fromkeys(BOARD, 0)
        for place, card in enumerate(PAY_CARDS):
            self.board[card] = each + (place < first)
        self.ask_draw("final_dealer", range(self.players))

    def _deal_out(self, dealer: Seat, deck: list[str]) -> None:
        """Deal face up until all pay cards are out. The seat that gets a pay card gets its chips."""
        spaces = {card: self.board[card] for card in PAY_CARDS}
        won: list[Json] = [
            {"seat": (dealer + 1 + place) % self.players, "card": card, "chips": spaces[card]}
            for place, card in enumerate(deck)
            if card in spaces
        ]
        for prize in won:
            self.stacks[prize["seat"]] += prize["chips"]
            self.board[prize["card"]] = 0
        self.emit(
            "final_deal",
            dealer=dealer,
            spaces=spaces,
            deck=deck,
            dealt=1 + deck.index(won[-1]["card"]),
            won=won,
            stacks=self.stacks[:],
            board={**self.board},
        )
        self._end()

    def _end(self) -> None:
        self.phase = "over"
        self.emit("match_end", scores=self.scores(), placements=self.placements(), returns=self.returns())

    def scores(self) -> list[int]:
        return self.stacks[:]

    def returns(self) -> list[int]:
        return [stack - self.options["stack"] for stack in self.stacks]

    def placements(self) -> list[int]:
        return rank_seats(self.stacks)  # RR-17: equal stacks share a place

    # -- what may be seen --

    def observation(self, seat: Seat) -> Json:
        return {
            "game": self.name,
            "players": self.players,
            "options": self.options,
            "seat": seat,
            "deal": self.deal,
            "dealer": self.dealer,
            "phase": self.phase,
            "to_act": self.to_act(),
            "hand": self._own_hand(seat),
            "hand_sizes": [*map(len, self.hands)],
            "stacks": self.stacks[:],
            "board": {**self.board},
            "extra": {"fate": self.fate, "seat": self.taker, "price": self.amount if self.fate == "sold" else 0},
            "dead_size": len(self.dead),
            "discarded": self._visible_discards(seat),
            "auction": {"amount": self.amount, "seat": self.bidder, "passed": self.passed[:]},
            "colour": self.colour,
            "played": self.played[:],
            "no_colour": self.no_colour[:],
        }

    def _own_hand(self, seat: Seat) -> list[str]:
        hand = self.hands[seat]
        choosing = self.phase == "dealer" and seat == self.dealer
        return hide_cards(hand) if choosing and not self.options["dealer_looks"] else hand[:]  # RR-08

    def _visible_discards(self, seat: Seat) -> list[str] | None:
        if seat != self.taker:
            return None
        blind = self.fate == "swapped" and not self.options["dealer_looks"]
        return hide_cards(self.dead) if blind else self.dead[:]

    @classmethod
    def mask_event(cls, event: Event, viewer: Seat | None) -> Event:
        """Mask the event as if the dealer never looked at the hand (RR-08), because options are not known here."""
        return _mask_event(event, viewer, looked=False)

    @classmethod
    def visible_events(cls, events: Sequence[Event], viewer: Seat | None, options: Json) -> list[Event]:
        looks = options["dealer_looks"]
        kept = {event["deal"] for event in events if event["event"] in ("keep", "sell")}
        return [_mask_event(event, viewer, looked=looks or event.get("deal") in kept) for event in events]

    @classmethod
    def may_be_forced(cls, event: Event) -> bool:
        return event["event"] == "play" and bool(event["lead"])  # RR-13; a forced pass follows from the stacks

    @classmethod
    def legal_bound(cls, players: int) -> int:
        return 4

    @classmethod
    def decision_bound(cls, players: int, options: Json) -> int:
        choice, auction = 1, int(options["max_bid"]) + players - 1
        return _deals(players, options) * (choice + auction + len(DECK) - len(DECK) // (players + 1))


def _mask_event(event: Event, viewer: Seat | None, *, looked: bool) -> Event:
    """Return the event as ``viewer`` may see it. With ``looked``, the dealer may see the hand dealt to it."""
    match event:
        case {"event": "deal", "dealer": dealer, "deck": deck, "hands": hands, "extra": extra}:
            own = viewer if looked or viewer != dealer else None
            shown = [hand if seat == own else hide_cards(hand) for seat, hand in enumerate(hands)]
            return {**event, "deck": hide_cards(deck), "hands": shown, "extra": hide_cards(extra)}
        case {"event": "swap" | "sold" as kind, "seat": seat, "hand": hand, "discarded": discarded}:
            if seat != viewer:
                return {**event, "hand": hide_cards(hand), "discarded": hide_cards(discarded)}
            return event if looked or kind == "sold" else {**event, "discarded": hide_cards(discarded)}
    return event


def _deals(players: int, options: Json) -> int:
    """Return the number of deals of a match (RR-04)."""
    return int(options["deals"]) or 2 * players
