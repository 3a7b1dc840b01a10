"""Print the report of `referee check`, in colour on a terminal and plain elsewhere."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from referee.cli.plain_text import one_line, replace_control_characters
from referee.cli.tables import TextTable
from referee.conformance.report import PARTS, ConformanceReport, ConformanceVerdict, Finding
from referee.match.canonical import Json

STYLES = {"fail": "bold red", "warn": "yellow", "ok": "green"}
MAX_LINE_LENGTH = 4_000  # characters; a longer request is not printed, and only --save writes it


def print_report(report: ConformanceReport, seed: str, console: Console, *, saved: Path | None = None) -> None:
    """Print the findings, worst first, with commands that repeat their requests; then the figures and the verdict."""
    name = f", {report.bot['name']} version {report.bot['version']}" if report.bot else ""
    _print(console, f"{report.url}{name}, seed {seed}\n")
    if report.interrupted:
        _print(console, "PARTIAL: Ctrl-C ended the check; this is what it had found.\n", STYLES["warn"])
    for finding in report.folded_findings:
        _print_finding(console, finding, saved)
    for reason in dict.fromkeys(skipped.reason for skipped in report.skipped):
        ids = ", ".join(skipped.id for skipped in report.skipped if skipped.reason == reason)
        _print(console, f"skip  {ids}: {reason}", "dim")
    if report.latency.get("total", {}).get("calls"):
        _print(console, "\n" + _latency(report))
    _print(console, "\n" + _summary(report), STYLES["ok" if report.verdict == ConformanceVerdict.PASS else "fail"])


def save_requests(findings: Iterable[tuple[str, str | None]], folder: Path) -> None:
    """Write a script for each finding, a pair of its id and the command that repeats its request, if it has one.

    Number the scripts in the order of the report.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for number, (kind, curl) in enumerate(((kind, curl) for kind, curl in findings if curl), 1):
        (folder / f"{number:02}-{kind}.sh").write_text(f"{curl}\n")


def describe_finding(finding: Json) -> list[str]:
    """Return a finding as lines of text: what went wrong, what came instead, and what to do."""
    where = f" ({finding['where']})" if finding["where"] else ""
    rule, cause = f"{finding['id']}{where}: {finding['expected']}", finding.get("cause")
    lines = [f"{finding['severity']:<4}  {cause or rule}"]
    if finding["severity"] == "ok":
        return lines
    times = f", {finding['times']} times" if finding["times"] > 1 else ""
    lines += [f"      came: {finding['fault']}{times}: {one_line(finding['came'])}", f"      {finding['advice']}"]
    if cause:
        others = f"; also breaks {', '.join(finding['same_cause'])}" if finding["same_cause"] else ""
        lines.append(f"      breaks {rule}{others}")
    return lines


def _print_finding(console: Console, finding: Finding, saved: Path | None) -> None:
    head, *more = describe_finding(asdict(finding))
    _print(console, head, STYLES[finding.severity])
    for line in more:
        _print(console, line)
    if finding.severity == "fail" and finding.curl and not saved:
        too_long = len(finding.curl) > MAX_LINE_LENGTH
        size = f"      the request has {len(finding.curl):,} characters: --save DIR writes it to a file"
        _print(console, f"{size if too_long else finding.curl}\n")


def _print(console: Console, text: str, style: str = "") -> None:
    """Print text without the bot's control characters. Only the terminal wraps it, so that commands can be copied."""
    text = replace_control_characters(text)
    if console.is_terminal:
        console.print(Text(text, style=style), soft_wrap=True)
    else:
        click.echo(text)


def _latency(report: ConformanceReport) -> str:
    titles = ("ms", "calls", "p50", "p90", "p99", "max")
    rows = [(part, *(_figure(report.latency[part][title]) for title in titles[1:])) for part in PARTS]
    return TextTable(titles, rows, left=("ms",)).plain()


def _figure(value: float) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _summary(report: ConformanceReport) -> str:
    weights = Counter(finding.severity for finding in report.folded_findings)
    games = ", ".join(f"{name} rules {version}" for name, version in report.rules.items())
    asked = f"{report.questions} questions" + (f" about {games}" if games else "")
    return f"{report.verdict}: {weights['fail']} failures, {weights['warn']} warnings; {asked}; {report.calls} calls"
