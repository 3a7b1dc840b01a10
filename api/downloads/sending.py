"""Send files in pieces, as downloads that browsers save, and limit how many are sent concurrently."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from flask import Response, request

from api import errors, limits
from api.requests import LOG_POLICY
from api.streams.connection_limits import ConnectionLimit
from api.views import get_shared

MOST_CONCURRENT: Final = 4  # downloads in a process; each keeps a thread
MOST_PER_ADDRESS: Final = 2
RETRY_AFTER_S: Final = 10
BUSY: Final = {503: errors.describe("The limit of concurrent downloads is reached. See Retry-After.")}


class _FileBody:
    """Yield the pieces of a file, and release its place in the limit when the download ends or never begins."""

    def __init__(self, pieces: Iterator[bytes], release: Callable[[], bool]) -> None:
        self._pieces, self._release = pieces, release

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._pieces
        finally:
            self._release()

    def close(self) -> None:
        self._release()


def attachment(media_type: str, name: str, text: str) -> Response:
    """Return a response with a short file, which browsers save."""
    return Response(text, mimetype=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def send_file(
    media_type: str, name: str, pieces: Callable[[], Iterator[bytes]], headers: dict[str, str] | None = None
) -> Response:
    """Return a response with the pieces of a file. Raise a 503 if too many files are being sent."""
    body: Any = []
    if request.method != "HEAD":
        make = partial(ConnectionLimit, "downloads", MOST_CONCURRENT, MOST_PER_ADDRESS, RETRY_AFTER_S)
        release = get_shared("referee.downloads", make).acquire(limits.caller_address())
        body = _FileBody(pieces(), release)
    response = Response(body, content_type=media_type, direct_passthrough=True)
    if media_type == "text/csv":
        response.headers["Content-Type"] = "text/csv; charset=utf-8; header=present"
    response.headers.update(headers or {})
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Content-Security-Policy"] = LOG_POLICY
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"  # a proxy must not buffer it
    return response
