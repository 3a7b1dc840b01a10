"""Implement `referee up`, which runs the whole service on this machine until a stop signal."""

import errno
import os
import socket
from contextlib import suppress
from pathlib import Path

import click

from referee.botclient.private_bots import check_stores
from referee.cli.options import PORT, Number, data_option
from referee.db.engine import Database
from referee.db.upgrading import upgrade
from referee.ladders.ladder_sync import sync_ladders
from referee.ladders.official import load_official_ladders
from referee.runtime.data_dir import DataDir
from referee.runtime.embedded_redis import check as check_redis
from referee.runtime.embedded_redis import socket_url as socket_url
from referee.runtime.service_database import load_settings
from referee.runtime.supervisor import Supervisor
from referee.settings import Settings, environment

DEFAULT_PORT = 8000
PORTS_TRIED = 50


@click.command("up")
@data_option
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", help="Address to serve on.")
@click.option(
    "--port", type=PORT, help=f"Port to serve on; 0 takes a free one. [default: {DEFAULT_PORT}, or the next free one]"
)
@click.option("--workers", type=Number(1, 64), default=2, help="Number of worker processes.")
def run_service(data: Path | None, host: str, port: int | None, workers: int) -> None:
    """Run the service: API, workers, scheduler, and Redis if $REDIS_URL is not set.

    Ctrl-C or SIGTERM stops all processes; the data directory is kept.
    """
    os.umask(0o077)  # the files of this process and its children contain hidden cards
    settings = load_settings(data)
    check_stores(settings)
    data_dir = DataDir(settings.data_dir)
    data_dir.acquire()
    try:
        with listen(host, port) as listener:
            _serve(data_dir, settings, listener, workers)
    finally:
        data_dir.release()


def _serve(data_dir: DataDir, settings: Settings, listener: socket.socket, workers: int) -> None:
    """Upgrade the database, then run the service until a stop signal."""
    if settings.redis_url is not None:
        check_redis(settings.redis_url)
    official = load_official_ladders(settings.ladders)
    database = Database.from_settings(settings)
    upgrade(database)
    with database.write() as session:
        for change in sync_ladders(session, official):
            click.echo(change, err=True)
    database.dispose()
    local_url = _local_url(listener)
    child_environment = environment(
        REFEREE_DATA=str(settings.data_dir),
        DATABASE_URL=settings.database_url,
        REDIS_URL=settings.redis_url or socket_url(data_dir.socket()),
        PYTHONUNBUFFERED="1",
    )
    child_environment.setdefault("REFEREE_PUBLIC_URL", local_url)

    def ready() -> None:
        data_dir.write_owner(local_url)
        _say(describe_addresses(local_url))
        if settings.private_bots:
            _say(f"BOTS MAY HAVE PRIVATE ADDRESSES: {settings.private_bots} (REFEREE_PRIVATE_BOTS)")
        _say(f"data   {settings.data_dir} (logs of the processes in logs/)")
        _say(f"referee is up, process {os.getpid()}; Ctrl-C stops it")

    Supervisor(
        data_dir,
        child_environment,
        listener,
        workers,
        say=lambda text: _say(text, err=True),
        embedded_redis=settings.redis_url is None,
    ).run(ready)
    _say("referee has stopped")


def _say(text: str, *, err: bool = False) -> None:
    """Print ``text``. If nobody reads it any more, the service goes on."""
    with suppress(OSError):
        click.echo(text, err=err)


def describe_addresses(url: str) -> str:
    """Return a text with one line for each address of the service at ``url``."""
    return f"pages  {url}/\nAPI    {url}/api/v1\ndocs   {url}/docs"


def listen(host: str, port: int | None) -> socket.socket:
    """Return a listening socket on ``port`` or, if that is None, on the first free port from ``DEFAULT_PORT`` on.

    The API inherits the socket, so that no other process can take the port in between. Raise ``click.UsageError`` if no
    port can be used.
    """
    ports = [port] if port is not None else range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED)
    for candidate in ports:
        try:
            listener = _bind_socket(host, candidate)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise click.UsageError(f"Cannot serve on {host} port {candidate}: {error.strerror or error}") from error
            continue
        if port is None and candidate != DEFAULT_PORT:
            click.echo(f"port {DEFAULT_PORT} is in use; serving on {candidate} instead", err=True)
        return listener
    if port is not None:
        raise click.UsageError(
            f"Port {port} is in use on {host}. Stop the program that listens there or pass another --port."
        )
    raise click.UsageError(f"Ports {ports[0]} to {ports[-1]} are all in use on {host}. Pass a free one with --port.")


def _bind_socket(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(512)  # after bind alone, another process could still bind the port
    except OSError:
        listener.close()
        raise
    return listener


def _local_url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{shown}:{port}"
