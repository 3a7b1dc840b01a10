"""Reuse renderings of pages that many readers keep open, and whose scripts request them again and again."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Final

from flask import Response, request
from werkzeug.datastructures import Headers

from api.caching import Cache
from api.views import get_shared

View = Callable[..., Any]

REUSED_S: Final = 5.0
MOST_BYTES: Final = 4 << 20  # of all renderings that a process keeps


@dataclass(frozen=True, slots=True)
class Rendering:
    """Hold the body and the headers of a page, which may be sent again before the time ``until``."""

    body: bytes
    headers: Headers
    until: float


def reuse_renderings(view: View) -> View:
    """Answer conditional requests, as open pages send them, with a rendering that is at most ``REUSED_S`` old.

    The view returns a page that is the same for all readers. A request without If-None-Match gets a new rendering.
    """

    make_cache = partial(Cache[Rendering], MOST_BYTES, lambda rendering: len(rendering.body))

    @wraps(view)
    def show(*args: Any, **kwargs: Any) -> Any:
        def render(before: Rendering | None, *, patient: bool) -> Rendering:
            if before is not None and time.monotonic() < before.until:
                return before
            response: Response = view(*args, **kwargs)
            return Rendering(response.get_data(), response.headers, time.monotonic() + REUSED_S)

        if "If-None-Match" not in request.headers:
            return view(*args, **kwargs)
        key = f"{request.accept_encodings['gzip'] > 0} {request.full_path}"
        rendering = get_shared("referee.renderings", make_cache).get(key, render).made
        return Response(rendering.body, headers=Headers(rendering.headers))

    return show
