"""Plan a local tournament: every set of players that fills a table plays every deal in several seat orders."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, permutations
from math import comb, factorial
from typing import Final

from referee.errors import BadOption
from referee.games import game
from referee.local import matches
from referee.local.matches import LocalEntrant, PlannedMatch, local_id
from referee.match.canonical import Json
from referee.pairing.kinds import SeatOrders
from referee.ratings.sprt import Hypotheses

MAX_MATCHES_PER_DEAL: Final = 2_000  # since an interrupted deal is played again from its first match


@dataclass(frozen=True, slots=True)
class LocalPlan:
    """Hold the terms of a local tournament. ``match_plan`` has the game, options, entrants, seed and time limits.

    Every set of entrants that fills a table plays every deal once in each seat order: all rotations with ``cyclic``,
    all permutations with ``all``. The matches of a deal share their cards and are one deal group.
    """

    match_plan: matches.LocalMatchPlan
    seats: int
    deals: int
    orders: SeatOrders = SeatOrders.CYCLIC
    hypotheses: Hypotheses | None = None

    @property
    def matches_per_deal(self) -> int:
        orders = factorial(self.seats) if self.orders == SeatOrders.ALL else self.seats
        return comb(len(self.match_plan.entrants), self.seats) * orders

    def check(self) -> None:
        """Raise ``BadOption`` if the plan cannot be played."""
        entrants = len(self.match_plan.entrants)
        if entrants < self.seats:
            raise BadOption("seats", f"{entrants} players do not fill a table of {self.seats}")
        if self.matches_per_deal > MAX_MATCHES_PER_DEAL:
            count = f"{self.matches_per_deal:,}"
            raise BadOption(
                "players",
                f"{count} matches per deal exceed the limit of {MAX_MATCHES_PER_DEAL:,}; use fewer players or orders",
            )
        if self.hypotheses and entrants != 2:
            raise BadOption("sprt", f"the test is for two players, not {entrants}")

    def matches_of_deal(self, deal: int) -> Iterator[PlannedMatch]:
        """Yield the matches of ``deal``, counted from 1, always in the same order."""
        seed = self.match_plan.seed
        group_id = local_id("grp", "tournament", seed, deal)
        cards = hashlib.sha256(f"referee tournament local|{seed}|{deal}".encode()).digest()
        for number, seated in enumerate(self._seatings()):
            match_id = local_id("mat", "tournament", seed, deal, number)
            yield PlannedMatch(match_id, seated, group_id, cards, f"{seed}|{deal}|{number}")

    def to_json(self) -> Json:
        """Return the terms that must not change between runs of a tournament. The number of deals may change."""
        playing = self.match_plan
        return {
            "format": 1,
            "game": playing.game,
            "rules_version": game(playing.game).rules_version,
            "options": playing.options,
            "players": [
                {"name": entrant.name, "source": entrant.source, "version": entrant.version}
                for entrant in playing.entrants
            ],
            "seats": self.seats,
            "orders": self.orders,
            "seed": playing.seed,
            "time": asdict(playing.limits),
            "sprt": asdict(self.hypotheses) if self.hypotheses else None,
        }

    def _seatings(self) -> Iterator[Sequence[LocalEntrant]]:
        for table in combinations(self.match_plan.entrants, self.seats):
            if self.orders == SeatOrders.ALL:
                yield from permutations(table)
            else:
                yield from (table[first:] + table[:first] for first in range(self.seats))


def parse_hypotheses(text: str) -> Hypotheses:
    """Parse the hypotheses of a test from a text like ``elo0=0,elo1=20,alpha=0.05,beta=0.05``. These values are also
    the defaults. Raise ``BadOption`` for an unknown or repeated name, or a value that is not a number."""
    numbers: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.strip().partition("=")
        if name not in ("elo0", "elo1", "alpha", "beta") or name in numbers:
            raise BadOption("sprt", f"{part!r} is not one of elo0=, elo1=, alpha=, beta=, each at most once")
        try:
            numbers[name] = float(number)
        except ValueError:
            raise BadOption("sprt", f"{part!r} is not valid; expected a number") from None
    return Hypotheses(**numbers)
