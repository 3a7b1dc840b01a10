"""Every error as one form: an RFC 9457 problem document. The one table from domain errors to status and code."""

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

# Domain errors; the nearest ancestor of a raised error decides.
TABLE: dict[type[Exception], tuple[int, str]] = {
    domain.NotFound: (404, "not_found"),
    domain.NoSuchGame: (404, "not_found"),
    domain.Forbidden: (403, "forbidden"),
    domain.NameTaken: (409, "name_taken"),
    domain.QuotaExceeded: (409, "quota_exceeded"),
    domain.NoCertificate: (409, "no_certificate"),
    domain.NotReady: (409, "not_ready"),
    IdempotencyMismatch: (409, "idempotency_mismatch"),
    domain.StaleEpoch: (409, "conflict"),
    domain.Conflict: (409, "conflict"),
    domain.BadOption: (422, "validation_failed"),
    domain.UrlRefused: (422, "validation_failed"),
    domain.Unavailable: (503, "unavailable"),
    sql.IntegrityError: (409, "conflict"),
    sql.DataError: (422, "validation_failed"),
    sql.OperationalError: (503, "unavailable"),
    sql.InterfaceError: (503, "unavailable"),
    sql.TimeoutError: (503, "unavailable"),
}

# Errors of HTTP itself, raised by the framework.
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

# Refusals raised where they are found.
OWN_CODES = ("bad_host", "log_not_ready", "malformed_body", "malformed_json", "too_large")

# All that a client may meet; a code keeps its meaning, new ones may come.
ALL_CODES = sorted({*OWN_CODES, *CODES.values(), *(code for _, code in TABLE.values()), "http_error"})

# One wording for what is missing and what is not the asker's to see.
NOT_FOUND = "There is nothing at this address."
RETRY_AFTER_S = "2"

FieldError = tuple[str, str]


class Problem(Exception):
    """A refusal of the API itself. ``errors`` are pairs of a field and what was expected of it."""

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


def invalid(errors: Iterable[FieldError]) -> Problem:
    """422 with the fields named."""
    pairs = list(errors)
    fields = ", ".join(dict.fromkeys(field for field, _ in pairs))
    return Problem(422, "validation_failed", f"Not acceptable: {fields}.", errors=pairs)


def not_found() -> Problem:
    return Problem(404, "not_found", NOT_FOUND)


def problem_of(error: Exception) -> Problem:
    """The problem that tells the client about ``error``; what we did not foresee is a 500 and is logged."""
    match error:
        case Problem():
            return error
        case HTTPException(code=int(status)):
            return _of_http(error, status)
        case domain.BadOption(field=field, reason=reason):
            return invalid([(field, reason)])
        case domain.UrlRefused(code=code, reason=reason):
            return invalid([("url", f"{code}: {reason}")])
    for kind in type(error).__mro__:
        if issubclass(kind, Exception) and kind in TABLE:
            return _of_table(error, *TABLE[kind])
    log.error("request failed", exc_info=error, extra={"request": g.get("request_id", "")})
    return Problem(500, "internal_error", "The referee failed; the operator can find this request by its id.")


def _of_http(error: HTTPException, status: int) -> Problem:
    headers = {}
    if status == 405 and getattr(error, "valid_methods", None):
        headers["Allow"] = ", ".join(sorted(error.valid_methods))  # type: ignore[attr-defined]  # MethodNotAllowed
    if status == 404:
        return not_found()
    detail = "Too many requests; see Retry-After." if status == 429 else str(error.description or error.name)
    return Problem(status, CODES.get(status, "http_error"), detail, headers=headers)


def _of_table(error: Exception, status: int, code: str) -> Problem:
    match status:
        case 404:
            return not_found()
        case 503:
            log.warning("record unavailable", exc_info=error, extra={"request": g.get("request_id", "")})
            detail = "The record cannot answer just now; nothing was changed."
            return Problem(503, code, detail, headers={"Retry-After": RETRY_AFTER_S})
    detail = str(error) if isinstance(error, domain.RefereeError) else "Somebody else changed this at the same time."
    return Problem(status, code, detail)


def install(app: Flask) -> None:
    """Makes every error of ``app`` a problem document, those of routing included."""

    def answer(error: Exception) -> Response:
        if isinstance(error, HTTPException) and (error.code is None or error.code < 400):
            return _plain(error)
        problem = problem_of(error)
        present = app.extensions.get("referee.problem page")
        return (present(problem) if present else None) or problem.response()

    app.register_error_handler(HTTPException, answer)
    app.register_error_handler(Exception, answer)


def _plain(error: HTTPException) -> Response:
    """What is no error (304, redirects) goes out as it is."""
    answer = error.get_response()
    return Response(answer.get_data(), answer.status_code, answer.headers.items())
