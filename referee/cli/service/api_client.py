"""Call the public API with JSON over persistent connections, and raise exceptions with the reasons of refusals."""

import io
import json
import re
import secrets
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import count, islice
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

import referee
from referee.errors import RefereeError
from referee.match.canonical import Json

TIMEOUT_S = 15.0
ERRNO = re.compile(r"^\[Errno -?[0-9]+\] ")
PAGES = 100  # maximum number of pages of a list that are fetched

Field = tuple[str, str]
_trust_store = cache(ssl.create_default_context)  # that of this machine; reading it takes 20 ms


class ApiRefusal(RefereeError):
    """Signal that the service answered with a problem document. ``fields`` are pairs of a field and the reason."""

    def __init__(self, status: int, code: str, detail: str, fields: Sequence[Field] = ()) -> None:
        reasons = "; ".join(f"{field}: {message}" for field, message in fields)
        super().__init__(f"the service refused the request ({status} {code}): {reasons or detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.fields = tuple(fields)


class ApiUnreachable(RefereeError):
    """Signal that the service did not answer, or that its answer does not follow this API."""


class ApiRedirect(ApiUnreachable):
    """Signal that the service redirected a request. The client follows none, so that no other host gets the token."""


class BadServiceUrl(RefereeError):
    """Signal that a text is not the URL of a service."""


class Body(io.RawIOBase):
    """Provide the body of a response as a file. Raise ``ApiUnreachable`` if the body breaks off or stalls."""

    def __init__(self, url: str, response: httpx.Response) -> None:
        self.status = response.status_code
        self.headers = response.headers
        self._url = url
        self._chunks = response.iter_raw()
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            self._rest = self._rest or next(self._chunks, b"")
        except httpx.HTTPError as error:
            raise ApiUnreachable(
                f"{self._url} closed the connection before the end of its answer: {_reason(error)}"
            ) from error
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


class Api:
    """Send requests to one service, authenticated by ``token`` if there is one."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.url = parse_origin(url)
        # "identity", because the logs of a tournament are gzip files that must be stored as the service sent them.
        self._headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        self._headers["User-Agent"] = f"referee/{referee.__version__}"
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._client = self._connect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._client.close()

    def get(self, path: str) -> Any:
        return self._json("GET", path)

    def post(self, path: str, body: Json | None = None) -> Any:
        """Send a request. With a token, it takes effect only once even if it is repeated after a broken connection."""
        return self._json("POST", path, body)

    def patch(self, path: str, body: Json) -> Any:
        """Change only these fields, regardless of the current version of the resource."""
        return self._json("PATCH", path, body)

    def items(self, path: str, *, most_pages: int | None = PAGES) -> Iterator[Json]:
        """Yield the items of a list, fetching at most ``most_pages`` pages. Raise ``RefereeError`` if it is none."""
        join = "&" if "?" in path else "?"
        page = self.get(path)
        for _ in islice(count(), most_pages):
            if not isinstance(page, dict) or not {"items", "next"} <= page.keys():
                raise RefereeError(f"{path} is not a list with pages.")
            yield from page["items"]
            if page["next"] is None:
                return
            page = self.get(f"{path}{join}cursor={page['next']}")

    def fetch(self, path: str) -> bytes:
        """Return the content of a file; ``path`` starts at the root of the service."""
        return self.send("GET", path)

    def send(self, method: str, path: str, body: Json | None = None) -> bytes:
        """Send a request, and return the content of the answer; ``path`` starts at the root of the service."""
        content = None if body is None else json.dumps(body)  # httpx would refuse NaN, which the service has to refuse
        headers = {"Content-Type": "application/json"} if body is not None else {}
        headers |= {"If-Match": "*"} if method == "PATCH" else {}
        if method == "POST" and "Authorization" in self._headers:
            headers["Idempotency-Key"] = secrets.token_hex(16)
        request = partial(self._exchange, method, path, content=content, headers=headers)
        with self._reaching():
            if method == "POST" and "Idempotency-Key" not in headers:
                self._client.close()  # a pooled connection may be closing, and this request must not be repeated
                self._client = self._connect()
                return request()
            try:
                return request()
            except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                return request()

    @contextmanager
    def stream(
        self, path: str, headers: Mapping[str, str] | None = None, *, silence_s: float = TIMEOUT_S
    ) -> Iterator[Body]:
        """Yield a response body to be read in pieces; ``path`` starts at the root of the service.

        Reading raises ``ApiUnreachable`` if the connection breaks or nothing arrives for ``silence_s``.
        """
        timeout = httpx.Timeout(TIMEOUT_S, read=silence_s)
        with self._reaching(), self._client.stream("GET", path, headers=headers, timeout=timeout) as response:
            if not response.is_success:
                self._check(response.status_code, response.read())
            yield Body(self.url, response)

    def _connect(self) -> httpx.Client:
        # Without trust_env, so that neither a proxy nor a .netrc of this machine can see or change a request.
        return httpx.Client(
            base_url=self.url, headers=self._headers, timeout=TIMEOUT_S, verify=_trust_store(), trust_env=False
        )

    def _json(self, method: str, path: str, body: Json | None = None) -> Any:
        answer = self.send(method, f"/api/v1{path}", body)
        try:
            return json.loads(answer) if answer else None
        except ValueError as error:
            raise ApiUnreachable(f"{self.url} did not answer like a referee service") from error

    def _exchange(self, method: str, path: str, **content: Any) -> bytes:
        response = self._client.request(method, path, **content)
        self._check(response.status_code, response.content)
        return response.content

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ApiUnreachable(f"{self.url} does not answer: {_reason(error)}") from error

    def _check(self, status: int, answer: bytes) -> None:
        if httpx.codes.is_error(status):
            raise _refusal(status, answer)
        if httpx.codes.is_redirect(status):  # not followed: the token is only for the service that the user named
            raise ApiRedirect(f"{self.url} redirected ({status}); use the final URL")


def parse_origin(url: str) -> str:
    """Return scheme, host and port of a service's URL. Raise ``BadServiceUrl`` if it is not one."""
    with suppress(ValueError):
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    raise BadServiceUrl(f"{url!r} is not the address of a service. Pass one like http://127.0.0.1:8000.")


def _reason(error: Exception) -> str:
    return ERRNO.sub("", str(error)) or type(error).__name__


def _refusal(status: int, answer: bytes) -> ApiRefusal:
    try:
        problem = json.loads(answer)
        detail = str(problem.get("detail") or problem.get("title") or "")
        errors = problem.get("errors") or []
        fields = [(str(error["field"]), str(error["message"])) for error in errors]
        return ApiRefusal(status, str(problem.get("code", "")), detail, fields)
    except (ValueError, AttributeError, KeyError, TypeError):
        return ApiRefusal(status, "", answer[:200].decode(errors="replace"))
