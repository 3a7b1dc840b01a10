"""Report problems of players: faults with advice, errors that bots reported, and the output of started bots."""

import time
from collections.abc import Mapping
from typing import Final, NamedTuple

import click

from referee.cli.plain_text import indent_lines, replace_control_characters
from referee.conformance.report import percentiles
from referee.local.bot_files import BotProcess, RunningBots
from referee.local.problems import Problems
from referee.match.match import FAULTS_IN_A_MATCH, FAULTS_IN_A_ROW
from referee.match.time_limits import Limits
from referee.protocol.fault_advice import ADVICE

NOT_REACHED: Final = 3  # the exit status, the same as for `referee check`
EXIT_TIMEOUT_S: Final = 0.5


class ProblemReport(NamedTuple):
    """Hold the text for standard error, which is empty if there were no problems, and the exit status."""

    text: str
    status: int

    def show(self) -> None:
        if self.text:
            click.echo(f"\n{self.text}", err=True)


def report(
    running: RunningBots, problems: Mapping[str, Problems], limits: Limits, *, missing_only: bool = False
) -> ProblemReport:
    """Report the problems of each player, then the related output of started bots. Call this while the bots run.

    A player that used more than the budget of ``limits`` for a decision is reported as slow.

    The status is 3 if a player was never reached or a started bot has exited on its own, else 0. With ``missing_only``,
    report only such players and bots.
    """
    _await_exits(running, problems)
    exited = running.exited_bots()
    unreached = {name: own for name, own in problems.items() if own.is_unreached}
    parts = []
    for name, own in (unreached if missing_only else problems).items():
        parts += [format_faults(name, own), *_errors(name, own), *_slowness(name, own, limits)]
    parts += [_output(running, process, problems) for process in (exited if missing_only else running.processes)]
    return ProblemReport(
        replace_control_characters("\n\n".join(filter(None, parts))), NOT_REACHED if unreached or exited else 0
    )


def _await_exits(running: RunningBots, problems: Mapping[str, Problems]) -> None:
    """Wait briefly for the exit of each started bot that was unreachable, because it may be about to exit."""
    for entrant in running.entrants:
        if entrant.name in problems and "unreachable" in problems[entrant.name].faults:
            for process in running.processes:
                if process.file == entrant.file:
                    process.wait_until(time.monotonic() + EXIT_TIMEOUT_S)


def _output(running: RunningBots, process: BotProcess, problems: Mapping[str, Problems]) -> str:
    names = [entrant.name for entrant in running.entrants if entrant.file == process.file]
    own = [problems[name] for name in names if name in problems]
    return output_of(" and ".join(names), process, failed=any(problem.faults or problem.errors for problem in own))


def output_of(name: str, process: BotProcess, *, failed: bool) -> str:
    """Return the relevant output of a started bot, or an empty string.

    If the bot has exited, return its exit status and last lines. If it is still running and ``failed`` is set, return
    its last Python traceback, or its last lines if there is none. Otherwise, return only a traceback, since it shows an
    error that the bot did not report.
    """
    ended, traceback = process.process.poll(), process.traceback()
    if ended is None and not failed:
        return f"{name} wrote a traceback, but reported no error in its answers:\n{traceback}" if traceback else ""
    wrote = process.tail() if ended is not None else traceback or process.tail()
    if ended is None:
        return f"{name} wrote:\n{wrote}" if wrote else ""
    return f"{name} exited with status {ended}" + (f"; it wrote:\n{wrote}" if wrote else "")


def format_faults(name: str, problems: Problems) -> str:
    """Return the faults of a player as text, with what they mean and what to do, or an empty string if it had none."""
    if not problems.faults:
        return ""
    head = f"{name} had {_times(problems.faults.total(), 'fault')} in {_times(problems.decisions, 'decision')}"
    if problems.is_unreached:
        head = f"{name} was not reached: no connection in {_times(problems.decisions, 'call')}"
    lines = [f"{head}; the default actions were played."]
    if problems.retired:
        matches = "1 match" if problems.retired == 1 else f"{problems.retired} matches"
        rule = f"{FAULTS_IN_A_ROW} faults in a row, or {FAULTS_IN_A_MATCH} in a match"
        lines.append(f"  It was retired in {matches}, and not asked any more: this happens after {rule}.")
    for code, count in problems.faults.most_common():
        phase, reply = problems.first_of_fault.get(code, ("", ""))
        where = f", first in phase {phase}" if phase else ""
        lines += [
            f"  {code}, {_times(count, 'time')}{where}" + (f": {reply}" if reply else ""),
            f"    what it means: {ADVICE[code].happened}",
            f"    what to do: {ADVICE[code].remedy}",
        ]
    return "\n".join(lines)


def _errors(name: str, problems: Problems) -> list[str]:
    if not problems.errors:
        return []
    failed = f"{problems.errors} of {_times(problems.decisions, 'decision')}"
    lines = [f"The code of {name} failed in {failed}, and it played the default action instead."]
    shown = {"first": problems.first_error, "last": problems.last_error}
    if problems.first_error == problems.last_error:
        del shown["last"]
    lines += [indent_lines(f"  {which}, in phase {phase}: {error}") for which, (phase, error) in shown.items()]
    return ["\n".join(lines)]


def _slowness(name: str, problems: Problems, limits: Limits) -> list[str]:
    late = sum(ms > limits.budget_ms for ms in problems.ms)
    if not late or problems.is_unreached:
        return []
    figures = percentiles(problems.ms)
    spread = f"median {figures['p50']:,} ms, 90 % within {figures['p90']:,} ms, longest {figures['max']:,} ms"
    return [
        f"{name} was slow: {_times(late, 'answer')} of {len(problems.ms)} took longer than the budget of "
        f"{limits.budget_ms:,} ms ({spread}). What exceeds the budget is taken from the bank of {limits.bank_ms:,} ms "
        "per match; once that is empty, a late answer is a fault. --no-time-limits switches the limits off."
    ]


def _times(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
