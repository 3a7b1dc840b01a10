"""Count the problems of a player in local matches. ``referee.cli.problem_report`` formats these counts."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from referee.botclient.reply import Reply
from referee.conformance.context import describe_reply
from referee.match.canonical import Json
from referee.match.match import is_answer

Incident = tuple[str, str]  # the phase, and the reply or error


@dataclass(slots=True)
class Problems:
    """Count the faults of a bot, and the errors that it reported in its answers, over all its decisions so far."""

    decisions: int = 0
    unsent: int = 0  # decisions for which no connection was made
    retired: int = 0  # matches in which the seat was retired
    faults: Counter[str] = field(default_factory=Counter)
    first_of_fault: dict[str, Incident] = field(default_factory=dict)  # by code of the fault
    ms: list[int] = field(default_factory=list)  # response time of each decision
    errors: int = 0  # decisions in which the bot reported an error
    first_error: Incident = ("", "")
    last_error: Incident = ("", "")

    @classmethod
    def of_log(cls, rows: Iterable[Json], seat: int) -> Self:
        """Return the problems of a seat that the log of its match names: neither replies, nor times, nor errors."""
        decisions = [row for row in rows if row["type"] == "decision" and row["seat"] == seat]
        faults = Counter(row["fault"] for row in decisions if "fault" in row)
        retired = any(row.get("retired") for row in decisions)
        return cls(decisions=sum(map(is_answer, decisions)), retired=retired, faults=faults)

    @property
    def is_unreached(self) -> bool:
        """Return whether there were calls and none of them got a connection."""
        return 0 < self.decisions == self.unsent

    def record_decision(self, phase: str, reply: Reply, fault: str, error: str) -> None:
        """Count one decision with its call, its fault, and the error that the bot reported (both may be empty)."""
        self.decisions += 1
        self.unsent += not reply.sent
        self.ms.append(reply.ms)
        if fault:
            self.faults[fault] += 1
            self.first_of_fault.setdefault(fault, (phase, describe_reply(reply)))
        if error:
            self._record_errors(1, (phase, error), (phase, error))

    def add(self, later: Self) -> None:
        """Add the problems of a later match."""
        self.decisions += later.decisions
        self.unsent += later.unsent
        self.retired += later.retired
        self.ms += later.ms
        self.faults += later.faults
        self.first_of_fault = later.first_of_fault | self.first_of_fault
        if later.errors:
            self._record_errors(later.errors, later.first_error, later.last_error)

    def to_json(self) -> Json | None:
        """Return the counts and the first and last error, or None if there were no faults or errors."""
        if not (self.faults or self.errors):
            return None
        return {
            "decisions": self.decisions,
            "unreached": self.is_unreached,
            "retired": self.retired,
            "faults": dict(self.faults),
            "errors": self.errors,
            "first_error": self.first_error[1],
            "last_error": self.last_error[1],
        }

    def _record_errors(self, count: int, first: Incident, last: Incident) -> None:
        self.first_error = self.first_error if self.errors else first
        self.last_error = last
        self.errors += count
