"""The application, with a process that kills itself after the commit of a request that asks for it."""

import os
import signal
from collections.abc import Iterable
from typing import Any

from api.wsgi import app

_serve = app.wsgi_app


def _serve_or_die(environment: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    body = list(_serve(environment, start_response))  # gunicorn sends nothing before it gets the body
    if "HTTP_X_DIES" in environment:
        os.kill(os.getpid(), signal.SIGKILL)
    return body


app.wsgi_app = _serve_or_die  # type: ignore[method-assign, assignment]  # as Flask documents it
