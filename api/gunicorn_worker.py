"""Extend gunicorn's gthread worker with timeouts, so that a stalled or slow client does not keep a thread."""

import errno
import logging
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from gunicorn import util  # type: ignore[import-untyped]  # ships no types
from gunicorn.workers.gthread import TConn, ThreadWorker  # type: ignore[import-untyped]  # ships no types

from api.slow_clients import SlowClients
from api.streams.stream_writer import take_over
from referee.runtime.log_limits import LINES_FOR_STRANGERS, LineLimit
from referee.runtime.open_files import OpenFiles, OpenFilesWatch

log = logging.getLogger(__name__)

LINGERING_SHARE: Final = 4  # at most one thread in four waits for clients to close their connections
ACCEPT_PAUSE_S: Final = 0.1  # while no file descriptor is left
NOTIFY_S: Final = 0.5  # much less than the timeout of gunicorn
RESET: Final = struct.pack("ii", 1, 0)  # SO_LINGER: close immediately and discard unsent data


class TimeoutWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn ships no types
    """Serve requests in threads, and close connections that stall in the middle of a request or response."""

    wsgi: Any

    def init_process(self) -> None:
        self._may_linger = threading.Semaphore(max(1, self.cfg.threads // LINGERING_SHARE))
        self.log.error_log.addFilter(_replace_traceback)
        self.log.error_log.addFilter(LineLimit(LINES_FOR_STRANGERS))  # gunicorn's lines do not reach our handler
        self._files = OpenFilesWatch()
        threading.Thread(target=self._files.run, args=(threading.Event(),), name="open_files", daemon=True).start()
        super().init_process()

    def load_wsgi(self) -> None:
        """Load the application, however long that takes, and watch its waits for clients."""
        with _repeat(self.notify):  # otherwise gunicorn would kill and restart a worker that loads slowly
            super().load_wsgi()
        settings = self.wsgi.config["SETTINGS"]
        self._timeout_s = settings.connection_timeout_s
        self._slow_clients = SlowClients(self.cfg.threads, settings.request_timeout_s)
        self.wsgi = self._slow_clients.watch(self.wsgi)
        self._slow_clients.start()

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection. Without a free file descriptor, let it wait; gunicorn would exit."""
        try:
            super().accept(listener)
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
            self._files.note(OpenFiles(1, 1))
            time.sleep(ACCEPT_PAUSE_S)

    def enqueue_req(self, conn: TConn) -> None:
        if not conn.initialized:
            set_timeout(conn.sock, self._timeout_s)
        super().enqueue_req(conn)

    def handle(self, conn: TConn) -> Any:
        """Serve a request. Close the connection in this thread if the request was its last.

        gunicorn would close it in the thread that accepts connections. That thread would wait up to 2 s for the client
        to close as well, and would accept no connections meanwhile.
        """
        with self._slow_clients.serve(conn.sock):
            outcome = super().handle(conn)
        if outcome is False and _is_open(conn.sock):
            with suppress(OSError):  # without a free file descriptor, gunicorn closes it
                self._close(take_over(conn.sock))
        return outcome

    def handle_request(self, req: Any, conn: TConn) -> Any:
        try:
            return super().handle_request(req, conn)
        except BlockingIOError:
            _log_stall()
            if _is_open(conn.sock):
                conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                take_over(conn.sock).close()
            return False

    def _close(self, sock: socket.socket) -> None:
        """Close ``sock`` after its client has closed, or immediately if enough threads are waiting already."""
        if not self._may_linger.acquire(blocking=False):
            sock.close()
            return
        try:
            util.close_graceful(sock)
        finally:
            self._may_linger.release()


@contextmanager
def _repeat(step: Callable[[], None]) -> Iterator[None]:
    """Call ``step`` every ``NOTIFY_S`` in a thread while the block runs."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(NOTIFY_S):
            step()

    thread = threading.Thread(target=run, name="loading", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def set_timeout(sock: socket.socket, timeout_s: int) -> None:
    """Let each ``recv`` and ``send`` on ``sock`` raise ``BlockingIOError`` after ``timeout_s`` without a byte.

    The kernel enforces this timeout. ``settimeout`` would limit a whole ``sendall``, which cuts off slow readers of
    long responses, and gunicorn resets it with each request.
    """
    time = struct.pack("ll", timeout_s, 0)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, time)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, time)


def _is_open(sock: socket.socket) -> bool:
    """Return whether ``sock`` is open and can be taken over, which is impossible for a TLS socket."""
    return type(sock) is socket.socket and sock.fileno() >= 0


def _replace_traceback(record: logging.LogRecord) -> bool:
    """Return False for the traceback of a stalled request, and log an event instead. Return True for other records."""
    stalled = record.exc_info is not None and isinstance(record.exc_info[1], BlockingIOError)
    if stalled:
        _log_stall()
    return not stalled


def _log_stall() -> None:
    log.info("stalled_connection_closed")
