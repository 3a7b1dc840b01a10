"""Verify the chain of signatures of a service from outside. ``public_audit`` verifies its ladders and logs."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from referee.audit.chain_walk import FOLLOWS, ChainWalk
from referee.audit.findings import Difference
from referee.cli.progress import UpdateBar
from referee.cli.service.api_client import Api, ApiRefusal
from referee.match.canonical import Json, dumps
from referee.match.signature import (
    SIGNATURE_TYPE,
    BadSignature,
    ChainHead,
    LogSignature,
    check_belongs,
    head_after,
    parse_signature,
)
from referee.match.signing_keys import KeyRing, parse_key

ENTRIES_PER_PAGE: Final = 100
DIGEST_BYTES: Final = 32
NOT_FOUND: Final = 404
BROKEN: Final = 500  # the service cannot read what it stored
CHAIN_DAMAGED: Final = "chain_damaged"


@dataclass(slots=True)
class PublicChain:
    """Read the chain of a service from ``noted`` on, the head that an earlier audit saw, or from its beginning.

    ``head`` is the last entry that follows from those before, or None if there is none. ``digests`` has the digests of
    all entries from the first on. After a difference, no further entries are read.
    """

    api: Api
    walk: ChainWalk
    noted: ChainHead | None
    head: ChainHead | None = None
    digests: bytearray = field(default_factory=bytearray)
    differences: list[Difference] = field(default_factory=list)

    def read_on(self, update: UpdateBar = lambda done, total, what: None) -> None:
        """Verify the entries that follow. Add a difference for the first one that does not follow."""
        try:
            if self.head is None and self.noted is not None and not self.differences:
                self._begin_at(self.noted)
            for item in () if self.differences else self._items(0 if self.head is None else self.head.number):
                entry = _parse_entry(item)
                self.differences += self.walk.check(entry)
                if self.differences:
                    return
                self._add(entry)
                update(entry.number, entry.number, "entries")  # the total is not known
        except BadSignature as error:
            known = self.head or self.noted
            number = 1 if known is None else known.number + (self.head is not None)
            self.differences.append(Difference("chain", f"entry {number}", str(error), FOLLOWS))
        except ApiRefusal as refusal:
            if refusal.status not in (NOT_FOUND, BROKEN) and refusal.code != CHAIN_DAMAGED:
                raise
            self.differences.append(Difference("chain", "all", f"no chain ({refusal.detail})", "a chain of signatures"))

    def find_problem(self, line: bytes | None, rows: list[bytes]) -> str:
        """Return why a log with this signature line is not signed by an entry, or an empty text if it is."""
        if line is None:
            return "no signature"
        try:
            signature = parse_signature(line)
            check_belongs(signature, rows)
            self.walk.keys.check(signature)
        except BadSignature as error:
            return str(error)
        if self.head is None or signature.number > self.head.number:
            self.read_on()  # it was signed after the chain was read
        start = (signature.number - (self.noted.number if self.noted else 1)) * DIGEST_BYTES
        if start < 0:
            return ""  # its entry is before the head of the earlier audit, and its key made it
        found = self.digests[start : start + DIGEST_BYTES].hex()
        return "" if found == signature.digest() else f"its signature is not entry {signature.number} of the chain"

    def to_json(self) -> Json:
        head = None if self.head is None else self.head.to_json()
        return {"head": head, "differences": [asdict(difference) for difference in self.differences]}

    def _begin_at(self, noted: ChainHead) -> None:
        """Require that the chain contains the noted head, so that what precedes it need not be verified again."""
        entry = next((_parse_entry(item) for item in self._items(noted.number - 1)), None)
        if entry is None or head_after(entry) != noted:
            stored = "no such entry" if entry is None else f"entry {entry.number} with digest {entry.digest()}"
            expected = f"digest {noted.digest}, as in the file of the earlier audit"
            self.differences.append(Difference("chain", f"entry {noted.number}", stored, expected))
            return
        self.walk.keys.check(entry)
        self.walk.last = entry
        self._add(entry)

    def _add(self, entry: LogSignature) -> None:
        self.head = head_after(entry)
        self.digests += bytes.fromhex(self.head.digest)

    def _items(self, after: int) -> Iterator[Json]:
        """Yield all entries after this number."""
        return self.api.items(f"/chain?limit={ENTRIES_PER_PAGE}&after={after}", most_pages=None)


def load_keys(api: Api) -> KeyRing:
    """Return the keys that the service publishes. Raise ``BadKey`` for one that is malformed."""
    return KeyRing(parse_key(str(item.get("public_key"))) for item in api.items("/keys"))


def _parse_entry(item: Any) -> LogSignature:
    """Return an entry as the API shows it. Raise ``BadSignature`` if it is malformed or states another digest."""
    try:
        members = {name: value for name, value in item.items() if name != "digest"}
        entry = parse_signature(dumps({"type": SIGNATURE_TYPE, **members}))
    except (TypeError, AttributeError) as error:
        raise BadSignature(f"it cannot be read: {error}") from None
    if entry.digest() != item.get("digest"):
        raise BadSignature("the digest that the service states is not that of the entry")
    return entry
