"""`referee tournament local`: a tournament on this machine, without any service."""

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
from referee.cli.house import checked_secret
from referee.cli.live_view import Screen
from referee.cli.play import planned
from referee.errors import BadOption
from referee.local import bot_files, tournament_standings
from referee.local.tournament_plan import LocalPlan, hypotheses
from referee.local.tournament_runner import Tournament, fetch_manifests
from referee.local.tournament_store import kept_seed, opened
from referee.match.time_limits import Limits

INTERRUPTED = 130
SHOW_S = 0.5  # between two tables on the screen, at least
SHARE = 0.05  # of the time, at most, goes into tables


@click.command("local")
@click.argument("players", metavar="PLAYER...", nargs=-1, required=True)
@click.option("--game", "game_name", required=True, metavar="GAME", help="See referee games.")
@click.option("--deals", type=click.IntRange(1, 99_999), required=True, help="How many; more may be asked for later.")
@click.option("--seats", type=click.IntRange(2), help="Of a table. [default: all players at one]")
@click.option("--orders", type=click.Choice(["cyclic", "all"]), default="cyclic", show_default=True, help="Of seats.")
@click.option("--option", "given", metavar="NAME=VALUE", multiple=True, help="An option of the game; repeatable.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="For the logs.")
@click.option("--seed", help="Any text; the same seed deals the same cards. [default: that of DIR, or a new one]")
@click.option("--sprt", metavar="elo0=0,elo1=20[,alpha=0.05,beta=0.05]", help="Stop when this is settled.")
@click.option("--at-once", type=click.IntRange(1, 256), default=16, show_default=True, help="Matches under way.")
@click.option(
    "--budget-ms", type=click.IntRange(1, 600_000), default=Limits().budget_ms, show_default=True, help="A decision."
)
@click.option(
    "--bank-ms",
    type=click.IntRange(0, 3_600_000),
    default=Limits().bank_ms,
    show_default=True,
    help="A match, besides.",
)
@click.option("--secret", envvar="REFEREE_BOT_SECRET", callback=checked_secret, help="whsec_…: sign the calls with it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document in place of the tables.")
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
    at_once: int,
    budget_ms: int,
    bank_ms: int,
    secret: str | None,
    as_json: bool,
) -> None:
    """Play the same deals with the seats turned between PLAYERs, each a bot's URL, its file, or house:NAME.

    Every set of players that fills a table plays every deal in all orders of its seats, so the luck of the cards
    and of the seat is the same for all. Every match is logged in DIR. After Ctrl-C the same command goes on where
    it was: whole deals count, a deal that was cut is played again.

    \b
    Example:
      referee tournament local --game pool-nap --deals 200 --out duel \\
          --sprt elo0=0,elo1=30 ./mybot.py house:sound
    """
    out = out or (Path(f"{game_name}-{_short(seed)}") if seed else None)
    seed = seed or (out and kept_seed(out)) or secrets.token_hex(8)
    out = out or Path(f"{game_name}-{_short(seed)}")
    playing = planned(game_name, players, seed, given, Limits(budget_ms, bank_ms), seats or len(players))
    playing = replace(playing, secrets=(secret,) if secret else ())
    plan = LocalPlan(playing, seats or len(players), deals, orders)
    try:
        plan = replace(plan, hypotheses=hypotheses(sprt) if sprt else None)
        plan.check()
    except BadOption as error:
        raise click.UsageError(f"{error.field}: {error.reason}") from error
    sys.exit(_run(plan, out, at_once, as_json))


def _run(plan: LocalPlan, out: Path, at_once: int, as_json: bool) -> int:
    """Starts the bots that are files and plays; gives the exit status."""
    playing = plan.playing
    try:
        with bot_files.started(playing.entrants, playing.secrets) as running:
            playing = replace(playing, entrants=running.entrants, secrets=running.secrets)
            return _played(replace(plan, playing=playing), running, out, at_once, as_json)
    except KeyboardInterrupt:  # before the first match, or after the last
        return INTERRUPTED


def _played(plan: LocalPlan, running: bot_files.Running, out: Path, at_once: int, as_json: bool) -> int:
    """Plays it and shows what came of it; gives the exit status."""
    console = Console(quiet=as_json, highlight=False)
    playing = plan.playing
    with asyncio.Runner() as runner:
        entrants = runner.run(fetch_manifests(playing.entrants, playing.game, playing.secrets))
        plan = replace(plan, playing=replace(playing, entrants=entrants))
        with opened(out, plan) as record:
            title = f"{playing.game}, {plan.deals} deals, seed {playing.seed}"
            interrupted = False
            with Screen(console, title, plan.deals * plan.matches_of_a_deal) as screen:
                tournament = Tournament(plan, record, _Shower(screen, title))
                known = tournament.take_up()
                if known:
                    console.print(f"{out}: {known} deals are there already")
                try:
                    runner.run(tournament.play(at_once))
                except KeyboardInterrupt:
                    interrupted = True
    report = problem_report.report(running, tournament.problems)
    if as_json:
        outcome = tournament_standings.as_json(plan, tournament.counted(), tournament.running)
        outcome["problems"] = {name: one.to_json() for name, one in tournament.problems.items()}
        click.echo(json.dumps({**outcome, "directory": str(out), "interrupted": interrupted}))
        report.show()
        return INTERRUPTED if interrupted else report.status
    click.echo(tournament_standings.shown(title, tournament_standings.table(plan, tournament.counted())).plain())
    if tournament.running:
        click.echo(tournament_standings.verdict(plan, tournament.running))
    click.echo(f"{tournament.deals} deals count; logs: {out}" + ("; the same command goes on" if interrupted else ""))
    report.show()
    return INTERRUPTED if interrupted else report.status


class _Shower:
    """Shows the state of play now and then, so that showing takes little of the time."""

    def __init__(self, screen: Screen, title: str) -> None:
        self._screen = screen
        self._title = title
        self._due = 0.0

    def __call__(self, tournament: Tournament) -> None:
        began = time.monotonic()
        if began < self._due:
            return
        lines = tournament_standings.table(tournament.plan, tournament.counted())
        self._due = began + max(SHOW_S, (time.monotonic() - began) / SHARE)
        title = self._title
        if tournament.running:
            title += "\n" + tournament_standings.verdict(tournament.plan, tournament.running)
        self._screen.show(tournament.matches, tournament_standings.shown(title, lines))


def _short(seed: str) -> str:
    """A name that a directory can have, whatever the seed is."""
    return hashlib.sha256(seed.encode()).hexdigest()[:12]
