"""Implement `referee play`, which plays matches between bots and house players on this machine without a service."""

import asyncio
import gzip
import json
import os
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from referee.cli import problem_report
from referee.cli.narrate import narrate_match
from referee.cli.options import PATH, Number, game_options, read_limits, secret_option, time_options, usage_errors
from referee.cli.plain_text import note
from referee.cli.problem_report import ProblemReport
from referee.cli.results_table import results_table
from referee.cli.tables import TextTable
from referee.conformance.report import percentiles
from referee.games import game
from referee.games.options import parse_options
from referee.local import bot_files, replay_page
from referee.local import matches as local
from referee.local.matches import LocalMatchPlan, LocalResult
from referee.local.replay_page import NotWritten
from referee.local.results import PlayerResults
from referee.match.log import parse_row

LAST_MATCH = (Path("replay.ndjson"), Path("replay.html"))  # written after a single match


@click.command()
@click.argument("game_name", metavar="GAME")
@click.argument("players", metavar="PLAYER...", nargs=-1, required=True)
@click.option(
    "--seed",
    metavar="TEXT",
    help="Any text; the same seed gives the same cards. [default: a random one, which is printed]",
)
@click.option("--matches", type=Number(1, 100_000), default=1, help="Number of matches to play.")
@game_options
@click.option(
    "--log",
    type=PATH,
    metavar="FILE",
    help="Write the log as NDJSON, compressed if FILE ends in .gz. With several matches, FILE becomes FILE-001, "
    "FILE-002 …; if FILE is a directory, each log is named after its match.",
)
@click.option(
    "--html",
    type=PATH,
    metavar="FILE",
    help="Write an HTML page that shows the match card by card, with the question of each decision; it can be opened "
    "from disk. With several matches, files are named as for --log.",
)
@click.option(
    "--no-files",
    is_flag=True,
    help="Do not write replay.ndjson and replay.html, as is done by default for a single match.",
)
@time_options
@secret_option("Secret that signs the calls to bots.")
@click.option("--narrate", is_flag=True, help="Narrate each match, move by move.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per match instead of a table.")
def play(
    game_name: str,
    players: tuple[str, ...],
    seed: str | None,
    matches: int,
    given: tuple[str, ...],
    log: Path | None,
    html: Path | None,
    no_files: bool,
    budget_ms: int,
    bank_ms: int,
    no_time_limits: bool,
    secret: str | None,
    narrate: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Play matches of GAME between PLAYERs on this machine.

    A PLAYER is a bot's URL, its file, or house:1 … house:4. A file (bot.py, bot.mjs,
    bot.go, anything executable, or the folder of a `bot.…`) is started for the duration of the matches; it receives a
    port in $PORT and as its first argument, and a secret in $REFEREE_BOT_SECRET. If only one match is played, it is
    written to replay.ndjson and replay.html in the current folder, replacing earlier ones, unless --log, --html or
    --json is given. Bots are only asked for decisions; nothing is sent to their /notify. After each match, all players
    move to the next seat; they get new cards when each has had every seat. Problems are reported on standard error:
    faults with advice, errors that a bot reported in its answers, and the last lines or the traceback that a FILE
    wrote. The exit status is 0 even if there are problems, but 3 if a player was never reached or if a FILE exited on
    its own.
    """
    limits = read_limits(budget_ms, bank_ms, no_time_limits)
    seed, signing = seed or secrets.token_hex(8), (secret,) if secret else ()
    with usage_errors():
        entrants, options = local.parse_entrants(players), parse_options(game_name, game(game_name).option_specs, given)
        plan = local.make_plan(game_name, entrants, options, seed, limits, seats=len(players), secrets=signing)
    shown = not quiet and not as_json
    own = matches == 1 and not (log or html or no_files or as_json) and os.access(LAST_MATCH[0].parent, os.W_OK)
    if shown:
        click.echo(f"{game_name}, seed {plan.seed}")

    def print_match(played: LocalResult, paths: "_Paths", number: int) -> None:
        if as_json:
            click.echo(json.dumps(summary(played, *paths)))
        elif shown:
            click.echo(_format_result(played, paths, number, several=matches > 1, narrate=narrate))

    results, report = _run(plan, matches, LAST_MATCH if own else (log, html), print_match, quiet=quiet)
    if shown and matches > 1:
        click.echo("\n" + results_table(results.rank()).plain())
    if shown and not (own or log):
        earlier = f" {LAST_MATCH[0]} is that of an earlier match." if LAST_MATCH[0].exists() else ""
        note(f"No log was written. Pass --log FILE to keep one.{earlier}")
    report.show()
    sys.exit(report.status)


def _run(
    plan: LocalMatchPlan,
    matches: int,
    paths: "_Paths",
    print_match: Callable[[LocalResult, "_Paths", int], None],
    *,
    quiet: bool,
) -> tuple[PlayerResults, ProblemReport]:
    """Start the bots given as files, play all matches and print each.

    Return the results and a problem report. With ``quiet``, the report omits players that were reached.
    """
    results = PlayerResults(entrant.name for entrant in plan.entrants)
    with bot_files.run_bots(plan.entrants, plan.secrets, note) as running:
        plan = replace(plan, entrants=running.entrants, secrets=running.secrets)
        for number, (played, written) in enumerate(_play_matches(plan, matches, *paths)):
            results.add_played(played)
            print_match(played, written, number)
        problems = {name: own.problems for name, own in results.players.items()}
        return results, problem_report.report(running, problems, plan.limits, missing_only=quiet)


def _format_result(played: LocalResult, paths: "_Paths", number: int, *, several: bool, narrate: bool) -> str:
    story = "\n".join(narrate_match([parse_row(line) for line in played.lines])) + "\n\n" if narrate else ""
    if several:
        return f"{story}{number + 1:>4}  {_line(played)}" + "".join(f"  {path}" for path in paths if path)
    named = zip(("log", "page"), paths, strict=True)
    return story + table(played) + "".join(f"\n{name}: {path}" for name, path in named if path)


_Paths = tuple[Path | None, Path | None]  # the log and the page, if written


def _play_matches(
    plan: LocalMatchPlan, matches: int, log: Path | None, html: Path | None
) -> Iterator[tuple[LocalResult, _Paths]]:
    with asyncio.Runner() as runner:
        for number in range(matches):
            played = runner.run(local.play_numbered_match(plan, number))
            log_path = _path(log, played, number, matches, ".ndjson") if log else None
            if log_path:
                write(log_path, played.lines)
            page_path = _path(html, played, number, matches, ".html") if html else None
            if page_path:
                replay_page.write_page(page_path, played.lines)
            yield played, (log_path, page_path)


def _path(wanted: Path, played: LocalResult, number: int, matches: int, ending: str) -> Path:
    if wanted.is_dir():
        return wanted / f"{played.header['match']}{ending}"
    if matches == 1:
        return wanted
    name, dot, ending = wanted.name.partition(".")
    return wanted.with_name(f"{name}-{number + 1:03}{dot}{ending}")


def write(path: Path, lines: Sequence[bytes]) -> None:
    text = b"".join(line + b"\n" for line in lines)
    try:
        path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    except OSError as error:
        raise NotWritten(f"Cannot write the log to {path}: {error.strerror}.") from error


# -- output --


def summary(played: LocalResult, path: Path | None, page: Path | None = None) -> dict[str, object]:
    header, result = played.header, played.result
    return {
        "match": header["match"],
        "game": header["game"],
        "options": header["options"],
        "players": played.names,
        **{name: result[name] for name in ("scores", "returns", "placements", "faults")},
        "problems": [problems.to_json() for problems in played.problems],
        "ms": [percentiles(problems.ms) if problems.ms else None for problems in played.problems],
        "log": str(path) if path else None,
        **({"html": str(page)} if page else {}),
    }


def _line(played: LocalResult) -> str:
    result = played.result
    seats = sorted(range(len(result["placements"])), key=lambda seat: (result["placements"][seat], seat))
    return ", ".join(f"{result['placements'][seat]}. {played.names[seat]} ({result['scores'][seat]})" for seat in seats)


def table(played: LocalResult) -> str:
    """Return the result as a table in order of placement, with a column for errors that bots reported, if any."""
    result, errors = played.result, [problems.errors for problems in played.problems]
    rows = [
        (
            *(str(result["placements"][seat]), name, str(result["scores"][seat])),
            *(str(result["faults"][seat]), *([str(errors[seat])] if any(errors) else [])),
        )
        for seat, name in enumerate(played.names)
    ]
    titles = ("place", "player", "score", "faults", *(["errors"] if any(errors) else []))
    return TextTable(titles, sorted(rows, key=lambda row: int(row[0])), left=("player",)).plain()
