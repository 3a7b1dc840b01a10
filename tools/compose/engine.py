"""A container engine of our own, with a folder, socket and network of its own. It needs root and ``dockerd``.

An engine that runs on this machine is left alone: a service in it may use the same names of networks and images. Ours
has no route to any network, so images are built from what lies on the disk; see ``images``.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.end_to_end.processes import Process
from tools.hosts.lan import enter_namespace

START_S = 60.0
PROGRAMS = ("dockerd", "docker", "ip", "iptables", "nft", "unshare", "debootstrap")
ADDRESSES = "172.31.0.1/24"  # of the engine's default network, which is not used
START = (
    'ip link set lo up && exec dockerd --host "unix://$0/engine.sock" --data-root "$0/data" --exec-root "$0/exec" '
    f'--pidfile "$0/engine.pid" --bip {ADDRESSES} --userland-proxy=true'
)


class NoEngine(Exception):
    """Raised if no container engine is available; the message says why."""


class CommandFailed(Exception):
    """Raised if a command failed; the message has the command and the end of its output."""


class Engine:
    """Run an engine that ends with this process. Containers publish ports in its network, not on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment: Mapping[str, str] = {"DOCKER_HOST": f"unix://{folder}/engine.sock"}
        self._process: Process | None = None

    @contextmanager
    def enter_network(self) -> Iterator[None]:
        """Move the current thread into the network of the engine while the block runs."""
        assert self._process is not None
        with enter_namespace(Path(f"/proc/{self._process.pid}/ns/net")):
            yield

    def __enter__(self) -> Self:
        if reason := why_no_engine():
            raise NoEngine(reason)
        self.folder.mkdir(parents=True, exist_ok=True)
        command = ["unshare", "--net", "--mount", "--propagation", "private", "sh", "-c", START, str(self.folder)]
        self._process = Process.start("engine", command, os.environ, self.folder)
        deadline = time.monotonic() + START_S
        while not self._answers():
            if not self._process.alive or time.monotonic() > deadline:
                tail = self._process.tail(5)
                self._stop()
                raise NoEngine(f"dockerd did not start:\n{tail}")
            time.sleep(0.2)
        return self

    def _answers(self) -> bool:
        asked = subprocess.run(
            ["docker", "version"], env=os.environ | dict(self.environment), capture_output=True, check=False
        )
        return asked.returncode == 0

    def _stop(self) -> None:
        if self._process is not None and self._process.alive:
            self._process.terminate(60)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop()


def why_no_engine() -> str:
    """Return why no engine can be started here, or an empty text."""
    if os.geteuid() != 0:
        return "a container engine of our own needs root"
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if not missing:
        return ""
    return f"{', '.join(missing)} not found; install docker.io, docker-compose, debootstrap, iproute2 and nftables"


def find_compose(environment: Mapping[str, str]) -> list[str]:
    """Return the beginning of a compose command, version 2 if there is one. Raise ``NoEngine`` if there is none."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]) and not _run([*command, "version"], environment).returncode:
            return command
    raise NoEngine("neither `docker compose` nor `docker-compose` runs; install docker-compose")


def run(
    command: Sequence[str], environment: Mapping[str, str], *, timeout_s: float = 600, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command and return what it wrote. Raise ``CommandFailed`` if its status is not 0."""
    ran = _run(command, environment, timeout=timeout_s, **options)
    if ran.returncode:
        raise CommandFailed(f"{' '.join(command)}: status {ran.returncode}\n{(ran.stdout + ran.stderr)[-3000:]}")
    return ran


def _run(command: Sequence[str], environment: Mapping[str, str], **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=os.environ | dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
