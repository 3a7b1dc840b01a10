"""Walk through the chain of signatures: no entry is missing or was changed, and keys follow each other."""

from dataclasses import dataclass, field
from typing import Final

from referee.audit.findings import Difference
from referee.match.signature import LogSignature
from referee.match.signing_keys import KeyRing, find_problem

FOLLOWS: Final = "an entry signed after the one before it"


@dataclass
class ChainWalk:
    """Check entries in order, after ``last`` if it is given.

    ``current`` is the id of the key of the service: once it was used, no other key may have signed. Otherwise somebody
    who can write to the database, but does not know the master key, could add a key of their own.
    """

    keys: KeyRing
    current: str | None = None
    last: LogSignature | None = None
    _ended: set[str] = field(default_factory=set)  # keys that another has followed

    def check(self, entry: LogSignature) -> list[Difference]:
        """Return a difference if the entry does not follow from the one before it."""
        problem = find_problem(entry, self.last, self.keys) or self._find_wrong_key(entry)
        self.last = entry
        return [Difference("chain", f"entry {entry.number}", problem, FOLLOWS)] if problem else []

    def _find_wrong_key(self, entry: LogSignature) -> str:
        before = entry.key if self.last is None else self.last.key
        if entry.key == before:
            return ""
        self._ended.add(before)
        return f"key {entry.key} after key {before}" if before == self.current or entry.key in self._ended else ""
