"""Parse ranges of addresses and ports, and the private ranges that an operator opens for bots. Open no connection.

``botclient.private_bots`` decides about single addresses in these ranges.
"""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final, Self

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

MAX_PORTS: Final = 1000  # of a range
MAX_RANGES: Final = 32
WIDEST: Final = {4: 16, 6: 64}  # shortest prefix of a range, by IP version
WEB_PORTS: Final = (80, 443)
FIRST_PORT: Final = 1024  # below it, only the ports of the web
EXAMPLE: Final = "10.20.0.0/24:8000-8010"

_PRIVATE: Final = tuple(map(ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")))
_NEVER: Final = {  # what a range must not contain, apart from what is not private at all
    "loopback": ("127.0.0.0/8", "::1/128"),
    "link-local": ("169.254.0.0/16", "fe80::/10"),
    "cloud metadata": ("169.254.169.254/32", "100.100.100.200/32", "fd00:ec2::/32", "fd20:ce::/32"),
}


@dataclass(frozen=True, slots=True)
class AddressRange:
    """Describe a range of addresses and ports."""

    network: Network
    low_port: int
    high_port: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a text such as ``127.0.0.1/32:9000-9999`` or ``[::1/128]:9000``. Raise ``ValueError`` if invalid."""
        block, _, ports = text.strip().rpartition(":")
        low, _, high = ports.partition("-")
        parsed = cls(ip_network(block.strip("[]")), int(low), int(high or low))
        if not 1 <= parsed.low_port <= parsed.high_port <= 65535:
            raise ValueError("ports must be from 1 to 65535, in ascending order")
        return parsed

    def covers(self, address: Address, port: int) -> bool:
        return address in self.network and self.low_port <= port <= self.high_port

    def __str__(self) -> str:
        network = f"[{self.network}]" if self.network.version == 6 else str(self.network)
        ports = f"{self.low_port}" if self.low_port == self.high_port else f"{self.low_port}-{self.high_port}"
        return f"{network}:{ports}"


def parse_private_ranges(text: str) -> tuple[AddressRange, ...]:
    """Parse a comma-separated list of private ranges. Raise ``ValueError`` with a sentence for the first bad one."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) > MAX_RANGES:
        raise ValueError(f"it has {len(parts)} ranges; at most {MAX_RANGES} are allowed")
    return tuple(map(_parse_private, parts))


def _parse_private(text: str) -> AddressRange:
    try:
        parsed = AddressRange.parse(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a range of addresses and ports like {EXAMPLE} ({error})") from None
    _check_network(text, parsed.network)
    _check_ports(text, parsed)
    return parsed


def _check_network(text: str, network: Network) -> None:
    for kind, blocks in _NEVER.items():
        if any(network.overlaps(ip_network(block)) for block in blocks):
            raise ValueError(f"{text!r} contains {kind} addresses, which bots may never have")
    if not any(network[0] in private and network[-1] in private for private in _PRIVATE):
        known = ", ".join(map(str, _PRIVATE))
        raise ValueError(f"{text!r} is not inside a private network ({known}); public addresses need no setting")
    if network.prefixlen < WIDEST[network.version]:
        raise ValueError(f"{text!r} is too wide; name a range of at most /{WIDEST[network.version]}")


def _check_ports(text: str, parsed: AddressRange) -> None:
    if parsed.high_port - parsed.low_port >= MAX_PORTS:
        raise ValueError(f"{text!r} has more than {MAX_PORTS} ports; name those that bots use")
    is_web = parsed.low_port == parsed.high_port and parsed.low_port in WEB_PORTS
    if parsed.low_port < FIRST_PORT and not is_web:
        raise ValueError(f"{text!r} has ports that bots may not have; name 80, 443, or ports from {FIRST_PORT} on")
