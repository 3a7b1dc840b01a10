"""Decide which private addresses bots may have: those in the ranges of the operator that are not the service's own.

An address of this host, of the public URL, of Redis or of the database is refused even inside a range. Names are looked
up again every few seconds; only addresses written in a URL are judged here, never those that a bot's name resolves to.
"""

import asyncio
import errno
import socket
import time
from collections.abc import Callable, Sequence
from functools import cache
from ipaddress import IPv4Address, ip_address
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from referee.botclient.name_lookup import LookUp, system_look_up
from referee.errors import Unavailable
from referee.private_ranges import Address, AddressRange, parse_private_ranges
from referee.settings import BadSettings, Settings

FRESH_S: Final = 10.0  # age up to which looked-up addresses of the service are used


class PrivateBots:
    """Judge private addresses: ``ranges`` are open to bots, except for the addresses of ``hosts`` and of this host."""

    def __init__(
        self,
        ranges: Sequence[AddressRange],
        hosts: Sequence[str] = (),
        *,
        look_up: LookUp | None = None,
        is_own: Callable[[Address], bool] | None = None,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self.ranges = tuple(ranges)
        self._hosts = tuple(hosts)
        self._look_up = look_up or system_look_up
        self._is_own = is_own or is_address_of_this_host
        self._seconds = seconds
        self._known: dict[str, frozenset[Address]] = {}
        self._looked_up_at = float("-inf")

    def __str__(self) -> str:
        return ", ".join(map(str, self.ranges))

    def covers(self, address: Address, port: int) -> bool:
        """Return whether the address and port are in a range, even if they are the service's."""
        return any(known.covers(address, port) for known in self.ranges)

    def allows(self, address: Address, port: int) -> bool:
        """Return whether a bot may have this address and port, by what is known of the service's own addresses."""
        if not self.covers(address, port) or self._is_own(address):
            return False
        return not any(address in addresses for addresses in self._known.values())

    async def refresh(self) -> None:
        """Look up the hosts of the service again if that was not done lately.

        Raise ``Unavailable`` if the addresses of one of them were never found: a call could reach it.
        """
        if self._is_fresh():
            return
        await asyncio.get_running_loop().run_in_executor(None, self._look_up_hosts)
        unknown = [host for host in self._hosts if host not in self._known]
        if unknown:
            raise Unavailable(f"the address of {unknown[0]}, which bots must not have, cannot be looked up")

    def _look_up_hosts(self) -> None:
        """Look up all hosts of the service. Keep what is known of those that are not found now."""
        for host in self._hosts:
            try:
                self._known[host] = frozenset(map(ip_address, self._look_up(host)))
            except (OSError, UnicodeError, ValueError):
                continue
        self._looked_up_at = self._seconds()

    def _is_fresh(self) -> bool:
        return self._seconds() - self._looked_up_at < FRESH_S and all(host in self._known for host in self._hosts)


def check_stores(settings: Settings) -> None:
    """Raise ``BadSettings`` if a private range contains an address of Redis or of the database."""
    ranges = parse_private_ranges(settings.private_bots)
    for name, url in (("Redis", settings.redis_url or ""), ("the database", settings.database_url)):
        for host in hosts_of(url) if ranges else []:
            for address in _find(host):
                inside = next((known for known in ranges if address in known.network), None)
                if inside is not None:
                    raise BadSettings(
                        f"REFEREE_PRIVATE_BOTS: {str(inside)!r} contains {address}, an address of {name}; name a range "
                        "without it."
                    )


def private_bots_of(settings: Settings) -> PrivateBots | None:
    """Return the judge of private addresses of these settings, or None if bots may have none."""
    if not settings.private_bots:
        return None
    urls = (settings.redis_url or "", settings.database_url)
    hosts = [host for url in urls for host in hosts_of(url)] + [urlsplit(settings.public_url).hostname or ""]
    return _create_judge(settings.private_bots, tuple(dict.fromkeys(filter(None, hosts))))


@cache
def _create_judge(ranges: str, hosts: tuple[str, ...]) -> PrivateBots:
    """Return the one judge of this process, which keeps the addresses that it looked up."""
    return PrivateBots(parse_private_ranges(ranges), hosts)


def hosts_of(url: str) -> list[str]:
    """Return the hosts in the URL of Redis or a database, which may have several; none for files and local sockets."""
    if url.startswith("sqlite"):
        return []
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    places = parts.netloc.rpartition("@")[2].split(",")
    places += [place for key in ("host", "hostaddr") for value in query.get(key, []) for place in value.split(",")]
    hosts = [_without_port(unquote(place)) for place in places]
    return [host for host in hosts if host and not host.startswith("/")]


def is_address_of_this_host(address: Address) -> bool:
    """Return whether this host has the address, which can then be bound. Where any address can be, all are its own.

    Raise ``Unavailable`` if that cannot be found out.
    """
    family = socket.AF_INET if isinstance(address, IPv4Address) else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError as error:
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            return False
        raise Unavailable(f"whether {address} is an address of this host cannot be checked: {error}") from error
    return True


def _find(host: str) -> list[Address]:
    try:
        return [ip_address(text) for text in system_look_up(host)]
    except (OSError, UnicodeError, Unavailable):
        return []  # every connection looks it up again, and none is made while it is not found


def _without_port(place: str) -> str:
    if place.startswith("["):
        return place[1:].partition("]")[0]
    return place if place.count(":") > 1 else place.partition(":")[0]
