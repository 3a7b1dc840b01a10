"""CPU time of a Swiss stage, the fifth of an event, at tables of four and of two, for growing numbers of entrants."""

import statistics
from random import Random

from bench.measure import Benchmark, Json, cpu_seconds, rounded
from referee.pairing import Entrant, Leg, PairingInput, PairingRound, PlayedRound, formats
from referee.pairing.history import read_history
from referee.pairing.kinds import TournamentFormat
from referee.ratings.elo import START

BEFORE = 4  # stages played before the one that is measured


def main() -> None:
    benchmark = Benchmark.from_command_line("pairing", "CPU time of the fifth stage of a Swiss event")
    sizes = (12, 16, 20) if benchmark.quick else (100, 1_000, 10_000)
    figures = {
        f"tables of {'four' if seats == 4 else 'two'}": {
            f"{size:,} entrants": measured(benchmark, size, seats) for size in sizes
        }
        for seats in (4, 2)
    }
    benchmark.report(figures)


def measured(benchmark: Benchmark, size: int, seats: int) -> Json:
    """Milliseconds, and how many of the stage's meetings are repeats and how uneven its seats are."""
    benchmark.note(f"{size} entrants at tables of {seats}")
    swiss, event = formats()[TournamentFormat.SWISS], played_event(size, seats)
    cpu_ms = 1000 * statistics.median(cpu_seconds(lambda: swiss.next_round(event)) for _ in range(benchmark.runs))
    stage = swiss.next_round(event)
    assert stage is not None
    of = read_history(event)
    number = {one: at for at, one in enumerate(of.ids)}
    repeats = sum(
        number[other] in of.met[number[one]]
        for table in stage.tables
        for one in table.entrants
        for other in table.entrants
        if one < other
    )
    for table in stage.tables:
        for seat, one in enumerate(table.entrants):
            of.seat_counts[number[one]][seat] += 1
    uneven = max(max(sat) - min(sat) for sat in of.seat_counts)
    return {"CPU ms": rounded(cpu_ms), "repeat meetings": repeats, "most minus fewest of a seat": uneven}


def played_event(size: int, seats: int) -> PairingInput:
    """An event of entrants with strengths of their own, before its fifth stage; a fifth of them have siblings."""
    dice = Random(size)
    swiss = formats()[TournamentFormat.SWISS]
    owners = {at: f"owner {at // 2}" for at in range(size // 5)}
    strengths = [dice.gauss(0, 1) for _ in range(size)]
    entrants = tuple(
        Entrant(f"entry_{at:05}", owners.get(at, ""), START + int(strengths[at] * 200_000_000)) for at in range(size)
    )
    number = {entrant.id: at for at, entrant in enumerate(entrants)}
    event = PairingInput(seats, swiss.options({"stages": 5}, seats), 1, entrants, (), b"draw" * 8)
    for _ in range(BEFORE):
        stage = swiss.next_round(event)
        assert stage is not None
        form = [[strengths[number[one]] + dice.gauss(0, 1) for one in table.entrants] for table in stage.tables]
        event = PairingInput(seats, event.options, 1, entrants, (*event.played, results(stage, form)), event.draw_key)
    return event


def results(stage: PairingRound, form: list[list[float]]) -> PlayedRound:
    return PlayedRound(
        stage,
        tuple(
            (Leg(table.entrants, tuple(1 + sum(other > own for other in shown) for own in shown), (0,) * len(shown)),)
            for table, shown in zip(stage.tables, form, strict=True)
        ),
    )


if __name__ == "__main__":
    main()
