"""A peeker: predict whether moves were forced from everything that is shown before the end of a match.

It measures, for each kind of evidence, how many bits the evidence adds to the prediction of one move in matches that
it was not fitted to. In place of the service's numbers, grouping and waits, those of a leaking service can be planted,
which the peeker must find.

The prediction without evidence uses the seat, the progress of the match and the move before. Each kind of evidence
refines it: fitted frequencies of the refined cases are drawn towards the frequency of the case without evidence.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2, sqrt
from random import Random
from statistics import fmean, stdev
from typing import NamedTuple

from referee.house.players import find_player
from referee.match.canonical import Json, dumps, loads
from referee.match.chance import CommittedChance
from referee.match.forced_moves import find_forced_moves
from referee.match.log import PublicView
from referee.match.match import Answer, Match, Request
from referee.protocol.messages import Questions
from tests.match.playing import GROUP, header
from workers.forced_waits import ForcedWaits, ResponseTimes

GAMES = ("prisoners", "rummy-royal")
SEATS = 4
MEDIANS_MS = (5.0, 20.0, 80.0, 300.0)  # of the response times of the seats
POLL_MS = 100.0  # between two messages of a stream
CHOICES = {"bid", "name_suit", "keep", "sell", "swap"}  # events of moves that are never forced
PRIOR = 20.0  # weight of the frequency without evidence, in moves


@dataclass(frozen=True)
class Leak:
    """Say which parts of a leaking service to plant."""

    numbers: bool = False  # number questions by decision points and public rows by log rows
    groups: bool = False  # show all events of a log row in one public row
    times: bool = False  # let forced moves take no time


@dataclass
class Move:
    """Hold what is known of one public move that may have been forced.

    ``evidence`` is keyed by its kind: what the observer knows anyway, and what may leak.
    """

    case: Hashable  # without evidence
    evidence: dict[str, tuple[Hashable, Hashable]]
    forced: bool


class Spectator:
    """Collect what the public and the bots of a match see before its end, and when they see it."""

    def __init__(self, match: Match, leak: Leak) -> None:
        self._match, self._leak, self._now_ms = match, leak, 0.0
        self._last = _Seen(-1, -1, 0.0, {})
        self._chosen = 0
        self.moves: list[Move] = []
        self._questions = [_Question(0, 0, 0, 0.0) for _ in range(SEATS)]

    def see(self, rows: Sequence[tuple[Json, list[Json]]], drawn: Mapping[int, list[float]]) -> None:
        """Publish the items of new rows, each after its delay, and wait for the longest one."""
        delays = {} if self._leak.times else drawn
        for row, items in rows:  # as many items as the row has events in the games of ``GAMES``
            forced = {move.place for move in find_forced_moves(self._match.rules, row)}
            times = delays.get(row["row"], [0] * len(items))
            for place, (item, delay) in enumerate(zip(items, times, strict=True)):
                number = row["row"] if self._leak.numbers else item["number"]
                group = (place, len(items)) if self._leak.groups else (0, 1)
                seen = _Seen(number, item["number"], self._now_ms + delay, item["event"])
                if self._match.rules.may_be_forced(item["event"]):
                    self.moves.append(self._move(seen, group, forced=place in forced))
                self._chosen += item["event"]["event"] in CHOICES
                self._last = seen
        self._now_ms += max((times[-1] for times in delays.values()), default=0)

    def _move(self, seen: "_Seen", group: Hashable, *, forced: bool) -> Move:
        gap_ms = seen.at_ms - self._last.at_ms
        return Move(
            case=(seen.event["seat"], min(9, seen.count // 15), self._last.event.get("event")),
            evidence={
                kind: (None, value)
                for kind, value in {
                    "number": seen.number - self._last.number,
                    "group": group,
                    "size": len(dumps({"number": seen.number, "event": {}})) - len(str(seen.count)),
                    "time": round(2 * log2(1 + gap_ms)),
                    "message": seen.at_ms // POLL_MS == self._last.at_ms // POLL_MS,
                }.items()
            },
            forced=forced,
        )

    def ask(self, request: Request, body: bytes, ms: float) -> None:
        """Let a bot see its question, compare it with its last one, and answer after ``ms``."""
        number, last = request.n if self._leak.numbers else request.question, self._questions[request.seat]
        since, chosen = self.moves[last.moves :], self._chosen - last.chosen
        decision = loads(body)["decision"]
        for move in since:
            leaks = {
                "number": number - last.number - chosen,
                "size": len(dumps(decision)) - 2 * len(str(decision["question"])),
                "time": round(2 * log2(1 + self._now_ms - last.answered_ms)),
            }
            move.evidence |= {
                f"question {kind}, seat {request.seat}": (len(since), value) for kind, value in leaks.items()
            }
        self._now_ms += ms
        self._questions[request.seat] = _Question(number, len(self.moves), self._chosen, self._now_ms)


@dataclass(frozen=True)
class _Seen:
    """Hold a public event, the number that is shown with it, and its true number."""

    number: int
    count: int
    at_ms: float
    event: Json


@dataclass(frozen=True)
class _Question:
    """Hold the last question to a seat.

    ``moves`` and ``chosen`` count the public moves before it: those that may have been forced, and those that were not.
    """

    number: int
    moves: int
    chosen: int
    answered_ms: float


def play_matches(game: str, leaks: Sequence[Leak], *, matches: int) -> list[list[list[Move]]]:
    """Play matches of the same bots in simulated time. Return for each leak the moves of each match."""
    times = ResponseTimes()
    played = [_play(game, number, leaks, times) for number in range(matches)]
    return [[moves[place] for moves in played] for place in range(len(leaks))]


def _play(game: str, number: int, leaks: Sequence[Leak], times: ResponseTimes) -> list[list[Move]]:
    """Play a match of house players, seen by the public and by each of its bots, once for each leak."""
    dice = Random(f"{game} {number}")
    head = header(game, SEATS)
    players = [find_player("sound")(dice) for _ in range(SEATS)]
    match = Match(head, CommittedChance(number.to_bytes(32, "big"), GROUP, [""] * SEATS))
    waits, view = ForcedWaits(match, times, dice), PublicView(head)
    spectators = [Spectator(match, leak) for leak in leaks]
    encoders = [Questions(head, seat) for seat in range(SEATS)]
    rows = match.begin()
    while not match.over:  # what is shown with the end helps nobody
        delays, shown = waits.draw_delays(rows), [(row, view.add([row])) for row in rows]
        (request,) = match.requests()
        seat, ms = request.seat, dice.lognormvariate(0, 0.5) * MEDIANS_MS[request.seat]
        body = encoders[seat].encode(request)[1]
        for spectator in spectators:
            spectator.see(shown, delays)
            spectator.ask(request, body, ms)
        waits.add_time(seat, ms)
        rows = match.receive(Answer(seat, players[seat].decide(game, request.for_player())))
    return [spectator.moves for spectator in spectators]


class Frequencies:
    """Estimate the probability that a move was forced, from the case and one kind of evidence."""

    def __init__(self, moves: Iterable[Move], kind: str) -> None:
        self._kind = kind
        self._all = _Tally()
        self._cases, self._refined = (defaultdict[Hashable, _Tally](_Tally) for _ in range(2))
        for move in moves:
            for tally in (self._all, self._cases[self._case(move)], self._refined[self._refined_case(move)]):
                tally.add(move.forced)

    def without(self, move: Move) -> float:
        """Return the probability without the evidence. It is that of a kind of evidence that never varies."""
        tally = self._cases[self._case(move)]
        return tally.probability(self._without(move))

    def having(self, move: Move) -> float:
        return self._refined[self._refined_case(move)].probability(self._without(move))

    def _without(self, move: Move) -> float:
        return self._cases[self._case(move)].probability(self._all.probability(0.5))

    def _case(self, move: Move) -> Hashable:
        known, _ = move.evidence.get(self._kind, (None, None))
        return move.case, known

    def _refined_case(self, move: Move) -> Hashable:
        return move.case, move.evidence.get(self._kind)


@dataclass
class _Tally:
    """Count forced moves."""

    forced: int = 0
    moves: int = 0

    def add(self, forced: bool) -> None:
        self.forced += forced
        self.moves += 1

    def probability(self, expected: float) -> float:
        """Return the frequency, drawn towards the expected one."""
        return (self.forced + PRIOR * expected) / (self.moves + PRIOR)


class Gain(NamedTuple):
    """Hold the mean gain of a kind of evidence in bits per move, and its standard error over matches."""

    bits: float
    error: float

    @property
    def is_found(self) -> bool:
        """Return whether the evidence helps beyond chance: three standard errors, as there are many kinds."""
        return self.bits > 3 * self.error


def measure_gains(played: Sequence[Sequence[Move]]) -> dict[str, Gain]:
    """Fit to the first half of the matches, and return the gains in the other half, keyed by kind of evidence."""
    half = len(played) // 2
    fitted = [move for moves in played[:half] for move in moves]
    tested = [moves for moves in played[half:] if moves]
    kinds = sorted({kind for move in fitted for kind in move.evidence})
    return {kind: _measure_gain(Frequencies(fitted, kind), tested) for kind in kinds}


def _measure_gain(model: Frequencies, tested: Sequence[Sequence[Move]]) -> Gain:
    gains = [
        fmean(_bits(model.having(move), move) - _bits(model.without(move), move) for move in moves) for moves in tested
    ]
    return Gain(fmean(gains), stdev(gains) / sqrt(len(gains)))


def _bits(probability: float, move: Move) -> float:
    return log2(probability if move.forced else 1 - probability)
