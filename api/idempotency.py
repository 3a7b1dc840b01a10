"""Implement the Idempotency-Key header: a POST repeated with its key has no further effect and gets the same response.

The response is stored in the same transaction as the effect of the request, and encrypted because it may contain a
token.
"""

import hashlib
import re
from collections.abc import Callable

from flask import Request, Response, current_app, json, request
from sqlalchemy.orm import Session

from api import auth
from api.errors import Problem, invalid
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
        raise invalid([(HEADER, "Must be 1 to 200 printable ASCII characters without spaces.")])
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
    context = ("idempotency", account_id, key)
    if before is not None:
        return _unpack_response(before.status, _unseal(before.body, context))
    response = carry_out()
    packed = json.dumps([response.headers.get("Location"), response.get_data(as_text=True)]).encode()
    sealed = sealing.seal(packed, key_ring=_key_ring(), context=context)
    store.finish(session, account_id, key, response.status_code, sealed)
    return response


def _unpack_response(status: int, packed: bytes) -> Response:
    location, body = json.loads(packed)
    response = Response(body, status, mimetype="application/json", headers={"Idempotency-Replayed": "true"})
    if location:
        response.headers["Location"] = location
    return response


def _unseal(sealed: bytes, context: tuple[str, ...]) -> bytes:
    try:
        return sealing.unseal(sealed, key_ring=_key_ring(), context=context)
    except sealing.CannotUnseal as error:
        detail = (
            "The first request with this key was carried out, but its stored response can no longer be decrypted. "
            "Check what the request did before you repeat it with another key."
        )
        raise Problem(409, "conflict", detail) from error


def _key_ring() -> tuple[bytes, ...]:
    return key_ring(current_app.config["SETTINGS"].master_key)
