"""Play a simulated tournament to its end: results depend on strength and luck. ``invariants`` checks the history."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from referee.pairing import Entrant, Format, Leg, PairingInput, PairingRound, PlayedRound, Table
from referee.pairing.kinds import Seeding, TournamentFormat
from referee.pairing.swiss import max_rounds
from referee.ratings.elo import MICRO
from tools.simulate.json_copy import copy_through_json


@dataclass(frozen=True, slots=True)
class Mishaps:
    """Hold the probabilities of mishaps and of ties."""

    withdraws: float = 0.0  # per entrant between rounds
    leaves_early: float = 0.0  # per entrant during a round
    returns: float = 0.0  # per withdrawn entrant between rounds
    cancelled: float = 0.0  # per table
    joins: float = 0.0  # of a new entrant between rounds
    ties: float = 0.0  # of two adjacent placements

    @property
    def calm(self) -> bool:
        return not any((self.withdraws, self.leaves_early, self.returns, self.cancelled, self.joins))


@dataclass(frozen=True, slots=True)
class Scenario:
    """Describe a simulation: the tournament before its first round, its format and the mishaps."""

    format: Format
    tournament: PairingInput
    mishaps: Mishaps

    def __str__(self) -> str:
        tournament = self.tournament
        owners = [entrant.owner for entrant in tournament.entrants if entrant.owner]
        tables = f"tables of {tournament.least_seats} to {tournament.seats}"
        size = f"{len(tournament.entrants)} bots at {tables}, {tournament.cycles} cycles"
        siblings = ", owners with several bots" if len({*owners}) < len(owners) else ""
        mishaps = "" if self.mishaps.calm else f", {self.mishaps}"
        return f"{self.format.name}, {size}, {dict(tournament.options)}{siblings}{mishaps}"


@dataclass(slots=True)
class History:
    """Record a simulation: each round with the tournament from which it was decided, and the tournament at the end."""

    scenario: Scenario
    decided: list[tuple[PairingInput, PairingRound]] = field(default_factory=list)
    end: PairingInput | None = None

    @property
    def matches(self) -> int:
        return sum(len(legs) for played in (self.end.played if self.end else ()) for legs in played.legs)


def draw_scenario(chosen: Format, rng: Random, most: int = 24) -> Scenario:
    """Return a random scenario that is valid in this format, with at most ``most`` entrants."""
    seats = rng.choice((2, 2, 2, 3, 4, 5))
    cycles = rng.choice((1, 1, 2)) if chosen.name in (TournamentFormat.ROUND_ROBIN, TournamentFormat.GAUNTLET) else 1
    most = min(most, {2: most, 3: 8, 4: 7, 5: 6}[seats]) if "robin" in chosen.name else most
    count = rng.randint(seats, most)
    entrants = tuple(_entrant(number, count, rng) for number in range(count))
    options = chosen.options(_options(chosen.name, seats, entrants, rng), seats)
    chosen.check(count, seats, options, cycles)
    calm = rng.random() < 0.4
    mishaps = Mishaps(
        withdraws=0 if calm else rng.choice((0.0, 0.02, 0.15)),
        leaves_early=0 if calm else rng.choice((0.0, 0.05)),
        returns=0 if calm else rng.choice((0.0, 0.3)),
        cancelled=0 if calm else rng.choice((0.0, 0.05)),
        joins=0 if calm or not chosen.takes_late_entries else rng.choice((0.0, 0.3)),
        ties=rng.choice((0.0, 0.2)),
    )
    tournament = PairingInput(seats, options, cycles, entrants, (), rng.randbytes(32))
    # Drawn last, so that the other choices do not depend on it.
    return Scenario(chosen, replace(tournament, min_seats=rng.choice((0, rng.randint(2, seats)))), mishaps)


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


def play_to_end(scenario: Scenario, rng: Random) -> History:
    """Play the tournament to its end. Check that each round is decided alike from a copy of the tournament."""
    history = History(scenario)
    chosen, tournament = scenario.format, scenario.tournament
    most = 40 * len(tournament.entrants) * tournament.cycles + 100
    while (pairing_round := chosen.next_round(tournament)) is not None:
        assert chosen.next_round(copy_through_json(tournament)) == pairing_round, (
            "the format decided another round from an equal tournament"
        )
        history.decided.append((tournament, pairing_round))
        assert len(history.decided) <= most, "the tournament does not end"
        tournament = _play_round(scenario, tournament, pairing_round, rng)
    history.end = tournament
    return history


def _play_round(scenario: Scenario, tournament: PairingInput, pairing_round: PairingRound, rng: Random) -> PairingInput:
    mishaps = scenario.mishaps
    tournament = _change_field(tournament, mishaps.leaves_early, 0.0, rng)
    legs = tuple(
        () if rng.random() < mishaps.cancelled else _legs(scenario, tournament, table, rng)
        for table in pairing_round.tables
    )
    tournament = replace(tournament, played=(*tournament.played, PlayedRound(pairing_round, legs)))
    tournament = _change_field(tournament, mishaps.withdraws, mishaps.returns, rng)
    if rng.random() < mishaps.joins and len(tournament.entrants) < 40:
        count = len(tournament.entrants)
        joined = _entrant(count, count, rng, first_round=len(tournament.played) + rng.choice((1, 1, 2)))
        tournament = replace(tournament, entrants=(*tournament.entrants, joined))
    return tournament


def _change_field(tournament: PairingInput, leaves: float, returns: float, rng: Random) -> PairingInput:
    if not leaves and not returns:
        return tournament
    return replace(
        tournament,
        entrants=tuple(
            replace(entrant, active=rng.random() >= leaves if entrant.active else rng.random() < returns)
            for entrant in tournament.entrants
        ),
    )


def _legs(scenario: Scenario, tournament: PairingInput, table: Table, rng: Random) -> tuple[Leg, ...]:
    """Play all legs of a table, rotating the seats by one each time. A leg with an inactive entrant may not count."""
    ratings = {entrant.id: entrant.rating for entrant in tournament.entrants}
    active = {entrant.id for entrant in tournament.entrants if entrant.active}
    legs: list[Leg] = []
    wanted = table.legs
    number = 0
    while wanted:
        for _ in range(wanted):
            turn = number % len(table.entrants)
            number += 1
            seats = table.entrants[turn:] + table.entrants[:turn]
            if active.issuperset(seats) or rng.random() < 0.5:
                legs.append(_leg(seats, ratings, scenario.mishaps.ties, rng))
        wanted = scenario.format.more_legs(tournament, table, legs)
        assert number <= 200, "a table does not end"
    return tuple(legs)


def _leg(seats: tuple[str, ...], ratings: dict[str, int], ties: float, rng: Random) -> Leg:
    """Return a result by strength and luck. With probability ``ties``, an entrant ties with the one before."""
    strength = {entrant: ratings[entrant] + int(rng.gauss(0, 200)) * MICRO for entrant in seats}
    ordered = sorted(seats, key=lambda entrant: -strength[entrant])
    placement_of: dict[str, int] = {}
    for place, entrant in enumerate(ordered, 1):
        tied = place > 1 and rng.random() < ties
        placement_of[entrant] = placement_of[ordered[place - 2]] if tied else place
    placements = tuple(placement_of[entrant] for entrant in seats)
    return Leg(seats, placements, tuple(len(seats) - placement for placement in placements))
