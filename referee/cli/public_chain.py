"""Verify the chain of signatures of a service from outside. ``public_audit`` verifies its ladders and logs."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from referee.cli.api_client import Api, ApiRefusal
from referee.cli.progress import UpdateBar, progress_bar
from referee.cli.public_audit import BROKEN, NOT_FOUND, VerifiedLogs
from referee.ladders.audit_findings import Difference
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
from referee.match.signing_keys import BadKey, KeyRing, find_problem, parse_key

ENTRIES_PER_PAGE: Final = 100
DIGEST_BYTES: Final = 32
CHAIN_DAMAGED: Final = "chain_damaged"


@dataclass(slots=True)
class ChainAudit:
    """Hold the part of a chain that was verified. ``first`` is the number of its first entry.

    ``head`` is the last entry that follows from those before, or None if there is none. ``digests`` has the digests of
    all entries from ``first`` on. After a difference, no further entries are read.
    """

    api: Api
    keys: KeyRing
    has_given_keys: bool
    first: int = 1
    last: LogSignature | None = None
    digests: bytearray = field(default_factory=bytearray)
    differences: list[Difference] = field(default_factory=list)
    ended: set[str] = field(default_factory=set)  # keys that another has followed

    @property
    def head(self) -> ChainHead | None:
        return None if self.last is None else head_after(self.last)

    def read_on(self, update: UpdateBar = lambda done, total, what: None) -> None:
        """Verify the entries that follow. Add a difference for the first one that does not follow."""
        if self.differences:
            return
        try:
            for item in self._items(0 if self.last is None else self.last.number):
                entry = _parse_entry(item)
                problem = find_problem(entry, self.last, self.keys)
                if not problem and entry.key in self.ended:
                    problem = f"key {entry.key} signed it, although another key had followed"
                if problem:
                    raise BadSignature(problem)
                if self.last is not None and self.last.key != entry.key:
                    self.ended.add(self.last.key)
                self._add(entry)
                update(entry.number, entry.number, "entries")  # the total is not known
        except BadSignature as error:
            number = 1 if self.last is None else self.last.number + 1
            self.differences.append(Difference("chain", f"entry {number}", str(error), "an entry that follows"))
        except ApiRefusal as refusal:
            self._note_refusal(refusal)

    def begin_at(self, head: ChainHead) -> None:
        """Require that the chain contains this head of an earlier audit, and verify only what follows."""
        expected = f"digest {head.digest}, as in the file of the earlier audit"
        try:
            entry = next((_parse_entry(item) for item in self._items(head.number - 1)), None)
            if entry is not None and entry.number == head.number:
                self.keys.check(entry)
        except BadSignature as error:
            self.differences.append(Difference("chain", f"entry {head.number}", str(error), expected))
            return
        except ApiRefusal as refusal:
            self._note_refusal(refusal)
            return
        stored = "no such entry" if entry is None else f"entry {entry.number} with digest {entry.digest()}"
        if entry is None or head_after(entry) != head:
            self.differences.append(Difference("chain", f"entry {head.number}", stored, expected))
            return
        self.first = head.number
        self._add(entry)

    def find_problem(self, line: bytes | None, rows: list[bytes]) -> str:
        """Return why a log is not signed by an entry of this chain, or an empty text if it is."""
        if line is None:
            return "no signature"
        try:
            signature = parse_signature(line)
            check_belongs(signature, rows)
            self.keys.check(signature)
        except BadSignature as error:
            return str(error)
        if self.last is None or signature.number > self.last.number:
            self.read_on()  # it was signed after the chain was read
        start = (signature.number - self.first) * DIGEST_BYTES
        if start < 0:
            return ""  # its entry is before the head of the earlier audit, and its key made it
        found = self.digests[start : start + DIGEST_BYTES].hex()
        return "" if found == signature.digest() else f"its signature is not entry {signature.number} of the chain"

    def to_json(self) -> Json:
        head = None if self.head is None else self.head.to_json()
        return {"head": head, "differences": [asdict(difference) for difference in self.differences]}

    def _add(self, entry: LogSignature) -> None:
        self.last = entry
        self.digests += bytes.fromhex(entry.digest())

    def _items(self, after: int) -> Iterator[Json]:
        """Yield all entries after this number. Each page names its own start, so that no list is too long."""
        while True:
            page = self.api.get(f"/chain?limit={ENTRIES_PER_PAGE}&after={after}")
            yield from page["items"]
            if page["next"] is None or not page["items"]:
                return
            after = page["items"][-1]["number"]

    def _note_refusal(self, refusal: ApiRefusal) -> None:
        if refusal.status not in (NOT_FOUND, BROKEN) and refusal.code != CHAIN_DAMAGED:
            raise refusal
        self.differences.append(Difference("chain", "all", f"no chain ({refusal.detail})", "a chain of signatures"))


def audit_chain(api: Api, keys: KeyRing | None, verified: VerifiedLogs) -> ChainAudit:
    """Verify the chain with ``keys``, or with those that the service publishes if None, and note its head.

    If an earlier audit noted a head, the chain must still contain it.
    """
    chain = ChainAudit(api, keys or _load_keys(api), keys is not None)
    with progress_bar("chain of signatures", lines=True) as update:
        if verified.head is not None:
            chain.begin_at(verified.head)
        chain.read_on(update)
    if chain.head is not None and not chain.differences:
        verified.note_head(chain.head)
    return chain


def _load_keys(api: Api) -> KeyRing:
    """Return the keys that the service publishes; none if it publishes none."""
    try:
        return KeyRing([parse_key(str(item["public_key"])) for item in api.items("/keys")])
    except ApiRefusal as refusal:
        if refusal.status != NOT_FOUND:
            raise
        return KeyRing([])
    except (BadKey, KeyError):
        return KeyRing([])


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
