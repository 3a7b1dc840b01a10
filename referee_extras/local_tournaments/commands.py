"""Implement `referee tournament local`, which plays a tournament on this machine without a service."""

import asyncio
import hashlib
import json
import secrets
import sys
import time
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from referee.cli import problem_report
from referee.cli.live_view import LiveView
from referee.cli.options import (
    FOLDER,
    Number,
    choice_of,
    game_options,
    read_limits,
    secret_option,
    time_options,
    usage_errors,
)
from referee.cli.plain_text import note
from referee.cli.results_table import results_table
from referee.cli.tables import TextTable
from referee.games import game
from referee.games.options import parse_options
from referee.local import bot_files
from referee.local.matches import make_plan, parse_entrants
from referee.local.results import PlayerResults
from referee.pairing.kinds import SeatOrders
from referee.ratings.sprt import RunningTest
from referee_extras.local_tournaments.plan import LocalPlan, parse_hypotheses
from referee_extras.local_tournaments.runner import LocalTournament, fetch_manifests
from referee_extras.local_tournaments.standings import elo, standings_to_json
from referee_extras.local_tournaments.store import open_store, stored_seed

INTERRUPTED = 130
STEPS = 5  # lines of progress if the output is not a terminal
SHOW_S = 0.5  # minimum time between two updates of the live table
SHARE = 0.05  # maximum share of the time that is spent on updates


@click.command("local")
@click.argument("players", metavar="PLAYER...", nargs=-1, required=True)
@click.option("--game", "game_name", required=True, metavar="GAME", help="Game to play; `referee games` lists them.")
@click.option("--deals", type=Number(1, 99_999), required=True, help="Number of deals. A later run may request more.")
@click.option("--seats", type=Number(2), help="Seats per table. [default: one table for all players]")
@click.option(
    "--orders",
    type=choice_of(SeatOrders),
    default=SeatOrders.CYCLIC.value,
    help="Seat orders in which each table plays a deal: rotations only, or all permutations.",
)
@game_options
@click.option("--out", type=FOLDER, help="Directory for the logs. [default: named after the game and the seed]")
@click.option(
    "--seed", metavar="TEXT", help="Any text; the same seed gives the same cards. [default: that of DIR, or a new one]"
)
@click.option(
    "--sprt",
    metavar="elo0=0,elo1=20[,alpha=0.05,beta=0.05]",
    help="Stop as soon as a sequential test decides between these two Elo differences.",
)
@click.option("--concurrency", type=Number(1, 256), default=16, help="Number of matches played at the same time.")
@time_options
@secret_option("Secret that signs the calls to bots.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the tables.")
def local(
    players: tuple[str, ...],
    game_name: str,
    deals: int,
    seats: int | None,
    orders: str,
    given: tuple[str, ...],
    out: Path | None,
    seed: str | None,
    sprt: str | None,
    concurrency: int,
    budget_ms: int,
    bank_ms: int,
    no_time_limits: bool,
    secret: str | None,
    as_json: bool,
) -> None:
    """Play a tournament on this machine, without a service.

    A PLAYER is a bot's URL, its file, or house:1 … house:4. Every set of players that fills a table plays every deal in
    several seat orders (see --orders), so that all have the same luck with cards and seats. Every match is logged in
    DIR. After Ctrl-C the same command resumes: finished deals count, and an interrupted deal is played again.

    \b
    Example:
      referee tournament local --game pool-nap --deals 200 --out duel \\
          --sprt elo0=0,elo1=30 ./mybot.py house:3
    """
    out = out or (Path(f"{game_name}-{_short(seed)}") if seed else None)
    seed = seed or (out and stored_seed(out)) or secrets.token_hex(8)
    out = out or Path(f"{game_name}-{_short(seed)}")
    limits = read_limits(budget_ms, bank_ms, no_time_limits)
    signing, seats = (secret,) if secret else (), seats or len(players)
    with usage_errors():
        entrants, options = parse_entrants(players), parse_options(game_name, game(game_name).option_specs, given)
        playing = make_plan(game_name, entrants, options, seed, limits, seats=seats, secrets=signing)
        plan = LocalPlan(playing, seats, deals, SeatOrders(orders), parse_hypotheses(sprt) if sprt else None)
        plan.check()
    sys.exit(_run(plan, out, concurrency, as_json))


def _run(plan: LocalPlan, out: Path, concurrency: int, as_json: bool) -> int:
    """Start the bots that are given as files and play. Return the exit status."""
    playing = plan.match_plan
    try:
        with bot_files.run_bots(playing.entrants, playing.secrets, note) as running:
            playing = replace(playing, entrants=running.entrants, secrets=running.secrets)
            return _play_and_report(replace(plan, match_plan=playing), running, out, concurrency, as_json)
    except KeyboardInterrupt:  # before the first match, or after the last
        return INTERRUPTED


