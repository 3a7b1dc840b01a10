"""The engine alone: decisions and clones a CPU second, poker hands ranked; no match, no log, no network."""

from collections.abc import Callable
from random import Random
from typing import Any

from bench.measure import Benchmark, Json, per_cpu_second, rounded
from referee.cards import DECK
from referee.games import catalogue
from referee.games.state import State
from referee.poker import rank

SEATS = {"saint-poker": (2, 5), "pool-nap": (3, 5)}
HANDS = 50_000


def main() -> None:
    benchmark = Benchmark.from_command_line("engine", "decisions, clones and poker hands a CPU second")
    figures: Json = {}
    for name, game in catalogue().items():
        for seats in SEATS.get(name, (game.seats[0], game.seats[-1])):
            benchmark.note(f"{name} with {seats} seats")
            figures[f"{name} ({seats} seats)"] = of_game(game, seats, benchmark)
    benchmark.note("poker hands")
    figures["poker hands ranked per CPU second"] = {f"{size} cards": ranked(size, benchmark) for size in (5, 7)}
    benchmark.report(figures)


def of_game(game: type[State], seats: int, benchmark: Benchmark) -> Json:
    """Uniform choice among the legal actions; then the same with the acting seat's observation built each time."""
    decisions = benchmark.size(15_000, 300)

    def bare() -> None:
        play(game, seats, decisions, lambda state, seat: None)

    def observed() -> None:
        play(game, seats, decisions, lambda state, seat: state.observation(seat))

    bare()  # tables that are filled at first use
    return {
        "decisions per CPU second": rounded(per_cpu_second(decisions, bare, benchmark.runs)),
        "with observation": rounded(per_cpu_second(decisions, observed, benchmark.runs)),
        "clone_us": rounded(clone_us(game, seats, benchmark)),
    }


def play(game: type[State], seats: int, decisions: int, look: Callable[[State, int], Any]) -> None:
    """Random matches, one after the other, until so many decisions were made."""
    rng = Random(1)
    choose = rng.choice
    made = 0
    while made < decisions:
        state = game.start(seats)
        while not state.over and made < decisions:
            asked = state.chance()
            if asked is not None:
                state.resolve(outcome(asked, rng))
                continue
            seat = state.pending()[0]
            look(state, seat)
            state.apply(seat, choose(state.legal(seat)))
            made += 1


def outcome(asked: Json, rng: Random) -> Any:
    """What chance brings."""
    if asked["kind"] == "deck":
        return rng.sample(asked["cards"], len(asked["cards"]))
    if asked.get("ordered"):
        return rng.sample(asked["among"], len(asked["among"]))
    return rng.choice(asked["among"])


def clone_us(game: type[State], seats: int, benchmark: Benchmark) -> float:
    """A copy of a position, over the positions of a random match."""
    positions: list[State] = []
    play(game, seats, 200, lambda state, seat: positions.append(state.clone()))
    rounds = benchmark.size(50, 1)

    def copies() -> None:
        for _ in range(rounds):
            for position in positions:
                position.clone()

    return 1e6 / per_cpu_second(rounds * len(positions), copies, benchmark.runs)


def ranked(size: int, benchmark: Benchmark) -> float:
    """Hands of so many cards ranked from their names; every hand is met once before the clock starts."""
    rng = Random(1)
    hands = [rng.sample(DECK, size) for _ in range(benchmark.size(HANDS, 500))]

    def rank_all() -> None:
        for hand in hands:
            rank(hand)

    rank_all()
    return rounded(per_cpu_second(len(hands), rank_all, benchmark.runs))


if __name__ == "__main__":
    main()
