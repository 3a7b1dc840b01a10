"""Plays an event to its end with results drawn by strength, and with mishaps. What must hold is invariants' to say."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from referee.pairing import Entrant, Format, Leg, PairingInput, PairingRound, PlayedRound, Table
from referee.pairing.kinds import Seeding, TournamentFormat
from referee.pairing.swiss import max_rounds
from referee.ratings.elo import MICRO
from tools.simulate.record import rebuilt

NAMES = tuple(name for name in TournamentFormat if name != TournamentFormat.LADDER)


@dataclass(frozen=True, slots=True)
class Mishaps:
    """What may go wrong, each as a chance: for an entrant between rounds and while one is played, to come back
    between rounds; for a table to be cancelled, and for the field to get somebody new between rounds."""

    withdraws: float = 0.0
    leaves_early: float = 0.0
    returns: float = 0.0
    cancelled: float = 0.0
    joins: float = 0.0
    ties: float = 0.0

    @property
    def calm(self) -> bool:
        return not any((self.withdraws, self.leaves_early, self.returns, self.cancelled, self.joins))


@dataclass(frozen=True, slots=True)
class Scenario:
    """An event to be: ``event`` before its first round, and how it shall go."""

    format: Format
    event: PairingInput
    mishaps: Mishaps

    def __str__(self) -> str:
        event = self.event
        owners = [one.owner for one in event.entrants if one.owner]
        what = f"{self.format.name}, {len(event.entrants)} bots at tables of {event.seats}, {event.cycles} cycles"
        siblings = ", siblings" if len({*owners}) < len(owners) else ""
        return f"{what}, {dict(event.options)}{siblings}{'' if self.mishaps.calm else f', {self.mishaps}'}"


@dataclass(slots=True)
class History:
    """How it went: each event as it was when its next round was decided, that round, and the event at the end."""

    scenario: Scenario
    decided: list[tuple[PairingInput, PairingRound]] = field(default_factory=list)
    end: PairingInput | None = None

    @property
    def matches(self) -> int:
        return sum(len(legs) for event in ([self.end] if self.end else []) for p in event.played for legs in p.legs)


def drawn(known: Format, rng: Random, most: int = 24) -> Scenario:
    """A scenario of this format that its ``options`` and ``check`` admit."""
    seats = rng.choice((2, 2, 2, 3, 4, 5))
    cycles = rng.choice((1, 1, 2)) if known.name in (TournamentFormat.ROUND_ROBIN, TournamentFormat.GAUNTLET) else 1
    most = min(most, {2: most, 3: 8, 4: 7, 5: 6}[seats]) if "robin" in known.name else most
    count = rng.randint(seats, most)
    entrants = tuple(_entrant(number, count, rng) for number in range(count))
    options = known.options(_options(known.name, seats, entrants, rng), seats)
    known.check(count, seats, options, cycles)
    calm = rng.random() < 0.4
    mishaps = Mishaps(
        withdraws=0 if calm else rng.choice((0.0, 0.02, 0.15)),
        leaves_early=0 if calm else rng.choice((0.0, 0.05)),
        returns=0 if calm else rng.choice((0.0, 0.3)),
        cancelled=0 if calm else rng.choice((0.0, 0.05)),
        joins=0 if calm or not known.takes_late_entries else rng.choice((0.0, 0.3)),
        ties=rng.choice((0.0, 0.2)),
    )
    return Scenario(known, PairingInput(seats, options, cycles, entrants, (), rng.randbytes(32)), mishaps)


def _entrant(number: int, count: int, rng: Random, first_round: int = 1) -> Entrant:
    owner = rng.choice(("", f"owner {rng.randrange(1 + count // 2)}"))
    seed = rng.choice((None, rng.randint(1, count)))
    return Entrant(f"e{number}", owner, int(rng.gauss(1500, 200)) * MICRO, seed, first_round)


def _options(name: str, seats: int, entrants: Sequence[Entrant], rng: Random) -> dict[str, Any]:
    match name:
        case TournamentFormat.KNOCKOUT:
            return {
                "seeding": rng.choice([*Seeding]),
                "advance": rng.randint(1, seats - 1),
                "best_of": rng.choice((1, 1, 2, 3, 5)),
                "tie_breaks": rng.choice((0, 2)),
                "third_place": seats == 2 and rng.random() < 0.5,
            }
        case TournamentFormat.GAUNTLET:
            return {"champion": rng.choice((None, rng.choice(entrants).id))}
        case "swiss":
            return {"rounds": rng.choice((None, rng.randint(1, min(11, max_rounds(len(entrants), seats)))))}
    return {}


def played_out(scenario: Scenario, rng: Random) -> History:
    """The event to its end. Every decision is asked for twice, the second time of a record read anew."""
    history = History(scenario)
    known, event = scenario.format, scenario.event
    most = 40 * len(event.entrants) * event.cycles + 100
    while (pairing_round := known.next_round(event)) is not None:
        assert known.next_round(rebuilt(event)) == pairing_round, "asked again, the format decided otherwise"
        history.decided.append((event, pairing_round))
        assert len(history.decided) <= most, "the event does not end"
        event = _after(scenario, event, pairing_round, rng)
    history.end = event
    return history


def _after(scenario: Scenario, event: PairingInput, pairing_round: PairingRound, rng: Random) -> PairingInput:
    mishaps = scenario.mishaps
    event = _left(event, mishaps.leaves_early, 0.0, rng)
    legs = tuple(
        () if rng.random() < mishaps.cancelled else _legs(scenario, event, table, rng) for table in pairing_round.tables
    )
    event = replace(event, played=(*event.played, PlayedRound(pairing_round, legs)))
    event = _left(event, mishaps.withdraws, mishaps.returns, rng)
    if rng.random() < mishaps.joins and len(event.entrants) < 40:
        count = len(event.entrants)
        joined = _entrant(count, count, rng, first_round=len(event.played) + rng.choice((1, 1, 2)))
        event = replace(event, entrants=(*event.entrants, joined))
    return event


def _left(event: PairingInput, leaves: float, returns: float, rng: Random) -> PairingInput:
    if not leaves and not returns:
        return event
    return replace(
        event,
        entrants=tuple(
            replace(one, active=rng.random() >= leaves if one.active else rng.random() < returns)
            for one in event.entrants
        ),
    )


def _legs(scenario: Scenario, event: PairingInput, table: Table, rng: Random) -> tuple[Leg, ...]:
    """All legs of a table, each in the order turned by one; while somebody is away a match may not count."""
    ratings = {one.id: one.rating for one in event.entrants}
    active = {one.id for one in event.entrants if one.active}
    legs: list[Leg] = []
    wanted = table.legs
    number = 0
    while wanted:
        for _ in range(wanted):
            turn = number % event.seats
            number += 1
            seats = table.entrants[turn:] + table.entrants[:turn]
            if active.issuperset(seats) or rng.random() < 0.5:
                legs.append(_leg(seats, ratings, scenario.mishaps.ties, rng))
        wanted = scenario.format.more_legs(event, table, legs)
        assert number <= 200, "a table does not end"
    return tuple(legs)


def _leg(seats: tuple[str, ...], ratings: dict[str, int], ties: float, rng: Random) -> Leg:
    """Places by strength and luck; a tie joins the next place now and then."""
    luck = {one: ratings[one] + int(rng.gauss(0, 200)) * MICRO for one in seats}
    ordered = sorted(seats, key=lambda one: -luck[one])
    place: dict[str, int] = {}
    for at, one in enumerate(ordered, 1):
        place[one] = place[ordered[at - 2]] if at > 1 and rng.random() < ties else at
    placements = tuple(place[one] for one in seats)
    return Leg(seats, placements, tuple(len(seats) - placement for placement in placements))
