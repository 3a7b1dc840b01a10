"""Sign logs with Ed25519 (RFC 8032), check signatures, and read public keys. ``signature`` defines what is signed."""

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from referee.errors import RefereeError
from referee.match.signature import BadSignature, LogSignature

ALGORITHM: Final = "ed25519"
KEY_BYTES: Final = 32
KEY_ID_DIGITS: Final = 16
_LABEL: Final = b"referee/log-signing-key"


class BadKey(RefereeError):
    """Report a text that is not a public key."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """Hold the bytes of a public key."""

    raw: bytes

    @property
    def id(self) -> str:
        """Return the id of the key: the beginning of the SHA-256 of its bytes, in hex."""
        return hashlib.sha256(self.raw).hexdigest()[:KEY_ID_DIGITS]

    @property
    def text(self) -> str:
        """Return the key as text, as the API and the page of keys show it."""
        return f"{ALGORITHM}:{self.raw.hex()}"

    def check(self, signature: LogSignature) -> None:
        """Raise ``BadSignature`` unless this key made the signature."""
        if signature.key != self.id:
            raise BadSignature(f"it was made with key {signature.key}, not with key {self.id}")
        try:
            signed = bytes.fromhex(signature.signature)
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signed, signature.signed_bytes())
        except (InvalidSignature, ValueError):
            raise BadSignature(f"it was not made with key {self.id}, or what it states was changed") from None


class SigningKey:
    """Sign logs. The private key is derived from a master key."""

    def __init__(self, seed: bytes) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = PublicKey(self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))

    @staticmethod
    @lru_cache(maxsize=16)
    def derive(master_key: bytes) -> "SigningKey":
        """Return the key of a service with this master key."""
        return SigningKey(hmac.digest(master_key, _LABEL, "sha256"))

    def sign(self, number: int, match_id: str, log_digest: str, previous: str | None) -> LogSignature:
        """Return entry ``number`` of the chain, which signs the log whose last row has this digest."""
        unsigned = LogSignature(number, match_id, log_digest, previous, self.public.id)
        return replace(unsigned, signature=self._private.sign(unsigned.signed_bytes()).hex())


class KeyRing:
    """Find public keys by their ids. ``last_numbers`` has the last entry that a key may have signed, if it ended."""

    def __init__(self, keys: Iterable[PublicKey], last_numbers: Mapping[str, int] | None = None) -> None:
        self._keys = {key.id: key for key in keys}
        self._last_numbers = last_numbers or {}

    def check(self, signature: LogSignature) -> None:
        """Raise ``BadSignature`` unless one of the keys made the signature before it ended."""
        key = self._keys.get(signature.key)
        if key is None:
            known = ", ".join(self._keys) or "none"
            raise BadSignature(f"it was made with key {signature.key}, which is not among the given keys ({known})")
        last = self._last_numbers.get(signature.key)
        if last is not None and signature.number > last:
            raise BadSignature(f"it was made with key {signature.key}, which ended with entry {last}")
        key.check(signature)

    def __contains__(self, key_id: str) -> bool:
        return key_id in self._keys


def find_problem(entry: LogSignature, before: LogSignature | None, keys: KeyRing) -> str:
    """Return why an entry does not follow from the entry ``before`` it, or an empty text if it does."""
    expected = 1 if before is None else before.number + 1
    if entry.number != expected:
        missing = (
            f"entry {expected} is" if entry.number == expected + 1 else f"entries {expected} to {entry.number - 1} are"
        )
        return f"{missing} missing before it"
    if entry.previous != (None if before is None else before.digest()):
        return "it does not name the digest of the entry before it, so one of the two was changed"
    try:
        keys.check(entry)
    except BadSignature as error:
        return str(error)
    return ""


def parse_key(text: str) -> PublicKey:
    """Return the key in a text: 64 hex digits, with or without ``ed25519:`` before them. Raise ``BadKey``."""
    digits = text.strip().removeprefix(f"{ALGORITHM}:")
    try:
        key = PublicKey(bytes.fromhex(digits))
        if len(key.raw) != KEY_BYTES or len(digits) != 2 * KEY_BYTES:
            raise ValueError
        Ed25519PublicKey.from_public_bytes(key.raw)
    except ValueError:
        raise BadKey(f"{text.strip()[:80]!r} is not a public key; expected {ALGORITHM}: and 64 hex digits") from None
    return key


def parse_keys(text: str) -> list[PublicKey]:
    """Return the keys of a file: one a line, or as JSON, as ``GET /keys`` returns them. Raise ``BadKey``."""
    if text.lstrip().startswith("{"):
        try:
            lines = [str(item["public_key"]) for item in json.loads(text)["items"]]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise BadKey("the JSON has no items with a public_key, like the keys of a service (/api/v1/keys)") from None
    else:
        lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise BadKey("there is no public key in it")
    return [parse_key(line) for line in lines]
