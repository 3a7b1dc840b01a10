"""Count the requests of this process, and measure how long they take. ``referee.metrics`` offers the counts."""

import threading
import time
from typing import Final, cast

from flask import Flask, Response, g, request

from api.streams.connections import count_viewers
from referee.metrics import catalog
from referee.metrics.process_metrics import ProcessMetrics
from referee.metrics.shared import Sender, connect
from referee.runtime.open_files import report_open_files
from referee.settings import Settings

METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def install(app: Flask, settings: Settings) -> None:
    """Count every request of ``app``. Install this first, so that its function for responses runs last."""
    recorder = app.extensions["referee.metrics"] = ProcessMetrics()
    recorder.report("referee_streams", lambda: count_viewers(app))
    recorder.report("referee_open_files", report_open_files)
    sender = None if settings.redis_url is None else Sender(recorder, connect(settings.redis_url))
    app.extensions["referee.metrics_sender"] = sender
    starting = threading.Lock()

    @app.before_request
    def begin() -> None:
        g.began_s = time.perf_counter()
        if sender is not None and not sender.is_started:
            with starting:  # not before the first request, since gunicorn forks
                sender.start()

    @app.after_request
    def count(response: Response) -> Response:
        area = request.blueprint or ("none" if request.endpoint is None else request.endpoint)
        method = request.method if request.method in METHODS else "other"
        recorder.count(catalog.REQUESTS, area, method, f"{response.status_code // 100}xx")
        recorder.observe(catalog.REQUEST_TIME, time.perf_counter() - g.began_s, _kind(request.path))
        return response


def close(app: Flask) -> None:
    """Send the last counts."""
    sender = cast("Sender | None", app.extensions["referee.metrics_sender"])
    if sender is not None:
        sender.stop()


def _kind(path: str) -> str:
    first = path.split("/", 2)[1] if path.startswith("/") else ""
    return {"api": "api", "static": "static", "healthz": "health", "playz": "health", "readyz": "health"}.get(
        first, "page"
    )
