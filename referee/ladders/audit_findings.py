"""What an audit finds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """Something stored that is not what follows from the logs, the results and the ledger. ``ladder_id`` is the
    ladder whose numbers are in doubt by it, if any."""

    what: str  # "match", "log", "seats", "reveal", "result", "act", "change", "rating", "count"
    id: str
    stored: str
    expected: str
    ladder_id: str | None = None

    def __str__(self) -> str:
        return f"{self.what} {self.id}: stored {self.stored}, expected {self.expected}"
