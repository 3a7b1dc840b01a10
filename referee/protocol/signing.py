"""Derive the secrets of bots and webhooks, sign as in Standard Webhooks, and answer challenges. No secret is stored."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from referee.master_keys import key_ring

PREFIX = "whsec_"
BLOCK_BYTES: Final = 64  # of SHA-256
PIECE_BYTES: Final = 2047  # most bytes that hashlib hashes without releasing the interpreter lock


def bot_secret(master_key: bytes, bot_id: str, generation: int) -> str:
    """Return the secret shared with a bot. Each rotation increments ``generation``."""
    return _derive(master_key, f"referee/bot-secret|{bot_id}|{generation}")


def bot_secrets(master_key: bytes, bot_id: str, generations: Sequence[int]) -> tuple[str, ...]:
    """Return the bot's secrets of these generations, in the given order, then those of accepted master keys."""
    return tuple(bot_secret(key, bot_id, generation) for key in key_ring(master_key) for generation in generations)


def webhook_secret(master_key: bytes, webhook_id: str, generation: int) -> str:
    """Return the secret shared with the owner of a webhook. Each rotation increments ``generation``."""
    return _derive(master_key, f"referee/webhook-secret|{webhook_id}|{generation}")


def webhook_secrets(master_key: bytes, webhook_id: str, generations: Sequence[int]) -> tuple[str, ...]:
    """Return the webhook's secrets of these generations, as ``bot_secrets`` does."""
    return tuple(webhook_secret(key, webhook_id, number) for key in key_ring(master_key) for number in generations)


def _derive(master_key: bytes, name: str) -> str:
    return PREFIX + base64.b64encode(hmac.digest(master_key, name.encode(), "sha256")).decode()


def secret_bytes(secret: str) -> bytes:
    """Return the key encoded in ``whsec_…``; raise ``ValueError`` if the secret is malformed."""
    if not secret.startswith(PREFIX):
        raise ValueError(f"a secret begins with {PREFIX}")
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError(f"a secret is base64 after {PREFIX}: {error}") from error


def current_secret(given: str | None, file: Path | None) -> str:
    """Return the given secret, or else the current content of ``file``, or else an empty string.

    Raise ``ValueError`` if the content of the file is not a secret.
    """
    if given or file is None:
        return given or ""
    try:
        secret = file.read_text().strip()
        if secret:
            secret_bytes(secret)
    except FileNotFoundError:
        return ""
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error
    return secret


class Signer:
    """Sign and verify bodies with all valid secrets: several during a rotation, otherwise one or none."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._keys = [_KeyedHash(secret_bytes(secret)) for secret in secrets]

    def signature(self, id: str, timestamp: int, body: bytes) -> str:
        """Return the value of the ``webhook-signature`` header, or an empty string if there is no secret."""
        signed = f"{id}.{timestamp}.".encode() + body
        return " ".join("v1," + base64.b64encode(key.digest(signed)).decode() for key in self._keys)

    def verify(self, id: str, timestamp: str, body: bytes, signatures: str) -> bool:
        """Return whether at least one of the ``signatures``, separated by spaces, was made with one of the secrets."""
        if not timestamp.isascii() or not timestamp.isdigit():
            return False
        ours = self.signature(id, int(timestamp), body).split()
        return any(hmac.compare_digest(own.encode(), theirs.encode()) for own in ours for theirs in signatures.split())


class _KeyedHash:
    """Compute HMAC-SHA256 (RFC 2104) with one key without releasing the interpreter lock.

    ``hmac.digest`` releases the lock for each signature. In a runner, the database thread takes it at that moment, and
    getting it back takes ten times as long as computing the hash.
    """

    def __init__(self, key: bytes) -> None:
        block = (hashlib.sha256(key).digest() if len(key) > BLOCK_BYTES else key).ljust(BLOCK_BYTES, b"\0")
        self._inner: Any = hashlib.sha256(bytes(byte ^ 0x36 for byte in block))
        self._outer: Any = hashlib.sha256(bytes(byte ^ 0x5C for byte in block))

    def digest(self, message: bytes) -> bytes:
        inner, outer = self._inner.copy(), self._outer.copy()
        for start in range(0, len(message), PIECE_BYTES):
            inner.update(message[start : start + PIECE_BYTES])
        outer.update(inner.digest())
        digest: bytes = outer.digest()
        return digest


def recovery_proof(secret: str, challenge: str) -> str:
    """Return the proof that the bot's secret recovers its account: a hex HMAC-SHA512 under the bytes of the secret.

    Nobody may be able to let the bot itself compute this proof. A bot answers challenges with the HMAC-SHA256 of nonces
    that we choose, which never begin like this message; but a bot that verifies no signatures computes it for whatever
    strangers send to its URL, this message included. No bot computes an HMAC with SHA-512.
    """
    message = f"referee-account-recovery|{challenge}".encode()
    return hmac.digest(secret_bytes(secret), message, "sha512").hex()


def challenge_proof(secret: str, nonce: str) -> str:
    """Return the proof that answers a challenge: the hex HMAC-SHA256 of the nonce under the bytes of the secret."""
    return hmac.digest(secret_bytes(secret), nonce.encode(), "sha256").hex()
