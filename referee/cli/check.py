"""Implement `referee check`, which runs the conformance suite against a bot at any address, without a service."""

import asyncio
import json
import secrets as chance
from dataclasses import replace
from pathlib import Path
from random import Random

import click
from rich.console import Console
from rich.progress import TimeElapsedColumn

from referee.botclient.address_guard import parse_url
from referee.botclient.client import CallLimits, CallTarget
from referee.cli import problem_report
from referee.cli.check_report import print_report, save_requests
from referee.cli.options import FOLDER, Number, games_option, secret_option, usage_errors
from referee.cli.plain_text import note, replace_control_characters
from referee.cli.progress import progress_bar
from referee.conformance.causes import slowness
from referee.conformance.context import MIN_TIMED, Pace
from referee.conformance.report import ConformanceReport, ConformanceVerdict
from referee.conformance.suite import run_check
from referee.errors import Unavailable
from referee.house.players import is_house
from referee.local import bot_files
from referee.local.matches import LOCAL_POLICY, LocalEntrant, find_program, local_id
from referee.protocol.signing import secret_bytes

STATUS = {
    ConformanceVerdict.PASS: 0,
    ConformanceVerdict.FAIL: 1,
    ConformanceVerdict.UNREACHABLE: 3,
    ConformanceVerdict.INTERRUPTED: 130,
}
QUESTIONS = 200
FULL_QUESTIONS = 2_000
FULL_PAUSE_S = 30.0


@click.command()
@click.argument("bot", metavar="URL|FILE")
@secret_option("Secret of the bot. It signs the calls, and the check then covers the bot's handling of signatures.")
@click.option(
    "--secret-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File that contains only the secret.",
)
@games_option("Ask about this game. Repeatable. [default: all games that the manifest names]")
@click.option("--seed", metavar="TEXT", help="Any text; the same seed gives the same questions. [default: a new one]")
@click.option(
    "--questions",
    type=Number(1, 100_000),
    help=f"Approximate number of decisions to ask for. [default: {QUESTIONS}, with --full {FULL_QUESTIONS}]",
)
@click.option(
    "--full", is_flag=True, help="Ask more questions, pause longer, and make as many concurrent calls as allowed."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--save", type=FOLDER, help="Write the request behind each finding to a shell script in DIR.")
def check(
    bot: str,
    secret: str | None,
    secret_file: Path | None,
    games: tuple[str, ...],
    seed: str | None,
    questions: int | None,
    full: bool,
    as_json: bool,
    save: Path | None,
) -> None:
    """Check the bot at URL: every decision of its games, signatures, and repeated or broken calls.

    A FILE, or a folder with a `bot.…`, is started with a secret for the duration of the check. If the bot fails or
    writes a traceback, its output is shown on standard error. The exit status is 0 if the bot passes (warnings
    allowed), 1 if it fails, 3 if it cannot be reached. Ctrl-C ends the check with a report of what was found so far and
    status 130.
    """
    seed = seed or chance.token_hex(8)
    secret = _secret(secret, secret_file)
    asked = questions or (FULL_QUESTIONS if full else QUESTIONS)
    pace = replace(Pace(), idle_s=FULL_PAUSE_S, max_concurrent=100) if full else Pace()
    try:
        with bot_files.run_bots([_entrant(bot)], (secret,) if secret else (), note) as running:
            target = CallTarget(local_id("bot", "check", seed), running.entrants[0].address, running.secrets)
            report = _run_suite(target, games, asked, seed, pace, quiet=as_json)
            failed = bool(report.findings_of("fail"))
            outputs = [problem_report.output_of(bot, process, failed=failed) for process in running.processes]
    except Unavailable as error:
        click.echo(f"Error: The bot cannot be called from here: {error}", err=True)
        raise SystemExit(STATUS[ConformanceVerdict.UNREACHABLE]) from error
    if save:
        save_requests(((finding.id, finding.curl) for finding in report.folded_findings), save)
    if as_json:
        click.echo(json.dumps({"seed": seed} | report.to_json()))
    else:
        print_report(report, seed, Console(), saved=save)
    for output in filter(None, outputs):
        click.echo(f"\n{replace_control_characters(output)}", err=True)
    raise SystemExit(STATUS[report.verdict])


def _run_suite(
    target: CallTarget, games: tuple[str, ...], asked: int, seed: str, pace: Pace, *, quiet: bool
) -> ConformanceReport:
    dice = Random(f"referee check|{seed}")  # noqa: S311  # selects questions; not used for security
    with progress_bar("check", time_column=TimeElapsedColumn(), hidden=quiet, lines=True) as update:
        is_noted = False

        def tell(asked: int, planned: int, step: str, median_ms: float | None) -> None:
            nonlocal is_noted
            median = "" if median_ms is None else f", median {median_ms:,.0f} ms"
            update(asked, planned, f"questions ({step}){median}")
            if median_ms and median_ms > pace.budget_ms and asked >= MIN_TIMED and not quiet and not is_noted:
                is_noted = True
                note(f"{slowness(median_ms, pace.budget_ms).happened}; the check asks fewer questions")

        report = run_check(
            *(target, LOCAL_POLICY, CallLimits()),
            games=games,
            questions=asked,
            dice=dice,
            pace=pace,
            tell=tell,
            reports_when_cancelled=True,  # asyncio.run cancels after Ctrl-C
        )
        return asyncio.run(report)


def _secret(given: str | None, file: Path | None) -> str | None:
    if file is None:
        return given
    secret = file.read_text().strip()
    try:
        secret_bytes(secret)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--secret-file") from error
    return secret


def _entrant(bot: str) -> LocalEntrant:
    if is_house(bot):
        raise click.UsageError(f"{bot} is a house player. Pass the URL (http://…) or the file of a bot.")
    if "://" not in bot and find_program(bot) is None:
        raise click.UsageError(
            f"{bot!r} is neither a URL (http://…) nor a file. Pass the address or the file of a bot."
        )
    with usage_errors():
        return LocalEntrant(bot, bot if find_program(bot) else parse_url(bot, LOCAL_POLICY).url)
