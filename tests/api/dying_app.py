"""The application, with a process that kills itself where a request asks for it; gunicorn starts another one."""

import os
import signal
from collections.abc import Iterable
from typing import Any

from api.wsgi import app

DIES: str = "HTTP_X_DIES"  # "before" the application sees the request, or "after" the commit and before the response

_serve = app.wsgi_app


def _serve_or_die(environment: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    if environment.get(DIES) == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    body = list(_serve(environment, start_response))  # gunicorn sends nothing before it gets the body
    if environment.get(DIES) == "after":
        os.kill(os.getpid(), signal.SIGKILL)
    return body


app.wsgi_app = _serve_or_die  # type: ignore[method-assign, assignment]  # as Flask documents it
