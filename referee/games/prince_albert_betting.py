"""Play the betting of Prince Albert: antes, fixed-limit wagers, and main and side pots (PA-28 to PA-35).

``prince_albert.py`` decides when seats bet and ranks the hands.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from referee.games.poker import Rank
from referee.games.state import Json, Seat, State

# All possible wagers, created once. Callers must not modify them.
WAGER: dict[str, Json] = {kind: {"type": kind} for kind in ("check", "call", "bet", "raise", "fold")}


@dataclass
class Betting(State):
    """Represent the part of a position that concerns betting. It is used only with the option ``cash``."""

    chips: list[int] = field(default_factory=list)
    folded: list[bool] = field(default_factory=list)
    paid: list[int] = field(default_factory=list)  # chips paid in this round, including the ante
    put: list[int] = field(default_factory=list)  # chips paid in this betting
    level: int = 0  # chips that a seat must have put in this betting to stay in
    raises: int = 0
    acted: list[bool] = field(default_factory=list)  # in this betting

    # -- what the game provides --

    def close_betting(self) -> None:
        """Continue the game after the betting of this phase, or after a fold that leaves one seat."""
        raise NotImplementedError

    # -- a round --

    def clear_betting(self) -> None:
        self.folded = [False] * self.players
        self.paid = [0] * self.players
        self._clear_level()

    def take_antes(self, order: Sequence[Seat]) -> None:
        for seat in order:
            paid = self._pay(seat, self.options["ante"])
            if paid:
                self.emit("ante", seat=seat, chips=paid)

    def seats_in(self) -> list[Seat]:
        """Return the seats that have not folded, ascending."""
        return [seat for seat, folded in enumerate(self.folded) if not folded]

    # -- a betting --

    def open_betting(self, phase: str, first: Seat) -> None:
        self.phase = phase
        self._clear_level()
        self._ask_from(first)

    def _ask_from(self, first: Seat) -> None:
        asked = next((seat for seat in self.seats_from(first) if self._must_be_asked(seat)), None)
        if asked is None:
            self._end_betting()
        else:
            self.queue = [asked]

    def _must_be_asked(self, seat: Seat) -> bool:
        """Return whether the seat owes chips, or has not acted yet while another could respond (PA-31)."""
        if self.folded[seat] or not self._covers(seat, 1):
            return False
        return self.put[seat] < self.level or (not self.acted[seat] and self._others_have_chips(seat))

    def wagers(self, seat: Seat) -> list[str]:
        """Return the kinds of wager open to the asked seat, in canonical order."""
        owed = self.amount_to_call(seat)
        more = ["raise" if owed else "bet"] if self._may_go_up(seat, owed) else []
        return ["call" if owed else "check", *more, "fold"]  # PA-33: also where checking costs nothing

    def _may_go_up(self, seat: Seat, owed: int) -> bool:
        """Return whether the seat may bet or raise. It must be able to pay the full amount (PA-30)."""
        if not self._covers(seat, owed + self._unit()):
            return False
        return not owed or (self.raises < self.options["max_raises"] and self._others_have_chips(seat))

    def amount_to_call(self, seat: Seat) -> int:
        """Return what the seat has to pay to stay in."""
        return 0 if self.folded[seat] else self.level - self.put[seat]

    def wager(self, seat: Seat, kind: str) -> None:
        owed = self.amount_to_call(seat)
        chips = {"call": owed, "bet": self._unit(), "raise": owed + self._unit()}.get(kind, 0)
        paid = self._pay(seat, chips)  # PA-30: a call may fall short
        self.put[seat] += paid
        self.acted[seat] = True
        self.level = max(self.level, self.put[seat])
        self.raises += kind == "raise"
        self.folded[seat] = kind == "fold"
        self.emit("wager", seat=seat, type=kind, chips=paid)
        if len(self.seats_in()) == 1:  # PA-35
            self._end_betting()
        else:
            self._ask_from((seat + 1) % self.players)

    def _end_betting(self) -> None:
        self.queue = []
        self._clear_level()
        self.close_betting()

    def _clear_level(self) -> None:
        self.put = [0] * self.players
        self.acted = [False] * self.players
        self.level = self.raises = 0

    def _unit(self) -> int:
        return int(self.options["big_bet" if self.phase == "bet3" else "small_bet"])

    # -- chips --

    def _covers(self, seat: Seat, chips: int) -> bool:
        """Return whether the seat has this many chips. An open account is unlimited (PA-30)."""
        return self.options["stack"] == 0 or self.chips[seat] >= chips

    def _others_have_chips(self, seat: Seat) -> bool:
        return any(other != seat and self._covers(other, 1) for other in self.seats_in())

    def _pay(self, seat: Seat, chips: int) -> int:
        """Pay ``chips``, or all that the seat has if it has fewer. Return the amount."""
        paid = chips if self._covers(seat, chips) else self.chips[seat]
        self.chips[seat] -= paid
        self.paid[seat] += paid
        return paid

    def pay_pots(self, order: Sequence[Seat], ranks: Mapping[Seat, Rank]) -> None:
        """Pay each layer of the pot to the best shown hands of its contributors (PA-34).

        Odd chips go round in ``order``.
        """
        for chips, rivals in layers(self.paid, self.seats_in()):
            shown = [seat for seat in rivals if seat in ranks]
            best = max((ranks[seat] for seat in shown), default=None)
            takers = [seat for seat in order if seat in rivals and (best is None or ranks.get(seat) == best)]
            each, odd = divmod(chips, len(takers))
            shares = [each + (place < odd) for place in range(len(takers))]
            for seat, share in zip(takers, shares, strict=True):
                self.chips[seat] += share
            self.emit("pot", chips=chips, rivals=rivals, seats=takers, shares=shares)


def layers(paid: Sequence[int], seats_in: Sequence[Seat]) -> list[tuple[int, list[Seat]]]:
    """Return the layers of the pot, lowest first, each with its chips and the seats still in that paid for it."""
    tops = sorted({paid[seat] for seat in seats_in} - {0})
    return [
        (sum(min(own, top) - min(own, bottom) for own in paid), [seat for seat in seats_in if paid[seat] >= top])
        for bottom, top in zip([0, *tops], tops, strict=False)
    ]
