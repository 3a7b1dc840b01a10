"""Implement `referee verify` and `referee replay`, which verify, narrate or show matches from their logs alone."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from referee.cli.narrate import narrate_match
from referee.cli.options import FILE, json_option, key_option
from referee.cli.output import show
from referee.cli.plain_text import one_line
from referee.cli.progress import progress_bar
from referee.cli.service.log_files import read_logs, read_single_log, verify_stored_log
from referee.games import game
from referee.local import replay_page
from referee.match.canonical import Json
from referee.match.log import parse_row
from referee.match.log_bundle import StoredLog, Unreadable
from referee.match.reveal import describe_origin
from referee.match.signing_keys import KeyRing
from referee.match.verification import NOT_ATTESTED, VerificationReport
from referee.matches.states import WITHOUT_RESULT


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@key_option("Check that each log is signed with this public key of its service.")
@json_option
def verify(files: tuple[str, ...], keys: KeyRing | None, as_json: bool) -> None:
    """Verify logs: rules, legality, links, deals, results and, with --key, signatures.

    A FILE contains one or more logs as NDJSON, plain or gzipped, such as a service's download of all logs of a
    tournament; pass - for standard input, or a URL to fetch. A log that fails is reported with its first wrong row and
    the reason, a single valid log with what was found, and several in one line at the end; --json lists all. Standard
    error names what no log can prove by itself. With --key, a log without a signature fails. The exit status is 1 if
    any log fails or a file cannot be read.
    """
    judged = holding = 0
    items: list[Json] = []
    remarks: Counter[str] = Counter()
    valid = ""
    with progress_bar("logs", hidden=as_json) as update:
        for item, line in _check_files(files, keys):
            judged, holding = judged + 1, holding + bool(item["valid"])
            remarks.update(item["remarks"])
            if as_json:
                items.append(item)
            elif item["valid"]:
                valid = one_line(line)
            else:
                click.echo(one_line(line))
            update(judged, None, "logs")
    if as_json:
        show({"logs": judged, "valid": holding, "items": items}, "", as_json=True)
    elif judged > 1:
        counted = [f"{count} {remark}" for remark, count in remarks.items()]
        click.echo("; ".join([f"{holding} of {judged} logs are valid", *counted]))
    elif valid:
        click.echo(valid)
    if holding:
        proves = "A log does not prove" if keys is None else "Only the signature of the service vouches for"
        click.echo(f"{proves}: {'; '.join(NOT_ATTESTED.values())}.", err=True)
    sys.exit(0 if holding == judged else 1)


def _check_files(files: Sequence[str], keys: KeyRing | None) -> Iterator[tuple[Json, str]]:
    """Yield the finding about each log as JSON and as a line of text."""
    for file in files:
        try:
            for log in read_logs(file):
                holds, finding, remarks = _check_log(log, keys)
                label = file if log.is_only_log else f"{file}, {log.match or 'a log without a match id'}"
                item: Json = {"file": file, "match": log.match or None, "valid": holds, "finding": finding}
                yield item | {"remarks": remarks}, f"{'ok' if holds else 'FAILED':<6}  {label}: {finding}"
        except Unreadable as error:
            item = {"file": file, "match": None, "valid": False, "finding": str(error), "remarks": []}
            yield item, f"FAILED  {error}"


@click.command()
@click.argument("file", metavar="FILE")
@click.option(
    "--html",
    type=FILE,
    metavar="PAGE",
    help="Instead of narrating the match, write an HTML file that shows it card by card; it can be opened from disk.",
)
@json_option
def replay(file: str, html: Path | None, as_json: bool) -> None:
    """Narrate a match from its log.

    FILE contains NDJSON, plain or gzipped. Pass - for standard input, or a URL to fetch.
    """
    stored = read_single_log(file)
    if html is not None:
        written = replay_page.write_page(html, stored)
        show({"page": str(html), "bytes": html.stat().st_size}, written, as_json=as_json)
        return
    try:
        rows = [parse_row(line) for line in stored if line.strip()]
        sentences = list(narrate_match(rows))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise Unreadable(f"{file} is not a match log ({error}). `referee verify` reports the wrong row.") from error
    show({"match": rows[0]["match"], "sentences": sentences}, "\n".join(sentences), as_json=as_json)


def _check_log(log: StoredLog, keys: KeyRing | None) -> tuple[bool, str, list[str]]:
    """Return whether the log is valid, what was found, and what limits this, as phrases that can be counted."""
    report = verify_stored_log(log, keys)
    if not report.ok:
        return False, report.reason if log.remark and not log.lines else f"row {report.row}: {report.reason}", []
    does_not_count = log.remark in WITHOUT_RESULT
    remarks = {
        "of cancelled matches": report.cut_short,
        "of matches that do not count": does_not_count and not report.cut_short,
        "NOT REVEALED yet": report.origin is None,
        "not signed": report.signature is None,
        "signatures NOT CHECKED: pass --key": report.signature is not None and keys is None,
    }
    signed = _describe_signature(report, keys)
    if report.cut_short:
        deals = _deals(report)
        finding = f"the match was cancelled before its end; all {report.rows} rows are valid; {deals}; {signed}"
    else:
        finding = f"{_finding(report)}; {signed}"
        finding += f"; {log.remark}, so it does not count" if does_not_count else ""
    return True, finding, [remark for remark, holds in remarks.items() if holds]


def _finding(report: VerificationReport) -> str:
    placements = " ".join(map(str, report.placements))
    rules = game(report.game).rules_version
    return f"{report.game} (rules {rules}), {report.rows} rows, placements by seat {placements}; {_deals(report)}"


def _describe_signature(report: VerificationReport, keys: KeyRing | None) -> str:
    if report.signature is None:
        return "not signed"
    entry = f"entry {report.signature.number}, key {report.signature.key}"
    return f"signature NOT CHECKED ({entry}): pass --key" if keys is None else f"signed ({entry})"


def _deals(report: VerificationReport) -> str:
    if report.origin is None:
        return "NOT REVEALED yet: without the seed the deals are unproven"
    return describe_origin(report.origin)
