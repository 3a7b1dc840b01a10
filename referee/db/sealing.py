"""Seal secrets at rest with AES-256-GCM under a key derived from the master key.

Sealed bytes are a format byte, the id of the key (4 bytes), a nonce (12), the ciphertext and its tag (16). The key id
lets several master keys be in use at the same time.
"""

import hmac
import json
import secrets
from collections.abc import Sequence
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from referee.errors import RefereeError

_FORMAT = b"\1"
_KEY_ID_BYTES = 4
_NONCE_BYTES = 12  # random nonces suffice: one key seals far fewer than 2^32 messages
HEAD_BYTES = len(_FORMAT) + _KEY_ID_BYTES  # of sealed bytes: they name the format and the key


class CannotUnseal(RefereeError):
    """Report that bytes were changed, or sealed in another context or with a key that is not in the key ring."""


def seal(plain: bytes, *, key_ring: Sequence[bytes], context: Sequence[str]) -> bytes:
    """Seal ``plain`` with the first master key of the ring. It can be unsealed only with the same ``context``."""
    key_id, cipher = _derive(key_ring[0])
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return _FORMAT + key_id + nonce + cipher.encrypt(nonce, plain, _associated_data(context))


def key_id(master_key: bytes) -> str:
    """Return the id of a master key, 8 hex digits that reveal nothing about the key."""
    return _derive(master_key)[0].hex()


def read_key_id(sealed: bytes) -> str:
    """Return the id of the master key with which bytes were sealed, or "" if they are in another format."""
    return sealed[len(_FORMAT) : HEAD_BYTES].hex() if sealed.startswith(_FORMAT) else ""


def unseal(sealed: bytes, *, key_ring: Sequence[bytes], context: Sequence[str]) -> bytes:
    """Return the bytes that were sealed in ``context`` with any master key of the ring, or raise ``CannotUnseal``."""
    ciphers = dict(_derive(master_key) for master_key in key_ring)
    cipher = ciphers.get(sealed[len(_FORMAT) : HEAD_BYTES])
    if not sealed.startswith(_FORMAT) or cipher is None:
        raise CannotUnseal("sealed in an unknown format or with a master key that is not in the key ring")
    nonce, ciphertext = sealed[HEAD_BYTES : HEAD_BYTES + _NONCE_BYTES], sealed[HEAD_BYTES + _NONCE_BYTES :]
    try:
        return cipher.decrypt(nonce, ciphertext, _associated_data(context))
    except (InvalidTag, ValueError) as error:  # ValueError if the text is too short
        raise CannotUnseal("changed since it was sealed, or sealed in another context") from error


@lru_cache(maxsize=16)
def _derive(master_key: bytes) -> tuple[bytes, AESGCM]:
    """Return the id and the cipher of a master key. The id is a separate digest and reveals nothing about the key."""
    key_id = hmac.digest(master_key, b"referee/sealing-key-id", "sha256")[:_KEY_ID_BYTES]
    return key_id, AESGCM(hmac.digest(master_key, b"referee/sealing-key", "sha256"))


def _associated_data(context: Sequence[str]) -> bytes:
    return json.dumps(list(context)).encode()
