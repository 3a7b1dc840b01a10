"""The Idempotency-Key header: a POST repeated with its key has one effect and gets the first answer again.

The answer is kept in the record, in the transaction of its effect, and sealed: it may show a token.
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from typing import Any

from flask import Request, Response, current_app, json, request
from sqlalchemy.orm import Session

from api import auth
from api.errors import Problem
from referee.db import idempotency as kept

HEADER = "Idempotency-Key"
PARAMETER = {
    "in": "header",
    "name": HEADER,
    "schema": {"type": "string", "pattern": "^[!-~]{1,200}$"},
    "description": "The same key with the same request within 24 hours has one effect and the same answer.",
}

_NONCE_BYTES = 16
_TAG_BYTES = 16


def key_of(request: Request) -> str | None:
    """The key the client chose, if any."""
    key = request.headers.get(HEADER)
    if key is not None and not re.fullmatch("[!-~]{1,200}", key):
        raise Problem(
            422,
            "validation_failed",
            f"Not acceptable: {HEADER}.",
            errors=[(HEADER, "1 to 200 printable ASCII characters without blanks")],
        )
    return key


def answer_once(session: Session, key: str, body: bytes, carry_out: Callable[[], Response]) -> Response:
    """The answer of ``carry_out``, or the one it gave when this key came first; 409 for another request."""
    account_id = auth.asker().id
    asked = f"{request.method} {request.full_path}\n".encode() + body
    before = kept.begin(session, account_id, key, hashlib.sha256(asked).hexdigest())
    if before is not None:
        return _unpacked(before.status, _opened(before.body, account_id, key))
    response = carry_out()
    sealed = _sealed(_packed(response), account_id, key)
    kept.finish(session, account_id, key, response.status_code, sealed)
    return response


def _packed(response: Response) -> bytes:
    shown: dict[str, Any] = {
        "location": response.headers.get("Location"),
        "body": base64.b64encode(response.get_data()).decode(),
    }
    return json.dumps(shown).encode()


def _unpacked(status: int, packed: bytes) -> Response:
    shown = json.loads(packed)
    response = Response(base64.b64decode(shown["body"]), status, mimetype="application/json")
    if shown["location"]:
        response.headers["Location"] = shown["location"]
    response.headers["Idempotency-Replayed"] = "true"
    return response


# -- sealing: a key stream and a tag from HMAC-SHA256, a fresh nonce each time --


def _sealed(plain: bytes, account_id: str, key: str) -> bytes:
    nonce = secrets.token_bytes(_NONCE_BYTES)
    hidden = _mixed(plain, nonce, account_id, key)
    return nonce + hidden + _tag(nonce + hidden, account_id, key)


def _opened(sealed: bytes, account_id: str, key: str) -> bytes:
    nonce, hidden, tag = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:-_TAG_BYTES], sealed[-_TAG_BYTES:]
    if not hmac.compare_digest(tag, _tag(nonce + hidden, account_id, key)):
        raise Problem(409, "conflict", "The answer kept under this key can no longer be read; use another key.")
    return _mixed(hidden, nonce, account_id, key)


def _mixed(text: bytes, nonce: bytes, account_id: str, key: str) -> bytes:
    blocks = range(-(-len(text) // 32))
    stream = b"".join(_hmac(b"stream", nonce + block.to_bytes(4), account_id, key) for block in blocks)
    return bytes(a ^ b for a, b in zip(text, stream, strict=False))


def _tag(text: bytes, account_id: str, key: str) -> bytes:
    return _hmac(b"tag", text, account_id, key)[:_TAG_BYTES]


def _hmac(purpose: bytes, text: bytes, account_id: str, key: str) -> bytes:
    master: bytes = current_app.config["ANSWER_KEY"]
    bound = hmac.digest(master, b"|".join((purpose, account_id.encode(), key.encode())), hashlib.sha256)
    return hmac.digest(bound, text, hashlib.sha256)
