"""A network namespace for a worker host that can be cut off from the database. It needs root and ``ip``."""

import os
import shutil
import subprocess
from types import TracebackType
from typing import Self

DATABASE_HOST, BOTS_HOST, WORKER_HOST = "10.213.77.1", "10.213.77.2", "10.213.77.3"


def why_no_namespaces(*, with_bridge: bool = False) -> str:
    """Return why no network namespace can be made here, or no bridge in one, or an empty text."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "the command ip is missing; install iproute2"
    probe = f"referee-probe-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True, check=False)
    if made.returncode:
        return f"no network namespace can be made: {made.stderr.strip()}"
    try:
        bridge = ["ip", "-n", probe, "link", "add", "probe", "type", "bridge"]
        bridged = subprocess.run(bridge, capture_output=True, text=True, check=False) if with_bridge else made
    finally:
        run_ip("netns", "delete", probe)
    return f"no bridge can be made: {bridged.stderr.strip()}" if bridged.returncode else ""


def why_unavailable() -> str:
    """Return why the namespace cannot be made here, or an empty text."""
    if reason := why_no_namespaces():
        return reason
    used = subprocess.run(["ip", "address", "show", "to", DATABASE_HOST], capture_output=True, text=True, check=True)
    if used.stdout:  # answers would go to the other network
        return f"{DATABASE_HOST} is in use; delete the namespaces that an interrupted campaign left (ip netns list)"
    return ""


class Namespace:
    """Connect a namespace with this host, on which the database and the bots have an address each."""

    def __init__(self) -> None:
        self.name = f"referee-{os.getpid()}"
        self._own, self._other = f"rf{os.getpid()}a"[-15:], f"rf{os.getpid()}b"[-15:]

    @property
    def command(self) -> list[str]:
        """Return the beginning of a command that runs in the namespace."""
        return ["ip", "netns", "exec", self.name]

    def cut(self) -> None:
        """Drop everything that the namespace sends to the database."""
        run_ip("netns", "exec", self.name, "ip", "route", "replace", "blackhole", f"{DATABASE_HOST}/32")

    def heal(self) -> None:
        run_ip("netns", "exec", self.name, "ip", "route", "flush", "type", "blackhole")

    def __enter__(self) -> Self:
        run_ip("netns", "add", self.name)
        try:
            self._connect()
        except BaseException:
            self._remove()
            raise
        return self

    def _connect(self) -> None:
        run_ip("link", "add", self._own, "type", "veth", "peer", "name", self._other, "netns", self.name)
        for address in (DATABASE_HOST, BOTS_HOST):
            run_ip("address", "add", f"{address}/24", "dev", self._own)
        run_ip("link", "set", self._own, "up")
        for command in (
            ("address", "add", f"{WORKER_HOST}/24", "dev", self._other),
            ("link", "set", self._other, "up"),
            ("link", "set", "lo", "up"),
        ):
            run_ip("netns", "exec", self.name, "ip", *command)

    def _remove(self) -> None:
        subprocess.run(["ip", "link", "delete", self._own], capture_output=True, check=False)
        subprocess.run(["ip", "netns", "delete", self.name], capture_output=True, check=False)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._remove()


def run_ip(*arguments: str) -> None:
    """Run a command of ``ip``. Raise ``SubprocessError`` if it fails or takes longer than 20 s."""
    subprocess.run(["ip", *arguments], check=True, capture_output=True, timeout=20)
