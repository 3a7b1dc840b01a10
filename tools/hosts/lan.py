"""A network of hosts on this machine: namespaces with an address each, connected by a switch. It needs root and ``ip``.

The switch is a bridge in a namespace of its own, so that no firewall rule of this machine applies between the hosts.
The thread that makes them is connected too, with an address for itself and one for the bots. It leaves the network of
this machine meanwhile, which gets no new interface: Chromium would give up what it is loading.
"""

import ctypes
import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tools.chaos.network import run_ip, why_no_namespaces

PREFIX = "referee-hosts"
FIRST_NETWORK, LAST_NETWORK = 78, 117
OWN, BOTS, FIRST_HOST = 1, 2, 11  # the last number of addresses
NAMESPACES = Path("/run/netns")

_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def why_unavailable() -> str:
    """Return why no hosts can be made here, or an empty text."""
    return why_no_namespaces(with_bridge=True)


class Host:
    """One host of the network."""

    def __init__(self, name: str, namespace: str, switch: str, port: str, address: str) -> None:
        self.name = name
        self.address = address
        self._namespace, self._switch, self._port = namespace, switch, port

    @contextmanager
    def enter_network(self) -> Iterator[None]:
        """Move the current thread into the host while the block runs; processes that it starts stay there."""
        with enter_namespace(NAMESPACES / self._namespace):
            yield

    def cut(self) -> None:
        """Pull the cable: every packet from and to the host is lost without a word."""
        run_ip("-n", self._switch, "link", "set", self._port, "down")

    def mend(self) -> None:
        run_ip("-n", self._switch, "link", "set", self._port, "up")

    def drop_to(self, other: "Host") -> None:
        """Lose every packet from this host to ``other``, which thus hears nothing from here."""
        run_ip("-n", self._namespace, "route", "replace", "blackhole", f"{other.address}/32")

    def reach(self, other: "Host") -> None:
        """End what ``drop_to`` began."""
        run_ip("-n", self._namespace, "route", "delete", "blackhole", f"{other.address}/32")


class Lan:
    """Make hosts with these names, and remove them at the end, also those that a killed campaign left."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.hosts: dict[str, Host] = {}
        self.network = ""
        self._tag = f"{PREFIX}-{os.getpid()}"
        self._switch = f"{self._tag}-switch"
        self._own = f"rh{os.getpid()}"
        self._stack = ExitStack()

    @property
    def address(self) -> str:
        """Return the address of this process."""
        return f"{self.network}.{OWN}"

    @property
    def bots_address(self) -> str:
        return f"{self.network}.{BOTS}"

    @property
    def range(self) -> str:
        return f"{self.network}.0/24"

    def __getitem__(self, name: str) -> Host:
        return self.hosts[name]

    def __enter__(self) -> Self:
        _remove_abandoned()
        self._stack.enter_context(_leave_network())
        self._stack.callback(self._remove)
        try:
            self.network = _free_network()
            self._connect()
        except BaseException:
            self._stack.close()
            raise
        return self

    def _connect(self) -> None:
        switch = self._switch
        run_ip("netns", "add", switch)
        run_ip("-n", switch, "link", "add", "switch", "type", "bridge")
        run_ip("-n", switch, "link", "set", "switch", "up")
        run_ip("link", "add", self._own, "type", "veth", "peer", "name", "p0", "netns", switch)
        run_ip("-n", switch, "link", "set", "p0", "master", "switch", "up")
        for address in (self.address, self.bots_address):
            run_ip("address", "add", f"{address}/24", "dev", self._own)
        run_ip("link", "set", self._own, "up")
        for number, name in enumerate(self.names):
            self._add_host(name, f"p{number + 1}", f"{self.network}.{FIRST_HOST + number}")

    def _add_host(self, name: str, port: str, address: str) -> None:
        namespace = f"{self._tag}-{name}"
        run_ip("netns", "add", namespace)
        run_ip("-n", namespace, "link", "add", "eth0", "type", "veth", "peer", "name", port, "netns", self._switch)
        run_ip("-n", self._switch, "link", "set", port, "master", "switch", "up")
        run_ip("-n", namespace, "address", "add", f"{address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            run_ip("-n", namespace, "link", "set", device, "up")
        self.hosts[name] = Host(name, namespace, self._switch, port, address)

    def _remove(self) -> None:
        for name in [*self.names, "switch"]:
            _try_ip("netns", "delete", f"{self._tag}-{name}")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()


@contextmanager
def _leave_network() -> Iterator[None]:
    """Move the current thread into a new network namespace, which has only ``lo``, while the block runs."""
    with Path("/proc/thread-self/ns/net").open() as own:
        _check(_libc.unshare(_CLONE_NEWNET))
        try:
            run_ip("link", "set", "lo", "up")
            yield
        finally:
            _set_namespace(own.fileno())


@contextmanager
def enter_namespace(path: Path) -> Iterator[None]:
    """Move the current thread into this network namespace while the block runs."""
    with Path("/proc/thread-self/ns/net").open() as own, path.open() as other:
        _set_namespace(other.fileno())
        try:
            yield
        finally:
            _set_namespace(own.fileno())


def _remove_abandoned() -> None:
    """Delete namespaces of campaigns whose process has ended; their devices go with them."""
    for path in NAMESPACES.glob(f"{PREFIX}-*") if NAMESPACES.exists() else ():
        made_by = re.match(rf"{PREFIX}-(\d+)-", path.name)
        if made_by and not Path(f"/proc/{made_by[1]}").exists():
            _try_ip("netns", "delete", path.name)


def _free_network() -> str:
    """Return the first three numbers of addresses that no device of this machine has."""
    shown = subprocess.run(["ip", "-json", "address"], capture_output=True, text=True, check=True, timeout=20)
    devices: list[dict[str, Any]] = json.loads(shown.stdout)
    used = {address.get("local", "").rpartition(".")[0] for device in devices for address in device["addr_info"]}
    networks = (f"10.213.{number}" for number in range(FIRST_NETWORK, LAST_NETWORK))
    return next(network for network in networks if network not in used)


def _set_namespace(descriptor: int) -> None:
    _check(_libc.setns(descriptor, _CLONE_NEWNET))


def _check(failed: int) -> None:
    if failed:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _try_ip(*arguments: str) -> None:
    with suppress(subprocess.SubprocessError):
        run_ip(*arguments)
