"""Shorten reports to a size that fits a database row."""

from dataclasses import replace
from typing import Final

from referee.conformance.report import ConformanceReport
from referee.match.canonical import Json

MAX_FINDINGS: Final = 60  # there are about 35 rules; a rule broken at many places has several findings
MAX_TEXT_LENGTH: Final = 1_000
MAX_CURL_LENGTH: Final = 8_192  # 90 % of the questions are shorter
MAX_TOTAL_CURL_LENGTH: Final = 128 * 1024
MAX_LIST_LENGTH: Final = 40  # largest number of stored games of a manifest


def report_to_json(report: ConformanceReport, seed: str) -> Json:
    """Return the shortened report as JSON. ``curl_cut`` marks findings whose command was too long to store; a check
    with the same ``seed`` repeats their questions."""
    bot = report.bot and {**report.bot, "games": [game[:40] for game in report.bot["games"][:MAX_LIST_LENGTH]]}
    whole = replace(report, bot=bot).to_json()
    findings = whole["findings"]
    whole["findings"] = findings[:MAX_FINDINGS]
    room = MAX_TOTAL_CURL_LENGTH
    for finding in whole["findings"]:
        finding["came"] = finding["came"][:MAX_TEXT_LENGTH]
        finding["curl_cut"] = len(finding["curl"]) > min(room, MAX_CURL_LENGTH)
        if finding["curl_cut"]:
            finding["curl"] = ""
        room -= len(finding["curl"])
    return {"seed": seed, "findings_left_out": max(0, len(findings) - MAX_FINDINGS)} | whole
