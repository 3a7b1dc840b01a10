"""A report small enough to be kept in a record: evidence is cut, and little of it where there is much."""

from dataclasses import replace
from typing import Final

from referee.bots.conformance.report import Finding, Report
from referee.canonical import Json

MOST_FINDINGS: Final = 60  # some 35 rules; more only where one is broken at many places
LONGEST_TEXT: Final = 1_000
LONGEST_CURL: Final = 4_096
LONGEST_LIST: Final = 40  # games that a card names


def kept(report: Report, seed: str) -> Json:
    """The report as JSON. ``seed`` asks the same again: a command that is too long to be kept is left out, and
    ``curl_cut`` says so."""
    small = [_small(finding) for finding in report.findings[:MOST_FINDINGS]]
    bot = report.bot and {**report.bot, "games": [game[:40] for game in report.bot["games"][:LONGEST_LIST]]}
    whole = replace(report, findings=small, bot=bot).to_json()
    for shown, finding in zip(whole["findings"], report.findings, strict=False):
        shown["curl_cut"] = len(finding.curl) > LONGEST_CURL
    return {"seed": seed, "findings_left_out": len(report.findings) - len(small)} | whole


def _small(finding: Finding) -> Finding:
    fits = len(finding.curl) <= LONGEST_CURL
    return replace(finding, came=finding.came[:LONGEST_TEXT], curl=finding.curl if fits else "")
