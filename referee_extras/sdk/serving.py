"""Serve a bot of the SDK over HTTP, with signature checks (protocol 2), on the server of the standard library."""

import hashlib
import hmac
import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from referee.match.canonical import Json, dumps
from referee.protocol.signing import Signer, challenge_proof, current_secret, secret_bytes
from referee_extras.sdk.bot import Bot
from referee_extras.sdk.views import View

CLOCK_TOLERANCE_S = 300
ANSWERS_KEPT = 1000  # answers that are kept so that a repeated question gets the same answer
MAX_BODY_BYTES = 4 * 1024 * 1024


def serve(
    bot: Bot, port: int = 9000, *, host: str = "127.0.0.1", secret: str = "", secret_file: str | Path | None = None
) -> None:
    """Print the URL of the bot and serve it until Ctrl-C. Port 0 selects a free port.

    With a ``secret`` (``whsec_…``), calls that the referee did not sign are answered with 401. Raise ``ValueError`` if
    the secret is malformed. Without a secret, the bot answers all calls but cannot prove that the address is yours. If
    no ``secret`` is given, ``secret_file`` is read at each call, so it can be written while the bot runs.
    """
    with serving(bot, port, host=host, secret=secret, secret_file=secret_file) as url:
        print(f"{bot.name} plays at {url}", flush=True)  # noqa: T201  # the caller needs the URL
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


@contextmanager
def serving(
    bot: Bot,
    port: int = 0,
    *,
    host: str = "127.0.0.1",
    secret: str = "",
    secret_file: str | Path | None = None,
    now: Callable[[], float] = time.time,
) -> Iterator[str]:
    """Serve the bot in a background thread while the block runs, and yield its URL."""
    desk = Desk(bot, secret, now, Path(secret_file) if secret_file else None)
    server = _Server((host, port), _desk(desk))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Desk:
    """Implement the protocol without HTTP: return the bot's reply to each call."""

    def __init__(self, bot: Bot, secret: str, now: Callable[[], float], secret_file: Path | None = None) -> None:
        if secret:
            secret_bytes(secret)
        self._bot = bot
        self._secret = secret
        self._secret_file = secret_file
        self._now = now
        self._nonce_key = secrets.token_bytes(32)  # used if there is no secret
        self._answers: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self) -> tuple[int, bytes]:
        return 200, dumps(self._bot.manifest())

    def post(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Return the HTTP status and the body of the reply to a POST request."""
        try:
            secret = current_secret(self._secret, self._secret_file)
        except ValueError as error:
            return 503, dumps({"error": str(error)})
        if secret and not self._is_signed(secret, headers, body):
            return 401, dumps({"error": "the signature is invalid or expired"})
        try:
            asked = json.loads(body)
            if path.endswith("/decide"):
                return 200, self._answer_decision(asked, body)
            if path.endswith("/notify"):
                return 200, dumps(self._answer_notice(secret, asked))
        except (ValueError, KeyError, TypeError) as error:
            return 400, dumps({"error": f"not a body of protocol 2: {error!r}"})
        return 404, dumps({"error": "unknown path; available: /, /decide, /notify"})

    def _answer_decision(self, asked: Json, body: bytes) -> bytes:
        key = hashlib.sha256(body).digest()
        with self._lock:
            if key in self._answers:
                return self._answers[key]
        answer = dumps(self._bot.answer(asked))
        with self._lock:
            answer = self._answers.setdefault(key, answer)
            while len(self._answers) > ANSWERS_KEPT:
                self._answers.popitem(last=False)
        return answer

    def _answer_notice(self, secret: str, notice: Json) -> Json:
        match notice:
            case {"type": "challenge", "nonce": str(nonce)}:
                return {"proof": challenge_proof(secret, nonce)} if secret else {}
            case {"type": "group_start", "step": 1, "group": {"id": str(group)}}:
                return {"nonce_hash": hashlib.sha256(self._nonce(secret, group).encode()).hexdigest()}
            case {"type": "group_start", "step": 2, "group": {"id": str(group)}}:
                return {"nonce": self._nonce(secret, group)}
            case {"type": "group_start", "step": 3, "group": {"id": str(group), "nonces": list(nonces)}}:
                return {"accepted": self._nonce(secret, group) in nonces}
            case {"type": "match_end" | "group_end"}:
                self._bot.on_notice(View(notice))
        return {}

    def _nonce(self, secret: str, group: str) -> str:
        key = secret_bytes(secret) if secret else self._nonce_key
        return hmac.digest(key, b"nonce " + group.encode(), "sha256").hex()[:32]

    def _is_signed(self, secret: str, headers: Mapping[str, str], body: bytes) -> bool:
        id, sent, given = (headers.get(f"webhook-{part}", "") for part in ("id", "timestamp", "signature"))
        return Signer([secret]).verify(id, sent, body, given) and abs(self._now() - int(sent)) <= CLOCK_TOLERANCE_S


class _Server(ThreadingHTTPServer):
    request_queue_size = 100
    block_on_close = False  # server_close does not wait for connections of unfinished matches


def _desk(desk: Desk) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # so that a match uses a single connection
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._reply(*desk.get())

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
                self.close_connection = True
                return self._reply(413, dumps({"error": "Content-Length is missing or too large"}))
            body = self.rfile.read(int(length))
            headers = {name.lower(): value for name, value in self.headers.items()}
            return self._reply(*desk.post(self.path, headers, body))

        def _reply(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_arguments: Any) -> None:
            pass

    return Handler
