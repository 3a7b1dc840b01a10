"""Measure the CPU time to pair the fifth round of a Swiss tournament, at tables of four and of two seats."""

from itertools import combinations
from random import Random
from typing import Final

from bench.measure import Benchmark, Json, cpu_ms, run
from referee.pairing import Entrant, Leg, PairingInput, PairingRound, PlayedRound, formats
from referee.pairing.history import read_history
from referee.ratings.elo import MICRO, START

ROUNDS_BEFORE: Final = 4


def measure(benchmark: Benchmark) -> Json:
    sizes = (12, 16, 20) if benchmark.quick else (100, 1_000, 10_000)
    return {
        f"tables of {name}": {f"{size:,} entrants": measure_round(benchmark, size, seats) for size in sizes}
        for name, seats in (("four", 4), ("two", 2))
    }


def measure_round(benchmark: Benchmark, size: int, seats: int) -> Json:
    """Return the CPU time, the number of rematches, and the largest difference between seat counts of an entrant."""
    benchmark.note(f"{size} entrants at tables of {seats}")
    tournament = play_rounds(size, seats)
    time_ms = cpu_ms(lambda: next_round(tournament), benchmark.runs)
    history, tables = read_history(tournament), next_round(tournament).tables
    number = {entrant: index for index, entrant in enumerate(history.ids)}
    numbered = [[number[entrant] for entrant in table.entrants] for table in tables]
    repeated = sum(other in history.met[own] for table in numbered for own, other in combinations(table, 2))
    for table in numbered:
        for seat, entrant in enumerate(table):
            history.seat_counts[entrant][seat] += 1
    uneven = max(max(counts) - min(counts) for counts in history.seat_counts)
    return {"CPU ms": time_ms, "pairs that meet again": repeated, "most minus fewest of a seat": uneven}


def next_round(tournament: PairingInput) -> PairingRound:
    paired = formats()["swiss"].next_round(tournament)
    assert paired is not None
    return paired


def play_rounds(size: int, seats: int) -> PairingInput:
    """Return a tournament before its fifth round. A fifth of the entrants share an owner with another entrant."""
    dice = Random(size)
    strengths = [dice.gauss(0, 1) for _ in range(size)]
    entrants = tuple(
        Entrant(f"entry_{index:05}", f"owner {index // 2}" if index < size // 5 else "", rating_of(strength))
        for index, strength in enumerate(strengths)
    )
    strength_of = {entrant.id: strength for entrant, strength in zip(entrants, strengths, strict=True)}
    options = formats()["swiss"].options({"rounds": ROUNDS_BEFORE + 1}, seats)
    played: tuple[PlayedRound, ...] = ()
    for _ in range(ROUNDS_BEFORE):
        paired = next_round(PairingInput(seats, options, 1, entrants, played, b"draw" * 8))
        legs = tuple((play_table(table.entrants, strength_of, dice),) for table in paired.tables)
        played = (*played, PlayedRound(paired, legs))
    return PairingInput(seats, options, 1, entrants, played, b"draw" * 8)


def rating_of(strength: float) -> int:
    return START + int(strength * 200 * MICRO)


def play_table(seated: tuple[str, ...], strength_of: dict[str, float], dice: Random) -> Leg:
    """Return the result of a match by strength and luck."""
    form = [strength_of[entrant] + dice.gauss(0, 1) for entrant in seated]
    placements = tuple(1 + sum(other > own for other in form) for own in form)
    return Leg(seated, placements, (0,) * len(seated))


if __name__ == "__main__":
    run("pairing", "CPU time to pair the fifth round of a Swiss tournament", measure)
