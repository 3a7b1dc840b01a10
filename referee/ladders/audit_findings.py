"""Define the findings of an audit."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

DERIVED: Final = frozenset({"change", "rating", "balance", "exchange", "count"})  # kinds that a repair recomputes


@dataclass(frozen=True, slots=True)
class Difference:
    """Describe a stored value that differs from the one derived from logs, results and ledger.

    ``ladder_id`` is the ladder that this makes unreliable, or None.
    """

    # One of "match", "log", "seats", "reveal", "result", "signature", "chain", "entry", or of ``DERIVED``.
    kind: str
    id: str
    stored: str
    expected: str
    ladder_id: str | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.id}: stored {self.stored}, expected {self.expected}"

    @property
    def is_repairable(self) -> bool:
        """Return whether a repair recomputes the value, which it does only on a ladder without other findings."""
        return self.kind in DERIVED


def worst_by_ladder(found: Iterable[Difference]) -> dict[str, Difference]:
    """Return the first finding of each ladder, keyed by ladder id, or the first that no repair corrects."""
    worst: dict[str, Difference] = {}
    for finding in found:
        if finding.ladder_id is not None:
            known = worst.setdefault(finding.ladder_id, finding)
            if known.is_repairable and not finding.is_repairable:
                worst[finding.ladder_id] = finding
    return worst
