"""Turn every error into an RFC 9457 problem document; ``TABLE`` maps domain errors to their status and code."""

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from flask import Flask, Response, g, json
from sqlalchemy import exc as sql
from werkzeug.exceptions import HTTPException
from werkzeug.http import HTTP_STATUS_CODES

from referee import errors as domain
from referee.db.idempotency import IdempotencyMismatch

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"

# Status and code of each domain error. For a subclass, the nearest ancestor in the table applies.
TABLE: dict[type[Exception], tuple[int, str]] = {
    domain.NotFound: (404, "not_found"),
    domain.NoSuchGame: (404, "not_found"),
    domain.Forbidden: (403, "forbidden"),
    domain.RecoveryRefused: (403, "recovery_refused"),
    domain.NameTaken: (409, "name_taken"),
    domain.QuotaExceeded: (409, "quota_exceeded"),
    domain.NoCertificate: (409, "no_certificate"),
    domain.NeedsAcceptance: (409, "needs_acceptance"),
    domain.NotReady: (409, "not_ready"),
    domain.LogDeleted: (410, "log_deleted"),
    domain.DamagedLog: (409, "log_damaged"),
    domain.DamagedChain: (409, "chain_damaged"),
    IdempotencyMismatch: (409, "idempotency_mismatch"),
    domain.StaleEpoch: (409, "conflict"),
    domain.Conflict: (409, "conflict"),
    domain.BadOption: (422, "validation_failed"),
    domain.BadNames: (422, "validation_failed"),
    domain.UrlRefused: (422, "validation_failed"),
    domain.Unavailable: (503, "unavailable"),
    sql.IntegrityError: (409, "conflict"),
    sql.DataError: (422, "validation_failed"),
    sql.OperationalError: (503, "unavailable"),
    sql.InterfaceError: (503, "unavailable"),
    sql.TimeoutError: (503, "unavailable"),
}

# Codes of HTTP errors that the framework raises, keyed by status.
CODES = {
    400: "bad_request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    409: "conflict",
    412: "precondition_failed",
    413: "body_too_large",
    414: "uri_too_long",
    415: "unsupported_media_type",
    422: "validation_failed",
    428: "precondition_required",
    429: "rate_limited",
    500: "internal_error",
    503: "unavailable",
}

# Codes of problems that other modules of the API raise.
OWN_CODES = (
    *("bad_host", "log_not_ready", "malformed_body", "malformed_json", "missing_scope", "suspended", "too_large"),
)

# All codes a client may receive. A code keeps its meaning; new ones may be added.
ALL_CODES = sorted({*OWN_CODES, *CODES.values(), *(code for _, code in TABLE.values()), "http_error"})

# The text is the same in both cases, so that callers cannot find out what exists.
NOT_FOUND = "Nothing was found at this address, or this account may not see it."
RETRY_AFTER_S = "2"

FieldError = tuple[str, str]


class Problem(Exception):
    """Represent an error to send to the client. ``errors`` are pairs of a field and a message."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        errors: Iterable[FieldError] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = tuple(errors)
        self.headers = dict(headers or {})

    def response(self) -> Response:
        document: dict[str, Any] = {
            "type": "about:blank",
            "title": HTTP_STATUS_CODES.get(self.status, "Error"),
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            "request_id": g.get("request_id", ""),
        }
        if self.errors:
            document["errors"] = [{"field": field, "message": message} for field, message in self.errors]
        response = Response(json.dumps(document), self.status, mimetype=MEDIA_TYPE)
        response.headers.update(self.headers)
        return response


def describe(description: str) -> dict[str, Any]:
    """Return the OpenAPI response for a status with which only problems are sent."""
    return {"description": description, "content": {MEDIA_TYPE: {"schema": "Problem"}}}


def invalid(errors: Iterable[FieldError]) -> Problem:
    """Return a 422 ``validation_failed`` that names the invalid fields."""
    pairs = list(errors)
    fields = ", ".join(dict.fromkeys(field for field, _ in pairs))
    return Problem(422, "validation_failed", f"Invalid fields: {fields}.", errors=pairs)


def not_found() -> Problem:
    return Problem(404, "not_found", NOT_FOUND)


def problem_of(error: Exception) -> Problem:
    """Return the problem to send for ``error``. Log an unexpected error and return a 500."""
    match error:
        case Problem():
            return error
        case HTTPException(code=int(status)):
            return _http_problem(error, status)
        case domain.BadOption(field=field, reason=reason):
            return invalid([(field, reason)])
        case domain.BadNames(problems=problems):
            return invalid([(f"names.{place}", reason) for place, reason in problems])
        case domain.UrlRefused(code=code, reason=reason):
            return invalid([("url", f"{code}: {reason}")])
    for kind in type(error).__mro__:
        if issubclass(kind, Exception) and kind in TABLE:
            return _domain_problem(error, *TABLE[kind])
    log.error("request_failed", exc_info=error, extra={"request": g.get("request_id", "")})
    return Problem(
        500, "internal_error", "The service failed to answer this request. Report its request id to the operator."
    )


def _http_problem(error: HTTPException, status: int) -> Problem:
    headers = {}
    if status == 405 and getattr(error, "valid_methods", None):
        headers["Allow"] = ", ".join(sorted(error.valid_methods))  # type: ignore[attr-defined]  # MethodNotAllowed
    if status == 404:
        return not_found()
    detail = (
        "Too many requests. Wait for the time in the header Retry-After."
        if status == 429
        else str(error.description or error.name)
    )
    return Problem(status, CODES.get(status, "http_error"), detail, headers=headers)


def _domain_problem(error: Exception, status: int, code: str) -> Problem:
    match status:
        case 404:
            return not_found()
        case 503:
            log.warning("database_unavailable", exc_info=error, extra={"request": g.get("request_id", "")})
            detail = "The database is not available. Nothing was changed; try again."
            return Problem(503, code, detail, headers={"Retry-After": RETRY_AFTER_S})
    detail = (
        str(error)
        if isinstance(error, domain.RefereeError)
        else "Another request changed the same data at the same time. Read it again and repeat the request."
    )
    return Problem(status, code, detail)


def install(app: Flask) -> None:
    """Answer every error of ``app``, including routing errors, with a problem document."""

    def answer(error: Exception) -> Response:
        if isinstance(error, HTTPException) and (error.code is None or error.code < 400):
            return _original_response(error)
        problem = problem_of(error)
        render_page = app.extensions.get("referee.problem page")
        return (render_page(problem) if render_page else None) or problem.response()

    app.register_error_handler(HTTPException, answer)
    app.register_error_handler(Exception, answer)


def _original_response(error: HTTPException) -> Response:
    """Return the response of an ``HTTPException`` that is not an error (304, redirects)."""
    answer = error.get_response()
    return Response(answer.get_data(), answer.status_code, answer.headers.items())
