"""Play Pool Nap: draw the first dealer, then play rounds of contribution -> deck -> bid -> five tricks -> payout.

The code follows the order of the rules page, whose rulings are ``PN-nn``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from referee.errors import BadOption, IllegalAction
from referee.games.cards import DECK, RANK, in_order
from referee.games.options import Option
from referee.games.state import Json, Seat, Secret, State, rank_seats

HAND = 5  # cards of a seat and tricks of a round
NAP = 5  # a bid of every trick
LEAST_ROUNDS = 20  # `rounds` 0 means the smallest multiple of the seats from this number on

# All possible actions, created once. Callers must not modify them.
PASS: Json = {"type": "pass"}
BIDS: list[Json] = [{"type": "bid", "tricks": tricks} for tricks in range(NAP + 1)]
PLAYS: dict[str, Json] = {card: {"type": "play", "card": card} for card in DECK}


@dataclass
class PoolNap(State):
    """Represent a match of Pool Nap for two to ten seats."""

    name = "pool-nap"
    rules_version = 1
    opening = "round_start"
    secrets = (Secret("deal", "deck"), Secret("deal", "hands", by_seat=True))
    seats = range(2, 11)
    standard_seats = 4
    questions_per_seat = 100
    option_specs = (
        Option(
            "start_chips",
            "int",
            50,
            "chips of each seat before the opening pot",
            "Each seat begins with {value} chips instead of {default}.",
            low=2,
            high=100_000,
        ),  # PN-01
        Option(
            "ante",
            "int",
            1,
            "contribution to the pot; less than start_chips",
            "Each seat pays {value} chips to the pot instead of {default}.",
            low=1,
            high=99_999,
        ),  # PN-01
        Option(
            "ending",
            "choice",
            "rounds",
            "which ending is played",
            {"last_player": "The match lasts until only one seat has chips."},
            choices=("rounds", "last_player"),
        ),  # PN-02
        Option(
            "rounds",
            "int",
            0,
            "rounds of ending rounds; 0: a multiple of the seats",
            "The match has {value} round{s}.",
            low=0,
            high=1000,
        ),
        Option(
            "round_cap",
            "int",
            300,
            "last round of ending last_player",
            "Round {value} is the last in any case, instead of round {default}.",
            low=1,
            high=1000,
        ),
        Option(
            "min_bid", "int", 1, "lowest bid", "The lowest bid is {value} tricks instead of {default}.", low=1, high=3
        ),  # PN-05
        Option(
            "all_pass",
            "choice",
            "next_dealer",
            "when nobody bids: the next seat deals, or the dealer must bid",
            {"dealer_bids": "The dealer must bid when all others pass."},
            choices=("next_dealer", "dealer_bids"),
        ),  # PN-08
        Option(
            "bid_cover",
            "bool",
            True,
            "a bidder must be able to pay for a failed bid",
            "A bidder need not be able to pay for a failed bid.",
        ),  # PN-09
        Option(
            "first_dealer_pays",
            "bool",
            False,
            "the dealer of round 1 contributes too",
            "The dealer of the first round pays a second ante.",
        ),  # PN-03
        Option(
            "pot_end",
            "choice",
            "split",
            "the last pot: shared, or nobody's",
            {"stay": "Nobody gets the pot at the end."},
            choices=("split", "stay"),
        ),  # PN-17
    )

    chips: list[int] = field(default_factory=list)
    pot: int = 0
    out_round: list[int | None] = field(default_factory=list)  # the round a seat went out in
    round: int = 0
    dealer: Seat | None = None
    order: list[Seat] = field(default_factory=list)  # of this round: left of the dealer first, the dealer last
    hands: list[list[str]] = field(default_factory=list)  # canonical order
    aside: list[str] = field(default_factory=list)  # cards not dealt in this round
    bids: list[Json] = field(default_factory=list)  # {"seat", "tricks"}, a pass is 0
    bid: int = 0  # the highest bid so far
    bidder: Seat | None = None
    trump: str | None = None
    trick: list[Json] = field(default_factory=list)  # {"seat", "card"} in order of play
    tricks: list[Json] = field(default_factory=list)  # {"leader", "cards", "winner"}, finished
    tricks_won: list[int] = field(default_factory=list)

    # -- options --

    @classmethod
    def complete_options(cls, players: int, given: Mapping[str, Any]) -> Json:
        options = super().complete_options(players, given)
        if options["ante"] >= options["start_chips"]:
            raise BadOption("ante", f"expected less than start_chips {options['start_chips']}")
        return options

    @property
    def round_limit(self) -> int:
        return _round_limit(self.players, self.options)

    # -- set-up of the match --

    def set_up(self) -> None:
        start, ante = self.options["start_chips"], self.options["ante"]
        self.chips = [start] * self.players
        self.out_round = [None] * self.players
        self._clear_table()
        self.phase = "bid"
        self.emit(
            "match_start",
            game=self.name,
            players=self.players,
            options=self.options,
            round_limit=self.round_limit,
            chips=self.chips,
        )
        self.chips = [start - ante] * self.players
        self.pot = ante * self.players
        self.emit("opening_pot", each=ante, chips=self.chips[:], pot=self.pot)
        self.ask_draw("first_dealer", range(self.players))  # PN-04

    def settle(self, asked: Json, outcome: Any) -> None:
        if asked["kind"] == "deck":
            self._deal(list(outcome))
        else:
            self.emit("draw", what="first_dealer", among=asked["among"], result=outcome)
            self._open_round(outcome)

    # -- set-up of a round --

    def _open_round(self, dealer: Seat) -> None:
        self.round += 1
        self.dealer = dealer
        paid = 0
        if self.round > 1 or self.options["first_dealer_pays"]:  # PN-03
            paid = min(self.options["ante"], self.chips[dealer])  # PN-10
        self.chips[dealer] -= paid
        self.pot += paid
        self._clear_table()
        self.order = [seat for seat in self.seats_from(dealer + 1) if self.out_round[seat] is None]
        self.emit(
            "round_start",
            round=self.round,
            dealer=dealer,
            order=self.order[:],
            dealer_paid=paid,
            chips=self.chips[:],
            pot=self.pot,
        )
        self.phase = "bid"
        self.ask_deck(DECK)  # PN-11: the full deck every round

    def _clear_table(self) -> None:
        self.hands = [[] for _ in range(self.players)]
        self.aside = []
        self.bids, self.bid, self.bidder = [], 0, None
        self.trump, self.trick, self.tricks = None, [], []
        self.tricks_won = [0] * self.players

    def _deal(self, deck: list[str]) -> None:
        seats = len(self.order)
        for i, seat in enumerate(self.order):  # PN-11: three, then two
            two = 3 * seats + 2 * i
            self.hands[seat] = in_order(deck[3 * i : 3 * i + 3] + deck[two : two + 2])
        self.aside = deck[HAND * seats :]
        self.emit("deal", round=self.round, deck=deck, hands=[hand[:] for hand in self.hands])
        self.ask("bid", self.order)  # PN-06

    # -- decisions: what is legal --

    def legal(self, seat: Seat) -> list[Json]:
        if self.phase == "bid":
            bids = BIDS[self._lowest_bid() : self._highest_bid(seat) + 1]
            return bids if self._must_bid(seat) else [PASS, *bids]
        return [PLAYS[card] for card in self._playable(seat)]

    def validate_action(self, seat: Seat, action: Any) -> Json:
        meant = self._find_legal_action(seat, action) if type(action) is dict else None
        if meant is None or meant != action:
            raise IllegalAction(f"seat {seat} may not play {str(action)[:200]} in {self.phase!r}")
        return meant

    def _find_legal_action(self, seat: Seat, action: Json) -> Json | None:
        """Return the only legal action that ``action`` can mean, or None. The caller compares all members."""
        if self.phase == "play":
            card = action.get("card")
            return PLAYS[card] if type(card) is str and self._may_play(seat, card) else None
        tricks = action.get("tricks")
        if tricks is None:
            return None if self._must_bid(seat) else PASS
        fits = type(tricks) is int and self._lowest_bid() <= tricks <= self._highest_bid(seat)
        return BIDS[tricks] if fits else None

    def forced_action(self, seat: Seat) -> Json | None:
        # Chips, bids and hand sizes are public. The other seats do not know when only one of several cards is legal.
        if self.phase == "bid" or len(self.hands[seat]) == 1:
            legal = self.legal(seat)
            return legal[0] if len(legal) == 1 else None
        return None

    def _lowest_bid(self) -> int:
        low: int = self.options["min_bid"]
        return max(low, self.bid + 1)

    def _highest_bid(self, seat: Seat) -> int:
        if not self.options["bid_cover"]:
            return NAP
        covered = min(NAP, self.chips[seat] // (len(self.order) - 1))  # PN-09
        if self._must_bid(seat):
            return max(covered, self._lowest_bid())  # PN-08: the forced bid needs no cover
        return covered

    def _must_bid(self, seat: Seat) -> bool:
        """Return whether this is the dealer, all others have passed, and the options make the dealer bid (PN-08)."""
        return seat == self.dealer and self.bid == 0 and self.options["all_pass"] == "dealer_bids"  # noqa: S105  # no password

    def _may_play(self, seat: Seat, card: str) -> bool:
        # A card of the suit led is legal regardless of the rest of the hand.
        hand = self.hands[seat]
        return card in hand and (not self.trick or card[1] == self.trick[0]["card"][1] or card in self._playable(seat))

    def _playable(self, seat: Seat) -> list[str]:
        hand = self.hands[seat]
        if not self.trick:
            return hand
        led = self.trick[0]["card"][1]
        return [card for card in hand if card[1] == led] or hand  # PN-13: no duty to trump or to beat

    # -- decisions: what follows --

    def act(self, seat: Seat, action: Json) -> None:
        if self.phase == "play":
            self._play(seat, action["card"])
        else:
            self._bid(seat, action.get("tricks", 0))

    def _bid(self, seat: Seat, tricks: int) -> None:
        self.bids.append({"seat": seat, "tricks": tricks})
        self.emit("bid", round=self.round, seat=seat, tricks=tricks)
        if tricks:
            self.bid, self.bidder = tricks, seat
        if self.queue and self.bid < NAP:  # PN-07: nothing beats a nap
            return
        if self.bidder is None:
            self.queue = []
            self.emit("passed_out", round=self.round)  # PN-08: it counts as a round
            self._close_round()
        else:
            self.emit("contract", round=self.round, seat=self.bidder, tricks=self.bid)
            self._ask_trick(self.bidder)

    def _ask_trick(self, leader: Seat) -> None:
        place = self.order.index(leader)
        self.ask("play", self.order[place:] + self.order[:place])

    def _play(self, seat: Seat, card: str) -> None:
        if self.trump is None:
            self.trump = card[1]  # PN-12: the suit of the bidder's first lead
            self.emit("trump", round=self.round, seat=seat, suit=self.trump)
        self.hands[seat].remove(card)
        self.trick.append({"seat": seat, "card": card})
        self.emit("play", round=self.round, trick=len(self.tricks) + 1, seat=seat, card=card)
        if not self.queue:
            self._close_trick()

    def _close_trick(self) -> None:
        led = self.trick[0]["card"][1]
        laid = {entry["card"]: entry["seat"] for entry in self.trick}
        best = [card for card in laid if card[1] == self.trump] or [card for card in laid if card[1] == led]
        winner: Seat = laid[max(best, key=RANK.__getitem__)]
        self.tricks_won[winner] += 1
        self.tricks.append({"leader": self.trick[0]["seat"], "cards": self.trick, "winner": winner})
        self.trick = []
        self.emit("trick", round=self.round, trick=len(self.tricks), winner=winner, tricks_won=self.tricks_won[:])
        if len(self.tricks) < HAND:  # PN-20: all five are played
            self._ask_trick(winner)
        else:
            self._pay_out()

    # -- payout --

    def _pay_out(self) -> None:
        bidder = self.bidder
        assert bidder is not None
        place = self.order.index(bidder)
        others = self.order[place + 1 :] + self.order[:place]
        made = self.tricks_won[bidder] >= self.bid
        payments = self._payments_to(bidder, others) if made else self._payments_by(bidder, others)
        for payer, payee, chips in payments:
            self.chips[payer] -= chips
            self.chips[payee] += chips
        nap = self.bid == NAP
        pot_won = self.pot if nap and made else 0  # PN-18
        pot_paid = min(self.pot, self.chips[bidder]) if nap and not made else 0  # PN-15
        self.chips[bidder] += pot_won - pot_paid
        self.pot += pot_paid - pot_won
        self.emit(
            "payout",
            round=self.round,
            seat=bidder,
            bid=self.bid,
            tricks=self.tricks_won[bidder],
            made=made,
            payments=payments,
            pot_won=pot_won,
            pot_paid=pot_paid,
            chips=self.chips[:],
            pot=self.pot,
        )
        self._close_round()

    def _payments_to(self, bidder: Seat, others: list[Seat]) -> list[list[int]]:
        return [[other, bidder, min(self.bid, self.chips[other])] for other in others]

    def _payments_by(self, bidder: Seat, others: list[Seat]) -> list[list[int]]:
        """Return [payer, payee, chips] lists.

        The bidder pays chip by chip clockwise, as far as its chips last (PN-14).
        """
        each, first = divmod(min(self.bid * len(others), self.chips[bidder]), len(others))
        return [[bidder, other, each + (i < first)] for i, other in enumerate(others)]

    # -- end of a round, end of the match --

    def _close_round(self) -> None:
        for seat in sorted(self.order):
            if self.chips[seat] == 0:  # PN-16
                self.out_round[seat] = self.round
                self.emit("out", round=self.round, seat=seat)
        left = self._seats_in_play()
        if len(left) == 1 or self.round == self.round_limit:
            self._end(left)
        else:
            self._open_round(next(seat for seat in self.order if seat in left))  # PN-04

    def _seats_in_play(self) -> list[Seat]:
        return [seat for seat in range(self.players) if self.out_round[seat] is None]

    def _end(self, left: list[Seat]) -> None:
        self.phase = "over"
        share = self.pot // len(left) if self.options["pot_end"] == "split" else 0  # PN-17
        for seat in left:
            self.chips[seat] += share
        self.pot -= share * len(left)
        self.emit(
            "match_end",
            rounds=self.round,
            reason="last_player" if len(left) == 1 else "rounds",  # PN-02: under either ending
            share=share,
            pot=self.pot,
            chips=self.chips[:],
            scores=self.scores(),
            out_round=self.out_round[:],
            placements=self.placements(),
            returns=self.returns(),
        )

    def scores(self) -> list[int]:
        return self.chips[:]

    def returns(self) -> list[int]:
        return [chips - self.options["start_chips"] for chips in self.chips]

    def placements(self) -> list[int]:
        """Rank the seats that are still in by chips, then those that are out, the last to go out first (PN-16)."""
        return rank_seats(
            [(1, self.chips[seat]) if out is None else (0, out) for seat, out in enumerate(self.out_round)]
        )

    # -- what may be seen --

    def observation(self, seat: Seat) -> Json:
        return {
            "game": self.name,
            "seat": seat,
            "players": self.players,
            "options": self.options,
            "phase": self.phase,
            "round": self.round,
            "round_limit": self.round_limit,
            "dealer": self.dealer,
            "to_act": self.to_act(),
            "chips": self.chips[:],
            "pot": self.pot,
            "out_round": self.out_round[:],
            "hand": self.hands[seat][:],
            "hand_sizes": [len(hand) for hand in self.hands],
            "bids": self.bids[:],
            "bid": self.bid,
            "bidder": self.bidder,
            "trump": self.trump,
            "trick": self.trick[:],
            "tricks": self.tricks[:],
            "tricks_won": self.tricks_won[:],
        }

    @classmethod
    def legal_bound(cls, players: int) -> int:
        return 6

    @classmethod
    def decision_bound(cls, players: int, options: Json) -> int:
        return (1 + HAND) * players * _round_limit(players, options)


def _round_limit(players: int, options: Json) -> int:
    """Return the number of the last possible round."""
    if options["ending"] == "last_player":
        return int(options["round_cap"])
    return int(options["rounds"]) or -(-LEAST_ROUNDS // players) * players
