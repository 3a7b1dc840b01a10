"""Serve the metrics of the service to Prometheus, on an operator's address of the scheduler's host.

The public API has no route to them.
"""

import logging
import socket
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from prometheus_client import CollectorRegistry, MetricsHandler

from referee.db.engine import Database
from referee.metrics import shared
from referee.metrics.database import DatabaseReader
from referee.metrics.exposition import QueueFigures, ServiceCollector
from referee.settings import ListenAddress
from workers import reports

RETRY_S: Final = 30.0  # while another process, such as another scheduler of this host, uses the address
CHECK_S: Final = 3600.0
TIMEOUT_S: Final = 10.0  # for the request of a client
STOP_S: Final = 0.05  # the longest time that the server takes to notice that it shall stop

log = logging.getLogger(__name__)


def read_queue(redis: Any) -> QueueFigures:
    """Return what workers and schedulers report. Raise ``RedisError`` if Redis does not answer."""
    found = reports.read_reports(redis)
    stalled_s = None if found.queue is None else float(found.queue.stalled_s or 0)
    return QueueFigures(found.workers, len(found.shortages), stalled_s)


class _Handler(MetricsHandler):
    """Answer one client, which must not take too long. Nothing is logged: Prometheus asks four times a minute."""

    timeout = TIMEOUT_S


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: ListenAddress, handler: type[BaseHTTPRequestHandler]) -> None:
        self.address_family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        super().__init__(address, handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log an error as an event. A client that hangs up is one, too."""
        log.warning("metrics_request_failed", exc_info=True)


class MetricsServer:
    """Serve the metrics. ``step`` opens the address, again and again while it is in use."""

    def __init__(self, address: ListenAddress, database: Database, redis_url: str) -> None:
        self._address = address
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(ServiceCollector(DatabaseReader(database), shared.connect(redis_url), read_queue))
        self._server: ThreadingHTTPServer | None = None
        self._is_refused = False

    @property
    def port(self) -> int | None:
        """Return the port in use, or None if the address is not open."""
        return None if self._server is None else int(self._server.server_address[1])

    def step(self) -> float:
        """Open the address unless it is open. Return the pause until the next call. Log a refusal once."""
        if self._server is not None:
            return CHECK_S
        try:
            self._server = _Server(self._address, _Handler.factory(self._registry))
        except OSError as error:
            if not self._is_refused:
                found = {"address": str(self._address), "reason": error.strerror or str(error)}
                log.warning("metrics_not_served", extra=found)
            self._is_refused = True
            return RETRY_S
        run = partial(self._server.serve_forever, STOP_S)
        threading.Thread(target=run, name="metrics_server", daemon=True).start()
        return CHECK_S

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
