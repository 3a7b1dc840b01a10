"""Implement `referee house calibrate`, which measures the levels of house players and writes their ratings."""

import os
from collections.abc import Callable
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import click

from referee.cli.options import FILE, Number, games_option, json_option
from referee.cli.output import show
from referee.cli.progress import progress_bar
from referee.games import catalogue
from referee.house import calibration
from referee.house.players import LEVELS
from referee.match.canonical import Json
from referee_extras.calibration.comparison import Comparison, Pairing, play_deals
from referee_extras.calibration.level_ratings import rate_levels, store_ratings

DEALS = 1000


@click.command()
@click.option("--deals", type=Number(2, 1_000_000), default=DEALS, help="Deals per comparison, each played twice.")
@games_option("Game to calibrate. Repeatable. [default: all]")
@click.option(
    "--search-deals",
    type=Number(2, 1_000_000),
    show_default=False,
    help="Deals of the comparisons with players that search, which take long. [default: as --deals]",
)
@click.option("--seed", metavar="TEXT", default="calibration", help="Any text; the same seed gives the same deals.")
@click.option("--processes", type=Number(1, 1000), default=os.cpu_count() or 1, help="Number of processes.")
@click.option("--out", type=FILE, default=calibration.FILE, show_default=False, help="File. [default: the package's]")
@json_option
def calibrate(
    deals: int,
    games: tuple[str, ...],
    search_deals: int | None,
    seed: str,
    processes: int,
    out: Path,
    as_json: bool,
) -> None:
    """Compare each level with the one below and write the ratings.

    Print the share of placements that the upper level wins from the lower one, with its standard error. Each deal is
    played twice, with the seats exchanged, at the standard number of seats of the game.
    """
    say: Callable[[str], object] = _say_nothing if as_json else click.echo
    items: list[Json] = []
    for game_name in games or sorted(catalogue()):
        seats = catalogue()[game_name].standard_seats
        say(f"{game_name}, {seats} seats")
        pairs = [Pairing(game_name, seats, upper.address(), lower.address(), seed) for lower, upper in pairwise(LEVELS)]
        long = search_deals or deals
        compared = [_compare(pairing, long if pairing is pairs[-1] else deals, processes, say) for pairing in pairs]
        items += map(asdict, compared)
        store_ratings(rate_levels(compared), out)
    if as_json:
        show({"file": str(out), "items": items}, "", as_json=True)


def _say_nothing(_line: str) -> None:
    """Leave standard output to the JSON document."""


def _compare(pairing: Pairing, deals: int, processes: int, say: Callable[[str], object]) -> Comparison:
    results = []
    with progress_bar(f"{pairing.player} against {pairing.rival}") as update:
        for result in play_deals(pairing, deals, processes):
            results.append(result)
            update(len(results), deals, f"{pairing.player} against {pairing.rival}")
    compared = Comparison.summarize(pairing, results)
    say(
        f"  {pairing.player} against {pairing.rival}: {100 * compared.share:.1f} ± {100 * compared.error:.1f} % of "
        f"placements in {compared.deals} deals, {compared.cpu_ms:.2f} ms of CPU per decision"
    )
    return compared
