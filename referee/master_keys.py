"""Hold the master key that is used and the earlier or coming ones that are accepted. Derives and seals nothing."""

import secrets
from collections.abc import Sequence
from typing import Final, Self

KEY_BYTES: Final = 32
MAX_ACCEPTED: Final = 3


class MasterKey(bytes):
    """Be the master key with which everything is sealed, signed and derived, and know the ones that are accepted.

    Because it is the bytes of the key, code that only derives from the key needs to know nothing else.
    """

    accepted: tuple[bytes, ...]

    def __new__(cls, key: bytes, accepted: Sequence[bytes] = ()) -> Self:
        """Raise ``ValueError`` unless all keys have ``KEY_BYTES`` bytes and are different, and are not too many."""
        if any(len(each) != KEY_BYTES for each in (key, *accepted)):
            raise ValueError(f"must be {2 * KEY_BYTES} hex digits ({KEY_BYTES} bytes)")
        if len({key, *accepted}) != 1 + len(accepted):
            raise ValueError("contains a key twice")
        if len(accepted) > MAX_ACCEPTED:
            raise ValueError(f"has more than {MAX_ACCEPTED} accepted keys")
        made = super().__new__(cls, key)
        made.accepted = tuple(accepted)
        return made


def key_ring(master_key: bytes) -> tuple[bytes, ...]:
    """Return the key that is used, and then those that are accepted, too."""
    return (master_key, *master_key.accepted) if isinstance(master_key, MasterKey) else (master_key,)


def parse_key_file(text: str) -> MasterKey:
    """Return the keys of a file: one a line in hex, the one that is used first. Raise ``ValueError`` if malformed."""
    keys = [bytes.fromhex(line) for line in text.split()]
    if not keys:
        raise ValueError("has no key")
    return MasterKey(keys[0], keys[1:])


def render_key_file(master_key: bytes) -> str:
    """Return the content of a file with these keys."""
    return "".join(f"{key.hex()}\n" for key in key_ring(master_key))


def new_key() -> bytes:
    """Return a random key."""
    return secrets.token_bytes(KEY_BYTES)
