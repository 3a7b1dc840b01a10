"""The gunicorn worker of the API: gthread, but a client that stalls keeps no thread. Requests are the application's."""

import logging
import socket
import struct
import threading
from typing import Any, Final

from gunicorn import util  # type: ignore[import-untyped]  # ships no types
from gunicorn.workers.gthread import TConn, ThreadWorker  # type: ignore[import-untyped]  # ships no types

from api.streams.stream_writer import taken_over

log = logging.getLogger(__name__)

LINGERING_SHARE: Final = 4  # at most one thread in four waits for clients to close
RESET: Final = struct.pack("ii", 1, 0)  # SO_LINGER: close at once, and drop what was not sent


class TimeoutWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn ships no types
    """A thread worker that ends connections on which nothing moves in the middle of a request or an answer."""

    def init_process(self) -> None:
        self._may_linger = threading.Semaphore(max(1, self.cfg.threads // LINGERING_SHARE))
        self.log.error_log.addFilter(_replace_traceback)
        super().init_process()

    def enqueue_req(self, conn: TConn) -> None:
        if not conn.initialized:
            set_timeout(conn.sock, self.wsgi.config["SETTINGS"].connection_timeout_s)
        super().enqueue_req(conn)

    def handle(self, conn: TConn) -> Any:
        """Serve a request; close the connection here if that was its last.

        gunicorn closes it in the thread that accepts, and waits there up to 2 s for the client to close as well.
        Nobody is served meanwhile.
        """
        outcome = super().handle(conn)
        if outcome is False and _is_open(conn.sock):
            self._close(taken_over(conn.sock))
        return outcome

    def handle_request(self, req: Any, conn: TConn) -> Any:
        try:
            return super().handle_request(req, conn)
        except BlockingIOError:
            _log_stall()
            if _is_open(conn.sock):
                conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                taken_over(conn.sock).close()
            return False

    def _close(self, sock: socket.socket) -> None:
        """Close ``sock`` after its client did; without waiting for that while enough threads wait already."""
        if not self._may_linger.acquire(blocking=False):
            sock.close()
            return
        try:
            util.close_graceful(sock)
        finally:
            self._may_linger.release()


def set_timeout(sock: socket.socket, timeout_s: int) -> None:
    """Let each ``recv`` and ``send`` on ``sock`` raise ``BlockingIOError`` when no byte has moved for ``timeout_s``.

    The kernel keeps this time. That of ``settimeout`` would bound a whole ``sendall``, which cuts off slow readers of
    long answers, and gunicorn undoes it at each request.
    """
    time = struct.pack("ll", timeout_s, 0)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, time)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, time)


def _is_open(sock: socket.socket) -> bool:
    """Return whether ``sock`` can be closed here: plain, since TLS cannot be taken over, and not closed already."""
    return type(sock) is socket.socket and sock.fileno() >= 0


def _replace_traceback(record: logging.LogRecord) -> bool:
    """Log a stalled request as one line: gunicorn would log a traceback for each."""
    stalled = record.exc_info is not None and isinstance(record.exc_info[1], BlockingIOError)
    if stalled:
        _log_stall()
    return not stalled


def _log_stall() -> None:
    log.info("stalled connection closed")
