"""Reports cut to a size that fits a database row."""

from dataclasses import replace
from typing import Final

from referee.conformance.report import ConformanceReport
from referee.match.canonical import Json

MOST_FINDINGS: Final = 60  # there are about 35 rules; a rule broken at many places has several findings
LONGEST_TEXT: Final = 1_000
LONGEST_CURL: Final = 8_192  # 90 % of the questions are shorter
CURLS_IN_ALL: Final = 128 * 1024
LONGEST_LIST: Final = 40  # games that a manifest names


def report_to_json(report: ConformanceReport, seed: str) -> Json:
    """Return the report as JSON. ``curl_cut`` marks findings whose command was too long to store; a check with
    the same ``seed`` repeats the question."""
    findings = report.findings[:MOST_FINDINGS]
    small = [replace(finding, came=finding.came[:LONGEST_TEXT], curl="") for finding in findings]
    bot = report.bot and {**report.bot, "games": [game[:40] for game in report.bot["games"][:LONGEST_LIST]]}
    whole = replace(report, findings=small, bot=bot).to_json()
    room = CURLS_IN_ALL
    for shown, finding in zip(whole["findings"], findings, strict=True):
        shown["curl_cut"] = len(finding.curl) > min(room, LONGEST_CURL)
        if not shown["curl_cut"]:
            shown["curl"] = finding.curl
            room -= len(finding.curl)
    return {"seed": seed, "findings_left_out": len(report.findings) - len(small)} | whole
