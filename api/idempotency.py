"""Implement the Idempotency-Key header: a POST repeated with its key has no further effect and gets the same response.

The response is stored in the same transaction as the effect of the request, and encrypted because it may contain a
token.
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
from referee.accounts.scopes import Scope
from referee.db import idempotency as store
from referee.db import sealing
from referee.master_keys import key_ring

HEADER = "Idempotency-Key"
PARAMETER = {
    "in": "header",
    "name": HEADER,
    "schema": {"type": "string", "pattern": "^[!-~]{1,200}$"},
    "description": "A request repeated with its key within 24 hours has no further effect and gets the same response.",
}


def read_key(request: Request) -> str | None:
    """Return the client's Idempotency-Key, or None if there is none. Raise a 422 if it is malformed."""
    key = request.headers.get(HEADER)
    if key is not None and not re.fullmatch("[!-~]{1,200}", key):
        raise Problem(
            422,
            "validation_failed",
            f"Invalid fields: {HEADER}.",
            errors=[(HEADER, "Must be 1 to 200 printable ASCII characters without spaces.")],
        )
    return key


def answer_once(session: Session, key: str, body: bytes, carry_out: Callable[[], Response]) -> Response:
    """Return the response of ``carry_out``, or the stored one if this key was used before.

    Raise ``IdempotencyMismatch`` if the key was used for a different request, or with a token of other scopes: the
    response to one for everything may have a secret that a token for playing must not get.
    """
    account_id = auth.current_account().id
    scopes = "" if auth.has_scope(Scope.ALL) else f"{auth.current_token().scopes} "
    content = f"{scopes}{request.method} {request.full_path}\n".encode() + body
    before = store.begin(session, account_id, key, hashlib.sha256(content).hexdigest())
    if before is not None:
        return _unpack_response(before.status, _unseal(before.body, account_id, key))
    response = carry_out()
    sealed = _seal(_pack_response(response), account_id, key)
    store.finish(session, account_id, key, response.status_code, sealed)
    return response


def _pack_response(response: Response) -> bytes:
    fields: dict[str, Any] = {
        "location": response.headers.get("Location"),
        "body": base64.b64encode(response.get_data()).decode(),
    }
    return json.dumps(fields).encode()


def _unpack_response(status: int, packed: bytes) -> Response:
    fields = json.loads(packed)
    response = Response(base64.b64decode(fields["body"]), status, mimetype="application/json")
    if fields["location"]:
        response.headers["Location"] = fields["location"]
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
            "The first request with this key was carried out, but its stored response can no longer be decrypted. "
            "Check what the request did before you repeat it with another key.",
        ) from error


def _key_ring() -> tuple[bytes, ...]:
    return key_ring(current_app.config["SETTINGS"].master_key)
