"""How much better the house players ``sound`` and ``first`` do than ``random``: the same deals with seats exchanged.

A deal is played twice. The player takes every other seat, and the second time the seats that were left to ``random``;
chance brings the same both times, node by node. So neither seats nor cards favour anybody. The two playings make one
figure, of which the mean over the deals and its standard error are given.
"""

import statistics
from random import Random
from typing import Final

from bench.measure import Benchmark, Json, rounded
from bench.playouts import outcome
from referee.games import catalogue
from referee.games.state import State
from referee.house.strategies import HousePlayer, players

TABLES: Final = {
    "pool-nap": (2, 4),
    "prince-albert": (2, 4),
    "prisoners": (2, 4),
    "rummy-royal": (2, 4),
    "saint-poker": (2, 4),
}
DEALS: Final = 1000


def main() -> None:
    benchmark = Benchmark.from_command_line(
        "players",
        "house players against random over duplicate deals; placements: 0.5 is as good as random, 1 always ahead",
        deals={"type": int, "help": f"how many; {DEALS} when not given"},
    )
    deals = benchmark.given.deals or benchmark.size(DEALS, 2)
    figures: Json = {"deals": deals}
    for name, game in catalogue().items():
        for seats in TABLES.get(name, (game.seats[0],))[: 1 if benchmark.quick else None]:
            benchmark.note(f"{name} with {seats} seats")
            for player in ("sound", "first"):
                figures[f"{name}, {seats} seats, {player}"] = against_random(game, seats, player, deals)
    benchmark.report(figures)


def against_random(game: type[State], seats: int, player: str, deals: int) -> Json:
    results = [duplicate(game, seats, player, deal) for deal in range(deals)]
    return {
        "placements": with_error([share for share, _ in results]),
        "points ahead a match": with_error([points for _, points in results]),
    }


def duplicate(game: type[State], seats: int, player: str, deal: int) -> tuple[float, float]:
    """What the player made of a deal: its share of the comparisons with random's seats, and points ahead of them."""
    shares, points = [], []
    for turn in (0, 1):
        own = [seat for seat in range(seats) if seat % 2 == turn]
        others = [seat for seat in range(seats) if seat % 2 != turn]
        state = game.start(seats)
        play_out(state, {seat: player if seat in own else "random" for seat in range(seats)}, deal)
        places, returns = state.placements(), state.returns()
        compared = [ahead(places[one], places[other]) for one in own for other in others]
        shares.append(statistics.fmean(compared))
        mine, theirs = ([returns[seat] for seat in group] for group in (own, others))
        points.append(statistics.fmean(mine) - statistics.fmean(theirs))
    return statistics.fmean(shares), statistics.fmean(points)


def play_out(state: State, names: dict[int, str], deal: int) -> None:
    """To the end. What chance brings depends on the deal, the kind of node and its number alone."""
    seated: dict[int, HousePlayer] = {seat: players()[name](Random(f"{deal} {seat}")) for seat, name in names.items()}
    asked_before: dict[str, int] = {}
    while not state.over:
        asked = state.chance()
        if asked is not None:
            kind = asked["kind"]
            number = asked_before[kind] = asked_before.get(kind, 0) + 1
            state.resolve(outcome(asked, Random(f"{deal} {kind} {number}")))
            continue
        seat = state.pending()[0]
        state.apply(seat, seated[seat].decide(state.name, question(state, seat)))


def question(state: State, seat: int) -> Json:
    """What a player of ours reads of what a bot is asked."""
    return {
        "observation": state.observation(seat),
        "legal_actions": state.legal(seat),
        "default_action": state.default(seat),
    }


def ahead(own: int, other: int) -> float:
    """1 for the better placement, ½ for a tie, else 0."""
    return 0.5 if own == other else float(own < other)


def with_error(values: list[float]) -> str:
    """The mean and its standard error."""
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("inf")
    return f"{rounded(statistics.fmean(values)):g} ± {rounded(error, 2):g}"


if __name__ == "__main__":
    main()
