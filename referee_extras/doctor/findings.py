"""Define what a check finds."""

from dataclasses import dataclass
from enum import StrEnum


class FindingLevel(StrEnum):
    """List how a check ends. Only a failure makes the exit status 1."""

    OK = "ok"
    WARNING = "warning"
    FAILURE = "failure"
    SKIPPED = "skipped"  # it could not be checked from here


@dataclass(frozen=True, slots=True)
class DeploymentFinding:
    """Hold the result of a check: what was found, and what to do about it, which is empty if nothing is wrong."""

    check: str
    level: FindingLevel
    found: str
    advice: str = ""


def ok(check: str, found: str) -> DeploymentFinding:
    return DeploymentFinding(check, FindingLevel.OK, found)


def warning(check: str, found: str, advice: str) -> DeploymentFinding:
    return DeploymentFinding(check, FindingLevel.WARNING, found, advice)


def failure(check: str, found: str, advice: str) -> DeploymentFinding:
    return DeploymentFinding(check, FindingLevel.FAILURE, found, advice)


def skip_check(check: str, found: str, advice: str) -> DeploymentFinding:
    return DeploymentFinding(check, FindingLevel.SKIPPED, found, advice)