def _play_and_report(
    plan: LocalPlan, running: bot_files.RunningBots, out: Path, concurrency: int, as_json: bool
) -> int:
    """Play the tournament and show the result. Return the exit status."""
    console = Console(quiet=as_json, highlight=False)
    playing = plan.match_plan
    with asyncio.Runner() as runner:
        entrants = runner.run(fetch_manifests(playing.entrants, playing.game, playing.secrets))
        plan = replace(plan, match_plan=replace(playing, entrants=entrants))
        with open_store(out, plan) as store:
            title = f"{playing.game}, {plan.deals} deals, seed {playing.seed}"
            interrupted = False
            with LiveView(console, STEPS) as view:
                tournament = LocalTournament(plan, store, _ThrottledView(view, title))
                stored = tournament.load_stored_deals()
                if stored:
                    console.print(f"{out}: {stored} deals are already stored")
                try:
                    runner.run(tournament.play(concurrency))
                except KeyboardInterrupt:
                    interrupted = True
    report = problem_report.report(running, tournament.problems, playing.limits)
    if as_json:
        outcome = standings_to_json(plan, tournament.results(), tournament.running)
        outcome["problems"] = {name: problems.to_json() for name, problems in tournament.problems.items()}
        click.echo(json.dumps({**outcome, "directory": str(out), "interrupted": interrupted}))
    else:
        click.echo(standings_table(title, tournament.results()).plain())
        if tournament.running:
            click.echo(f"{verdict(plan, tournament.running)}\n{evidence(tournament.running)}")
        resumes = "; run the same command to resume" if interrupted else ""
        click.echo(f"{tournament.deals} deals count; the logs are in {out}{resumes}")
    report.show()
    return INTERRUPTED if interrupted else report.status


class _ThrottledView:
    """Update the live view rarely enough to spend at most ``SHARE`` of the time on updates."""

    def __init__(self, view: LiveView, title: str) -> None:
        self._view = view
        self._title = title
        self._due = 0.0

    def __call__(self, tournament: LocalTournament) -> None:
        began = time.monotonic()
        if began < self._due:
            return
        table = standings_table(self._title, tournament.results())
        self._due = began + max(SHOW_S, (time.monotonic() - began) / SHARE)
        if tournament.running:
            table = replace(table, title=f"{self._title}\n{verdict(tournament.plan, tournament.running)}")
        total = tournament.plan.deals * tournament.plan.matches_per_deal
        progress = f"{self._title}: {tournament.matches} of {total} matches"
        self._view.show(table, progress, tournament.matches, total)


def _short(seed: str) -> str:
    """Return a hash of the seed. Unlike the seed itself, it is always valid as part of a directory name."""
    return hashlib.sha256(seed.encode()).hexdigest()[:12]


def standings_table(title: str, results: PlayerResults) -> TextTable:
    """Return the standings as a table for the terminal."""
    ranked = results.rank()
    more = {
        "matches": [str(len(result.placements)) for result in ranked],
        "Elo": [_elo(result.score) for result in ranked],
        "95 %": [" … ".join(map(_elo, result.interval or ())) or "-" for result in ranked],
    }
    return results_table(ranked, title, more)


def verdict(plan: LocalPlan, running: RunningTest) -> str:
    """Return the state of the sequential test as a sentence."""
    test = running.test
    first, other = (entrant.name for entrant in plan.match_plan.entrants)
    after = f"after {running.groups} deals"
    if running.verdict == "h1":
        return f"settled: {first} is {_format_distance(test.elo0)} {other} ({after})"
    if running.verdict == "h0":
        return f"settled: {first} is not {_format_distance(test.elo1, more=False)} {other} ({after})"
    return (
        f"not settled {after}: whether {first} is {_format_distance(test.elo1, more=False)} {other}, or not even "
        f"{_format_distance(test.elo0)} it; to play more deals, raise --deals"
    )


def evidence(running: RunningTest) -> str:
    """Return the numbers behind the verdict as a sentence. --json has them, too."""
    test = running.test
    return (
        f"log-likelihood ratio {running.ratio:.2f}, settled at {test.lower:.2f} or {test.upper:.2f}; Elo bounds "
        f"{test.elo0:g} and {test.elo1:g}, risks of a wrong verdict {test.alpha:.1%} and {test.beta:.1%}"
    )


def _format_distance(elo: float, *, more: bool = True) -> str:
    """Return "better than" with the distance: at least ``elo``, or more than ``elo``."""
    if elo == 0:
        return "better than"
    if elo < 0:
        return f"less than {-elo:g} Elo worse than"
    return f"more than {elo:g} Elo better than" if more else f"{elo:g} Elo better than"


def _elo(score: float) -> str:
    value = elo(score)
    return f"{value:+.0f}" if value is not None else "+inf" if score >= 1 else "-inf"
