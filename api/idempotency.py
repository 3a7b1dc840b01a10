"""The Idempotency-Key header: a POST repeated with its key has one effect and gets the first answer again.

The answer is kept in the record, in the transaction of its effect, and sealed: it may show a token.
"""

import base64
import hashlib
import re
from collections.abc import Callable
from typing import Any

from flask import Request, Response, current_app, json, request
from sqlalchemy.orm import Session

from api import auth
from api.errors import Problem
from referee.db import idempotency as kept
from referee.db import sealing

HEADER = "Idempotency-Key"
PARAMETER = {
    "in": "header",
    "name": HEADER,
    "schema": {"type": "string", "pattern": "^[!-~]{1,200}$"},
    "description": "The same key with the same request within 24 hours has one effect and the same answer.",
}


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
        return _unpack_response(before.status, _unseal(before.body, account_id, key))
    response = carry_out()
    sealed = _seal(_pack_response(response), account_id, key)
    kept.finish(session, account_id, key, response.status_code, sealed)
    return response


def _pack_response(response: Response) -> bytes:
    shown: dict[str, Any] = {
        "location": response.headers.get("Location"),
        "body": base64.b64encode(response.get_data()).decode(),
    }
    return json.dumps(shown).encode()


def _unpack_response(status: int, packed: bytes) -> Response:
    shown = json.loads(packed)
    response = Response(base64.b64decode(shown["body"]), status, mimetype="application/json")
    if shown["location"]:
        response.headers["Location"] = shown["location"]
    response.headers["Idempotency-Replayed"] = "true"
    return response


def _seal(plain: bytes, account_id: str, key: str) -> bytes:
    return sealing.seal(plain, key_ring=_key_ring(), context=("idempotency", account_id, key))


def _unseal(sealed: bytes, account_id: str, key: str) -> bytes:
    try:
        return sealing.unseal(sealed, key_ring=_key_ring(), context=("idempotency", account_id, key))
    except sealing.CannotUnseal as error:
        raise Problem(
            409,
            "conflict",
            "The first request with this key was carried out, but its answer can no longer be read. "
            "Look at what it did before repeating it with another key.",
        ) from error


def _key_ring() -> list[bytes]:
    return [current_app.config["SETTINGS"].master_key]
