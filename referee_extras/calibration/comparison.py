"""Compare two house players over duplicate deals: the share of placements that one wins from the other.

In each deal, the players have alternate seats, in both ways, with the same outcomes of chance. So neither seats nor
cards favour a player. All matches of a deal together count as one value, and errors are standard errors over deals.
"""

import hashlib
import statistics
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from multiprocessing import get_context
from random import Random

from referee.games import game
from referee.games.state import Json, Seat, State
from referee.house.players import find_player
from referee.match.chance import CommittedChance


@dataclass(frozen=True, slots=True)
class Pairing:
    """Name two players, by address, and the table at which they are compared."""

    game: str
    seats: int
    player: str
    rival: str
    seed: str = ""


@dataclass(frozen=True, slots=True)
class DealResult:
    """Hold the share of placements that the player won in one deal, and what its decisions cost."""

    share: float
    decisions: int
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Hold the result over all deals. ``share`` is 1 if the player always places better, ½ if both are equal."""

    pairing: Pairing
    deals: int
    share: float
    error: float
    cpu_ms: float  # per decision of the player

    @classmethod
    def summarize(cls, pairing: Pairing, results: Sequence[DealResult]) -> "Comparison":
        shares = [result.share for result in results]
        error = statistics.stdev(shares) / len(shares) ** 0.5 if len(shares) > 1 else 0.5
        cpu_s, decisions = sum(result.cpu_s for result in results), sum(result.decisions for result in results)
        return cls(pairing, len(shares), statistics.fmean(shares), error, 1000 * cpu_s / decisions)


def play_deals(pairing: Pairing, deals: int, processes: int) -> Iterator[DealResult]:
    """Yield the results of the deals in order, played in this many processes."""
    if processes == 1:
        yield from map(partial(play_deal, pairing), range(deals))
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(partial(play_deal, pairing), range(deals))


def play_deal(pairing: Pairing, deal: int) -> DealResult:
    """Play a deal twice, the second time with the seats exchanged."""
    shares, duplicate = [], _DuplicateDeal(pairing, deal)
    for parity in (0, 1):
        own = [seat for seat in range(pairing.seats) if seat % 2 == parity]
        others = [seat for seat in range(pairing.seats) if seat % 2 != parity]
        placements = duplicate.play(own)
        shares += [compare_placements(placements[seat], placements[other]) for seat, other in product(own, others)]
    return DealResult(statistics.fmean(shares), duplicate.decisions, duplicate.cpu_s)


def compare_placements(own: int, other: int) -> float:
    """Return 1 for the better placement, ½ for a tie, else 0."""
    return 0.5 if own == other else float(own < other)


class _DuplicateDeal:
    """Play the matches of a deal. Outcomes of chance depend on the deal, the kind of request and its number alone."""

    def __init__(self, pairing: Pairing, deal: int) -> None:
        self.decisions, self.cpu_s = 0, 0.0
        self._pairing = pairing
        self._key = f"{pairing.seed}|{pairing.game}|{deal}"
        self._chance = CommittedChance(hashlib.sha256(self._key.encode()).digest(), "", [])

    def play(self, own: Sequence[Seat]) -> list[int]:
        """Return the placements of a match in which the player has the seats ``own`` and the rival all others."""
        state, draws = game(self._pairing.game).start(self._pairing.seats), {"deck": 0, "draw": 0}
        dice = [Random(f"{self._key}|{seat}") for seat in range(self._pairing.seats)]  # noqa: S311  # of players
        while not state.over:
            asked = state.chance()
            if asked is not None:
                state.resolve(self._chance.outcome(asked, draws[asked["kind"]]))
                draws[asked["kind"]] += 1
                continue
            seat = state.pending()[0]
            began = time.process_time()
            action = _decide(self._pairing.player if seat in own else self._pairing.rival, state, seat, dice[seat])
            if seat in own:
                self.decisions += 1
                self.cpu_s += time.process_time() - began
            state.apply(seat, action)
        return state.placements()


def _decide(address: str, state: State, seat: Seat, dice: Random) -> Json:
    legal = state.legal(seat)
    if len(legal) == 1:
        return legal[0]
    seen = state.observation(seat)
    question = {"observation": seen, "legal_actions": legal, "default_action": state.default(seat)}
    return find_player(address)(dice).decide(state.name, question)
