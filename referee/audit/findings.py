"""Define the findings of an audit: compare stored values with derived ones, and count what differs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

MAX_KEPT: Final = 10_000
DERIVED: Final = frozenset({"change", "rating", "exchange", "count"})  # kinds that a repair recomputes


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


@dataclass
class Findings:
    """Count differences. Keep the first ones, and the worst of each ladder: the first that no repair corrects, if any.

    ``worst`` is keyed by ladder id.
    """

    count: int = 0
    first: list[Difference] = field(default_factory=list)
    worst: dict[str, Difference] = field(default_factory=dict)

    @property
    def damaged(self) -> list[str]:
        """Return the ids of ladders that no repair corrects."""
        return sorted(ladder_id for ladder_id, finding in self.worst.items() if not finding.is_repairable)

    def add(self, found: Iterable[Difference]) -> bool:
        """Add differences. Return whether there were any."""
        before = self.count
        for difference in found:
            self.count += 1
            if len(self.first) < MAX_KEPT:
                self.first.append(difference)
            if difference.ladder_id is not None:
                known = self.worst.setdefault(difference.ladder_id, difference)
                if known.is_repairable and not difference.is_repairable:
                    self.worst[difference.ladder_id] = difference
        return self.count > before


def compare(
    kind: str, stored: Mapping[Any, Any], expected: Mapping[Any, Any], ladder_id: str | None, *, prefix: str = ""
) -> Iterator[Difference]:
    """Yield a difference for each key whose values differ; its id is the key after ``prefix``.

    Of values that are mappings, compare the stored members only, and name those that differ.
    """
    for key in sorted(stored.keys() | expected.keys(), key=str):
        found, derived = stored.get(key), expected.get(key)
        if isinstance(found, Mapping) and isinstance(derived, Mapping):
            names = [name for name, value in found.items() if value != derived.get(name)]
            found, derived = ({name: values.get(name) for name in names} for values in (found, derived))
        if found != derived:
            yield Difference(kind, f"{prefix}{key}", str(found), str(derived), ladder_id)
