"""Log and count the requests of this process: what was asked, by which account, with which status, for how long.

``referee.metrics`` offers the counts.
"""

import logging
import threading
import time
from typing import Final, cast

from flask import Flask, Response, g, request

from api.auth import Authenticated
from api.streams.connections import count_viewers
from referee.metrics import catalog
from referee.metrics.process_metrics import ProcessMetrics
from referee.metrics.shared import Sender, connect
from referee.runtime.log_limits import REQUEST_LINES
from referee.runtime.open_files import report_open_files
from referee.settings import Settings

METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
KINDS: Final = {"api": "api", "static": "static", "healthz": "health", "playz": "health", "readyz": "health"}

log = logging.getLogger(REQUEST_LINES)


def install(app: Flask, settings: Settings) -> None:
    """Record every request of ``app``. Install this first, so that its function for responses runs last.

    Static files have no line in the log.
    """
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
    def record(response: Response) -> Response:
        seconds = time.perf_counter() - g.began_s
        method = request.method if request.method in METHODS else "other"
        area = request.blueprint or ("none" if request.endpoint is None else request.endpoint)
        recorder.count(catalog.REQUESTS, area, method, f"{response.status_code // 100}xx")
        recorder.observe(catalog.REQUEST_TIME, seconds, KINDS.get(request.path.partition("/")[2].split("/")[0], "page"))
        if request.endpoint != "static":
            authenticated: Authenticated | None = g.get("authenticated")
            fields = {
                "method": method,
                # The address is that of the route: a path may have anything in it.
                "route": None if request.url_rule is None else request.url_rule.rule,
                "status": response.status_code,
                "ms": round(1000 * seconds, 1),
                "account": None if authenticated is None else authenticated.account.id,
                **{name[:-3]: id for name, id in (request.view_args or {}).items() if name[-3:] == "_id"},
            }
            log.info("request_served", extra={name: value for name, value in fields.items() if value is not None})
        return response


def close(app: Flask) -> None:
    """Send the last counts."""
    sender = cast("Sender | None", app.extensions["referee.metrics_sender"])
    if sender is not None:
        sender.stop()
