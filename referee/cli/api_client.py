"""The public API as the command line uses it: JSON over one kept connection, refusals as errors with their reason."""

import http.client
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Self
from urllib.parse import SplitResult, urlsplit

from referee import __version__
from referee.errors import RefereeError
from referee.match.canonical import Json

TIMEOUT_S = 15.0
PAGES = 100  # at most so many of a list are followed


Field = tuple[str, str]


class ApiRefusal(RefereeError):
    """The service answered with a problem. ``fields`` are pairs of a field and what is wrong with it."""

    def __init__(self, status: int, code: str, detail: str, fields: Sequence[Field] = ()) -> None:
        reasons = "; ".join(f"{field}: {message}" for field, message in fields)
        super().__init__(f"the service refuses ({status} {code}): {reasons or detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.fields = tuple(fields)


class ApiUnreachable(RefereeError):
    """The service does not answer, or not as this API does."""


class Api:
    """One caller of one service; ``token`` opens what is not public."""

    def __init__(self, url: str, token: str | None = None) -> None:
        parts = _address(url)
        self.url = f"{parts.scheme}://{parts.netloc}"
        self._parts = parts
        self._connection = self._connected(TIMEOUT_S)
        self._headers = {"Accept": "application/json", "User-Agent": f"referee/{__version__}"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._connection.close()

    def get(self, path: str) -> Any:
        return self._json("GET", path, None)

    def post(self, path: str, body: Json | None = None) -> Any:
        """Has one effect, also where the connection broke before the answer and the request was sent again."""
        return self._json("POST", path, body)

    def put(self, path: str, body: Json) -> Any:
        return self._json("PUT", path, body)

    def patch(self, path: str, body: Json) -> Any:
        """Change only these fields, even if others have changed the resource meanwhile."""
        return self._json("PATCH", path, body)

    def items(self, path: str) -> Iterator[Json]:
        """All items of a list, page after page."""
        join = "&" if "?" in path else "?"
        page = self.get(path)
        for _ in range(PAGES):
            yield from page["items"]
            if page["next"] is None:
                return
            page = self.get(f"{path}{join}cursor={page['next']}")

    def fetch(self, path: str) -> bytes:
        """The body of a file; ``path`` is from the root of the service."""
        return self._answer("GET", path, None)

    @contextmanager
    def stream(
        self, path: str, headers: Mapping[str, str] | None = None, *, silence_s: float = TIMEOUT_S
    ) -> Iterator[http.client.HTTPResponse]:
        """An answer to be read bit by bit, over a connection of its own; ``path`` is from the root of the service.

        Reading raises ``OSError`` and ``HTTPException`` when the service goes away or is silent for ``silence_s``.
        """
        connection = self._connected(silence_s)
        try:
            try:
                connection.request("GET", path, headers=self._headers | dict(headers or {}))
                response = connection.getresponse()
                refusal = response.read() if response.status >= http.client.MULTIPLE_CHOICES else b""
            except (OSError, http.client.HTTPException) as error:
                raise ApiUnreachable(f"{self.url} does not answer: {error}") from error
            self._check(response.status, refusal)
            yield response
        finally:
            connection.close()

    def _connected(self, timeout_s: float) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        assert self._parts.hostname
        return kind(self._parts.hostname, self._parts.port, timeout=timeout_s)

    def _json(self, method: str, path: str, body: Json | None) -> Any:
        answer = self._answer(method, f"/api/v1{path}", body)
        try:
            return json.loads(answer) if answer else None
        except ValueError as error:
            raise ApiUnreachable(f"{self.url} does not answer like a referee service") from error

    def _answer(self, method: str, path: str, body: Json | None) -> bytes:
        content = None if body is None else json.dumps(body).encode()
        headers = self._headers | ({} if content is None else {"Content-Type": "application/json"})
        headers |= {"If-Match": "*"} if method == "PATCH" else {}
        if method == "POST" and "Authorization" in headers:
            headers["Idempotency-Key"] = secrets.token_hex(16)
        try:
            status, answer = self._exchange(method, path, content, headers)
        except (OSError, http.client.HTTPException) as error:
            raise ApiUnreachable(f"{self.url} does not answer: {error}") from error
        self._check(status, answer)
        return answer

    def _check(self, status: int, answer: bytes) -> None:
        if status >= http.client.BAD_REQUEST:
            raise _refusal(status, answer)
        if status >= http.client.MULTIPLE_CHOICES:  # not followed: a token goes to nobody but who was named
            raise ApiUnreachable(f"{self.url} sends us elsewhere ({status}); give the address it leads to")

    def _exchange(self, method: str, path: str, content: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        may_repeat = method != "POST" or "Idempotency-Key" in headers
        if not may_repeat:
            self._connection.close()  # a kept connection may just be closing
        try:
            self._connection.request(method, path, content, headers)
            response = self._connection.getresponse()
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            self._connection.close()
            if not may_repeat:
                raise
            self._connection.request(method, path, content, headers)
            response = self._connection.getresponse()
        return response.status, response.read()


def _address(url: str) -> SplitResult:
    with suppress(ValueError):
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    raise ApiUnreachable(f"{url!r} is no address of a service; expected something like http://127.0.0.1:8000")


def _refusal(status: int, answer: bytes) -> ApiRefusal:
    try:
        problem = json.loads(answer)
        detail = problem.get("detail") or problem.get("title") or ""
        fields = [(str(error["field"]), str(error["message"])) for error in problem.get("errors") or []]
        return ApiRefusal(status, str(problem.get("code", "")), str(detail), fields)
    except (ValueError, AttributeError, KeyError, TypeError):
        return ApiRefusal(status, "", answer[:200].decode(errors="replace"))
