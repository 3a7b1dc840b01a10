"""Count what a runner did, for its log and for users of RQ."""

from dataclasses import dataclass
from typing import Any


@dataclass
class RunnerCounters:
    """Count what a runner did. ``looks`` is how often it looked for due matches, ``claims`` how often it claimed.

    ``ended`` is the reason for its end.
    """

    looks: int = 0
    claims: int = 0
    finished: int = 0
    decisions: int = 0
    handed_over: int = 0
    failed: int = 0
    handshakes: int = 0
    checks: int = 0
    ended: str = ""

    def count_decisions(self, count: int) -> None:
        self.decisions += count

    def to_json(self) -> dict[str, Any]:
        """Return what RQ keeps as the result of the job."""
        names = ("decisions", "handed_over", "failed", "handshakes", "checks", "ended")
        return {"matches": self.finished} | {name: getattr(self, name) for name in names}
