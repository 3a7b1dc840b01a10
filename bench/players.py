"""Compare the strength of the house players ``sound`` and ``first`` with that of ``random``, over duplicate deals.

Each deal is played twice: the player takes every other seat, then the seats that ``random`` had. Outcomes of chance are
the same in both matches, so neither seats nor cards favour a player. Both matches together count as one value. Figures
are the mean over the deals and its standard error.
"""

import statistics
from random import Random
from typing import Final

from bench.measure import Benchmark, Json, run, significant
from bench.playouts import draw
from referee.games import catalogue
from referee.games.state import State
from referee.house.strategies import players

TABLES: Final = (2, 4)  # numbers of seats
DEALS: Final = 1000


def measure(benchmark: Benchmark) -> Json:
    deals = benchmark.options.deals or benchmark.size(DEALS, 2)
    figures: Json = {"deals": deals}
    for name, game in catalogue().items():
        for seats in TABLES[: benchmark.size(2, 1)]:
            benchmark.note(f"{name} with {seats} seats")
            for player in ("sound", "first"):
                figures[f"{name}, {seats} seats, {player}"] = play_against_random(game, seats, player, deals)
    return figures


def play_against_random(game: type[State], seats: int, player: str, deals: int) -> Json:
    results = [play_duplicate(game, seats, player, deal) for deal in range(deals)]
    return {
        "placements": mean_and_error([share for share, _ in results]),
        "points ahead per match": mean_and_error([points for _, points in results]),
    }


def play_duplicate(game: type[State], seats: int, player: str, deal: int) -> tuple[float, float]:
    """Play a deal twice. Return the player's share of won comparisons with ``random``, and its lead in points."""
    shares, leads = [], []
    for parity in (0, 1):
        own = [seat for seat in range(seats) if seat % 2 == parity]
        others = [seat for seat in range(seats) if seat % 2 != parity]
        state = game.start(seats)
        play_out(state, {seat: player if seat in own else "random" for seat in range(seats)}, deal)
        placements, returns = state.placements(), state.returns()
        shares += [compare_placements(placements[seat], placements[other]) for seat in own for other in others]
        leads.append(
            statistics.fmean(returns[seat] for seat in own) - statistics.fmean(returns[seat] for seat in others)
        )
    return statistics.fmean(shares), statistics.fmean(leads)


def play_out(state: State, names: dict[int, str], deal: int) -> None:
    """Play to the end. Make outcomes of chance depend only on the deal, the kind of request and its number."""
    seated = {seat: players()[name](Random(f"{deal} {seat}")) for seat, name in names.items()}
    nodes: dict[str, int] = {}
    while not state.over:
        request = state.chance()
        if request is not None:
            kind = request["kind"]
            nodes[kind] = nodes.get(kind, 0) + 1
            state.resolve(draw(request, Random(f"{deal} {kind} {nodes[kind]}")))
            continue
        seat = state.pending()[0]
        question = {
            "observation": state.observation(seat),
            "legal_actions": state.legal(seat),
            "default_action": state.default(seat),
        }
        state.apply(seat, seated[seat].decide(state.name, question))


def compare_placements(own: int, other: int) -> float:
    """Return 1 for the better placement, ½ for a tie, else 0."""
    return 0.5 if own == other else float(own < other)


def mean_and_error(values: list[float]) -> str:
    """Return the mean and its standard error as text."""
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("inf")
    return f"{significant(statistics.fmean(values)):g} ± {significant(error, 2):g}"


if __name__ == "__main__":
    about = "house players against random over duplicate deals; placements: 0.5 is as good as random, 1 always ahead"
    run("players", about, measure, deals={"type": int, "help": f"Number of deals; {DEALS} by default."})
