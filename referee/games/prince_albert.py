"""Play Prince Albert: opener, votes, rounds of deal -> bet -> bid -> bet -> draw -> all in -> bet -> show -> score.

The code follows the order of the rules page, whose rulings are ``PA-nn``. Separate modules handle the cards, betting
and votes; ``poker.py`` ranks hands.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from referee.errors import BadOption, IllegalAction
from referee.games.cards import DECK
from referee.games.poker import rank
from referee.games.prince_albert_betting import WAGER, Betting
from referee.games.prince_albert_drawing import PASS, Drawing
from referee.games.prince_albert_options import OPTIONS
from referee.games.prince_albert_votes import THROW, THROWS, VOTE, Votes
from referee.games.state import Event, Json, Seat, rank_seats

EIGHT = 8  # the stake is EIGHT - bid

# All possible actions, created once. Callers must not modify them.
BIDS: list[Json] = [{"type": "bid", "cards": cards} for cards in range(EIGHT + 1)]
OFFERS: list[list[Json]] = [[*BIDS[highest::-1], PASS] for highest in range(EIGHT + 1)]  # by the highest bid left
ALL_IN: dict[str, Json] = {kind: {"type": kind} for kind in ("all_in", "stay")}
SHOW: dict[str, Json] = {kind: {"type": kind} for kind in ("show", "hide")}
TOLD_NEXT_ROUND = {"show", "hide", "pot", "round_end"}


@dataclass
class PrinceAlbert(Votes, Betting, Drawing):
    """Represent a match of Prince Albert for two to five seats."""

    name = "prince-albert"
    rules_version = 1
    opening = "round"
    seats = range(2, 6)
    standard_seats = 4
    questions_per_seat = 180
    option_specs = OPTIONS

    round: int = 0
    points: list[int] = field(default_factory=list)
    bids: list[int | None] = field(default_factory=list)  # the last bid of each seat
    bid: int | None = None  # the lowest bid of the round
    bid_out: list[bool] = field(default_factory=list)
    stake: int = 0
    all_in: list[bool] = field(default_factory=list)
    history: list[Event] = field(default_factory=list)  # events of this round, unmasked
    previous: list[Event] = field(default_factory=list)  # events of the round before that are still shown

    # -- options --

    @classmethod
    def complete_options(cls, players: int, given: Mapping[str, Any]) -> Json:
        options = super().complete_options(players, given)
        if options["rank_by"] == "chips" and not options["cash"]:
            raise BadOption("rank_by", "expected points: there are no chips without cash")
        if options["point_value"] and options["rank_by"] != "chips":
            raise BadOption("point_value", "expected 0: only with rank_by chips is a point worth chips")
        return options

    @property
    def highest_bid(self) -> int:
        return EIGHT if self.players < 5 else 5  # PA-24

    @property
    def bonus(self) -> int:
        return 2 if self.players < 5 else 3  # PA-24

    # -- set-up of the match --

    def set_up(self) -> None:
        self.points = [0] * self.players
        self.chips = [self.options["stack"] if self.options["cash"] else 0] * self.players
        self._clear_table()
        self.motions = self.options["vote"][:]
        self.phase = "vote" if self.motions else self._first_phase()
        self.emit("match_start", game=self.name, players=self.players, options=self.options)
        self.ask_draw("opener", range(self.players))  # PA-01

    def settle(self, asked: Json, outcome: Any) -> None:
        if asked["kind"] == "deck":
            self._start_round(outcome)
        elif asked["what"] == "throw":
            self.settle_throw(outcome)
        else:
            self.opener = outcome
            self.emit("opener", seat=outcome)
            self.open_votes()

    def close_votes(self) -> None:
        self._open_round()

    def _first_phase(self) -> str:
        return "bet1" if self.options["cash"] else "bidding"

    # -- set-up of a round --

    def _open_round(self) -> None:
        self.round += 1
        self._clear_table()
        self.previous = [event for event in self.history if event["event"] in TOLD_NEXT_ROUND]
        self.history = []
        self.emit("round", round=self.round, opener=self.opener, scores=self.points[:], chips=self.chips[:])
        self.phase = self._first_phase()
        self.ask_deck(DECK)

    def _clear_table(self) -> None:
        self.clear_cards()
        self.clear_betting()
        self.bids, self.bid, self.bid_out = [None] * self.players, None, [False] * self.players
        self.stake, self.all_in = 0, [False] * self.players

    def _start_round(self, deck: list[str]) -> None:
        order = self._clockwise()
        self.deal(deck, order)
        if self.options["cash"]:
            self.take_antes(order)
        self._bet("bet1")

    def _clockwise(self) -> list[Seat]:
        """Return all seats clockwise from the first low bidder, or from the opener before there is one."""
        first = self.low_bidders[0] if self.low_bidders else self.opener
        assert first is not None
        return self.seats_from(first)

    # -- betting --

    def _bet(self, phase: str) -> None:
        if self.options["cash"]:
            self.open_betting(phase, self._clockwise()[0])  # PA-28
        else:
            self.phase = phase
            self.close_betting()

    def close_betting(self) -> None:
        if self.phase == "bet3" or len(self.seats_in()) == 1:  # PA-35
            self._open_showing()
        elif self.phase == "bet2":
            self._draw()
        else:
            self._open_bidding()

    # -- bidding --

    def _open_bidding(self) -> None:
        self.bid_out = self.folded[:]
        self.ask("bidding", [seat for seat in self._clockwise() if not self.folded[seat]])

    def _offer(self, seat: Seat, cards: int) -> None:
        self.bids[seat] = cards
        self.emit("bid", seat=seat, cards=cards)
        if self.bid == 0:  # PA-07, PA-09: a zero on top of a zero
            self.low_bidders.append(seat)
        else:
            self.bid, self.low_bidders = cards, [seat]
            self.queue = [other for other in self.seats_from(seat)[1:] if not self.bid_out[other]]  # PA-03
        self._after_bidder()

    def _pass_bidding(self, seat: Seat) -> None:
        self.bid_out[seat] = True
        self.emit("pass", seat=seat, phase="bidding")
        self._after_bidder()

    def _after_bidder(self) -> None:
        if self.queue:
            return
        bid = self.bid
        assert bid is not None
        self.stake = max(1, EIGHT - bid)  # PA-10
        self.draws = bid or 1  # PA-08
        self.emit("contract", low_bidders=self.low_bidders[:], bid=bid, stake=self.stake, draws=self.draws)
        self._bet("bet2")

    # -- drawing --

    def _draw(self) -> None:
        low = self.low_bidders if self.bid == 0 else []  # PA-08: seats that bid zero draw nothing
        draw_out = [folded or seat in low for seat, folded in enumerate(self.folded)]
        self.open_drawing(self._clockwise(), draw_out)

    def close_drawing(self) -> None:
        self._open_all_in()

    # -- all in --

    def _open_all_in(self) -> None:
        seats = [seat for seat in self.seats_in() if seat not in self.low_bidders and self.points[seat] > 0]
        if seats:
            self.ask("all_in", seats, together=True)  # PA-27
        else:
            self._bet("bet3")

    def _go_all_in(self, actions: dict[Seat, Json]) -> None:
        seats = [seat for seat, action in actions.items() if action["type"] == "all_in"]
        for seat in seats:
            self.all_in[seat] = True
        self.emit("all_in", seats=seats)
        self._bet("bet3")

    # -- showing --

    def _open_showing(self) -> None:
        left = [seat for seat in self._clockwise() if not self.folded[seat]]
        bound = [seat for seat in left if seat in self.low_bidders or self.all_in[seat]]
        if len(left) > 1 and (not bound or self.options["showing"] == "all"):  # PA-22
            bound = left
        for seat in bound:  # PA-23: before the others choose
            self.show(seat, must=True)
        free = sorted({*left} - {*bound}) if len(left) > 1 else []
        if free:
            self.ask("show", free, together=True)
        else:
            self._score()

    def _choose_showing(self, actions: dict[Seat, Json]) -> None:
        for seat in self._clockwise():
            if actions.get(seat) == SHOW["show"]:
                self.show(seat, must=False)
            elif seat in actions:
                self.emit("hide", seat=seat)
        self._score()

    # -- decisions: what is legal --

    def legal(self, seat: Seat) -> list[Json]:
        match self.phase:
            case "drawing":
                return [*self.exchanges(seat), PASS]
            case "bidding":
                return self._offers()
            case "all_in":
                return [*ALL_IN.values()]
            case "show":
                return [*SHOW.values()]
            case "vote":
                return [VOTE[value] for value in self.values()]
            case "throw":
                return [*THROW.values()]
            case _:
                return [WAGER[kind] for kind in self.wagers(seat)]

    def _offers(self) -> list[Json]:
        if self.bid is not None:
            return OFFERS[max(0, self.bid - 1)][:]  # PA-06
        if not self._must_bid():
            return OFFERS[self.highest_bid][:]  # PA-04
        return BIDS[self._least_bid() : self.highest_bid + 1][::-1]

    def _must_bid(self) -> bool:
        """Return whether only the asked seat is left and nobody has bid (PA-05)."""
        return self.bid is None and len(self.queue) == 1

    def _least_bid(self) -> int:
        return self.highest_bid if self.options["forced_bid"] == "max" and self._must_bid() else 0

    def _most_bid(self) -> int:
        return self.highest_bid if self.bid is None else max(0, self.bid - 1)  # PA-04, PA-06

    def validate_action(self, seat: Seat, action: Any) -> Json:
        meant = self._find_legal_action(seat, action) if type(action) is dict else None
        if meant is None or meant != action:
            raise IllegalAction(f"seat {seat} may not play {str(action)[:200]} in {self.phase!r}")
        return meant

    def _find_legal_action(self, seat: Seat, action: Json) -> Json | None:
        """Return the only legal action that ``action`` can mean, or None.

        Only the member that selects it is read, so the caller must compare the result with ``action``.
        """
        match self.phase:
            case "drawing":
                return self.meant_exchange(seat, action) if "discard" in action else PASS
            case "bidding":
                return self._meant_bid(action) if "cards" in action else None if self._must_bid() else PASS
            case "vote":
                return VOTE[action["for"]] if action.get("for") in self.values() else None
            case "throw":
                return _find_named_action(THROW, action.get("sign"))
            case "all_in":
                return _find_named_action(ALL_IN, action.get("type"))
            case "show":
                return _find_named_action(SHOW, action.get("type"))
            case _:
                kind = action.get("type")
                return WAGER[kind] if kind in self.wagers(seat) else None

    def _meant_bid(self, action: Json) -> Json | None:
        cards = action["cards"]
        fits = type(cards) is int and self._least_bid() <= cards <= self._most_bid()
        return BIDS[cards] if fits else None

    def default(self, seat: Seat) -> Json:
        """Return the default action, which never lowers a bid, exchanges a card, bets or claims (PA-43)."""
        match self.phase:
            case "drawing":
                return PASS
            case "bidding":
                return BIDS[self.highest_bid] if self._must_bid() else PASS
            case "all_in":
                return ALL_IN["stay"]
            case "show":
                return SHOW["hide"]
            case "bet1" | "bet2" | "bet3":
                return WAGER["fold" if self.amount_to_call(seat) else "check"]
            case _:
                return self.legal(seat)[0]

    def forced_action(self, seat: Seat) -> Json | None:
        # Only bidding can leave a single action, and all seats know the passes and the remaining bids.
        if self.phase == "bidding" and self._must_bid() and self._least_bid() == self.highest_bid:
            return BIDS[self.highest_bid]
        return None

    # -- decisions: what follows --

    def act(self, seat: Seat, action: Json) -> None:
        match self.phase:
            case "drawing" if action == PASS:
                self.pass_drawing(seat)
            case "drawing":
                self.exchange(seat, action["discard"], action["from"])
            case "bidding" if action == PASS:
                self._pass_bidding(seat)
            case "bidding":
                self._offer(seat, action["cards"])
            case _:
                self.wager(seat, action["type"])

    def act_together(self, actions: dict[Seat, Json]) -> None:
        match self.phase:
            case "all_in":
                self._go_all_in(actions)
            case "show":
                self._choose_showing(actions)
            case "vote":
                self.count_votes([action["for"] for action in actions.values()])
            case "throw":
                self.compare_signs({seat: action["sign"] for seat, action in actions.items()})

    # -- scoring --

    def _score(self) -> None:
        order, left = self._clockwise(), self.seats_in()
        ranks = {seat: rank(self.hand(seat)) for seat in order if self.turned_up[seat]}
        best = max(ranks.values(), default=None)
        winners = left if len(left) == 1 else [seat for seat, own in ranks.items() if own == best]
        delta = [self._gain(seat, winners) for seat in range(self.players)]
        self.points = [own + gain for own, gain in zip(self.points, delta, strict=True)]
        if self.options["cash"]:
            self.pay_pots(order, ranks)
        self.emit(
            "round_end", round=self.round, winners=winners, delta=delta, scores=self.points[:], chips=self.chips[:]
        )
        self._close_round(winners[0])  # PA-21

    def _gain(self, seat: Seat, winners: list[Seat]) -> int:
        """Return the gain of the seat. A tied claim is a push or a loss; a fold loses a claim (PA-18, PA-20, PA-32)."""
        claimed = seat in self.low_bidders or self.all_in[seat]
        if not claimed:
            return self.bonus if seat in winners else 0  # PA-11
        stake, bonus = (self.points[seat], self.bonus) if self.all_in[seat] else (self.stake, 0)
        if winners == [seat]:
            return stake + bonus
        pushed = seat in winners and self.options["ties"] == "push"
        return bonus if pushed else -stake  # PA-38: also below zero

    # -- end of a round, end of the match --

    def _close_round(self, opener: Seat) -> None:
        if max(self.points) >= self.options["target"]:
            self._end("target")
        elif self.round == self.options["max_rounds"]:
            self._end("max_rounds")
        else:
            self.opener = opener
            self._open_round()

    def _end(self, reason: str) -> None:
        self.phase = "over"
        self.emit(
            "match_end",
            reason=reason,
            scores=self.scores(),
            chips=self.chips[:],
            placements=self.placements(),
            returns=self.returns(),
        )

    def scores(self) -> list[int]:
        return self.points[:]

    def returns(self) -> list[int]:
        """Return each seat's points or, if chips decide, its gain in chips plus the value of its points (PA-41)."""
        if self.options["rank_by"] == "points":
            return self.points[:]
        start, worth = self.options["stack"], self.options["point_value"]
        return [chips - start + worth * points for chips, points in zip(self.chips, self.points, strict=True)]

    def placements(self) -> list[int]:
        return rank_seats(self.returns())  # PA-36

    # -- what may be seen --

    def observation(self, seat: Seat) -> Json:
        return {
            "game": self.name,
            "seat": seat,
            "players": self.players,
            "options": self.options,
            "round": self.round,
            "phase": self.phase,
            "to_act": self.to_act(),
            "opener": self.opener,
            "scores": self.points[:],
            "chips": self.chips[:],
            "hands": self.hands_seen(seat),
            "deck": len(self.deck),
            "bids": self.bids[:],
            "bid": self.bid,
            "bid_out": self.bid_out[:],
            "low_bidders": self.low_bidders[:],
            "drawn": self.drawn[:],
            "draw_out": self.draw_out[:],
            "piles": self.piles_seen(seat),
            "all_in": self.all_in[:],
            "shown": self.turned_up[:],
            "folded": self.folded[:],
            "pot": sum(self.paid),
            "paid": self.paid[:],
            "put": self.put[:],
            "to_call": self.amount_to_call(seat),
            "raises": self.raises,
            "motion": self.motion,
            "previous": self.previous[:],
            "history": self.history[:] if self.over else self.visible_events(self.history, seat, self.options),
        }

    @classmethod
    def legal_bound(cls, players: int) -> int:
        return 5 * players + 1

    @classmethod
    def decision_bound(cls, players: int, options: Json) -> int:
        highest_bid = EIGHT if players < 5 else 5
        in_round = 3 * players - 2 + players * highest_bid
        if options["cash"]:
            in_round += 3 * (players + (options["max_raises"] + 1) * (players - 1))
        voting = players + 2 * THROWS
        return int(in_round * options["max_rounds"] + voting * len(options["vote"]))

    # -- events --

    def emit(self, event: str, **members: Any) -> None:
        told = {"event": event, **members}
        self.unsent.append(told)
        self.history.append(told)


def _find_named_action(actions: Mapping[str, Json], name: Any) -> Json | None:
    return actions.get(name) if type(name) is str else None
