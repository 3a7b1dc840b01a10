"""Define the findings of an audit."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """Describe a stored value that differs from the one derived from logs, results and ledger.

    ``ladder_id`` is the ladder that this makes unreliable, or None.
    """

    # One of "match", "log", "seats", "reveal", "result", "signature", "chain", "entry", "change", "rating", "balance",
    # "exchange", "count".
    kind: str
    id: str
    stored: str
    expected: str
    ladder_id: str | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.id}: stored {self.stored}, expected {self.expected}"
