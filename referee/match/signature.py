"""Write and read the signature of a log, which is one line after its last row, and one entry of a chain.

The signatures of a service form a chain: each names the digest of the one before. ``signing_keys`` makes and checks
signatures.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from referee.errors import RefereeError
from referee.match.canonical import Json, dumps
from referee.match.log import digest, parse_row

SIGNATURE_TYPE: Final = "signature"  # type of the line, which has no row number and no link, unlike a row
_MEMBERS: Final = frozenset({"type", "number", "match", "log", "previous", "key", "signature"})
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_KEY_ID: Final = re.compile(r"[0-9a-f]{16}")
_SIGNATURE: Final = re.compile(r"[0-9a-f]{128}")


class BadSignature(RefereeError):
    """Report a signature that is malformed, does not belong to its log, or was not made by its key."""


@dataclass(frozen=True, slots=True)
class LogSignature:
    """Hold the signature of a log, which is entry ``number`` of the chain, counted from 1.

    ``log`` is the digest of the log's last row, ``previous`` that of the entry before, or None in the first entry.
    ``key`` is the id of the key, ``signature`` is in hex.
    """

    number: int
    match: str
    log: str
    previous: str | None
    key: str
    signature: str = ""

    def signed_bytes(self) -> bytes:
        """Return the bytes that are signed: the line without its signature."""
        members = asdict(self)
        del members["signature"]
        return dumps({"type": SIGNATURE_TYPE, **members})

    def line(self) -> bytes:
        """Return the line, without line end."""
        return dumps({"type": SIGNATURE_TYPE, **asdict(self)})

    def digest(self) -> str:
        """Return the digest of the line, which the next entry of the chain names."""
        return digest(self.line())


@dataclass(frozen=True, slots=True)
class ChainHead:
    """Hold the number and the digest of the last entry of a chain."""

    number: int
    digest: str

    def to_json(self) -> Json:
        return asdict(self)


def head_after(entry: LogSignature) -> ChainHead:
    """Return the head of a chain that ends with ``entry``."""
    return ChainHead(entry.number, entry.digest())


def split_signature(lines: Sequence[bytes]) -> tuple[list[bytes], bytes | None]:
    """Return the rows of a log and the signature line after them, or None if there is none."""
    rows = list(lines)
    return (rows[:-1], rows[-1]) if rows and is_signature(rows[-1]) else (rows, None)


def is_signature(line: bytes) -> bool:
    """Return whether this line is a signature, perhaps a malformed one, and not a row."""
    try:
        row = parse_row(line)
    except (ValueError, RecursionError):
        return False
    return row.get("type") == SIGNATURE_TYPE and "row" not in row


def parse_signature(line: bytes) -> LogSignature:
    """Return the signature in a line. Raise ``BadSignature`` if it is malformed."""
    try:
        members = parse_row(line)
    except (ValueError, RecursionError) as error:
        raise BadSignature(f"the line of the signature is not a JSON object: {error}") from None
    _require(members.keys() == _MEMBERS, f"a signature must have just these members: {', '.join(sorted(_MEMBERS))}")
    _require(members.pop("type") == SIGNATURE_TYPE, "the type of a signature must be signature")
    number, previous = members["number"], members["previous"]
    _require(type(number) is int and number > 0, "the number of a signature must be a whole number from 1")
    _require(isinstance(members["match"], str), "the match of a signature must be an id")
    _require(_fits(_DIGEST, members["log"]), "the digest of the log must be 64 lower-case hex digits")
    _require(
        previous is None if number == 1 else _fits(_DIGEST, previous),
        "previous must be 64 lower-case hex digits, or null in entry 1",
    )
    _require(_fits(_KEY_ID, members["key"]), "the id of the key must be 16 lower-case hex digits")
    _require(_fits(_SIGNATURE, members["signature"]), "a signature must be 128 lower-case hex digits")
    signature = LogSignature(**members)
    _require(
        signature.line() == line, "the line of the signature is not in canonical spelling (sorted keys, no blanks)"
    )
    return signature


def check_belongs(signature: LogSignature, rows: Sequence[bytes]) -> None:
    """Raise ``BadSignature`` unless the signature states the match and the last row of a log that is complete.

    It does not check whether the key made the signature.
    """
    header, last = parse_row(rows[0]), parse_row(rows[-1])
    _require(last.get("type") == "reveal", "a log is signed after its reveal row, which this log does not have")
    _require(signature.match == header.get("match"), f"it is the signature of match {signature.match}")
    _require(signature.log == digest(rows[-1]), "the digest that was signed is not that of the last row")


def _fits(pattern: re.Pattern[str], text: object) -> bool:
    return isinstance(text, str) and pattern.fullmatch(text) is not None


def _require(holds: bool, reason: str) -> None:  # reads as a sentence
    if not holds:
        raise BadSignature(reason)
