"""Guard outgoing calls: parse and normalize URLs, and vet every address of a host. Open no connection.

``name_lookup`` looks up host names. Addresses are checked against an allow-list: only those known to be public unicast
are accepted.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Self
from urllib.parse import SplitResult, urlsplit

from referee.botclient.name_lookup import LOOK_UP_SECONDS, LookUp, look_ups, system_look_up
from referee.botclient.private_bots import PrivateBots, private_bots_of
from referee.errors import UrlRefused
from referee.private_ranges import Address, AddressRange
from referee.settings import BadSettings, Settings

MAX_URL_LENGTH = 2048
MAX_ADDRESSES = 16

# fmt: off
_NOT_PUBLIC_V4 = [IPv4Network(block) for block in (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
    "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
    "224.0.0.0/4", "240.0.0.0/4",
)]
_UNICAST_V6 = IPv6Network("2000::/3")
_NOT_PUBLIC_V6 = [
    IPv6Network(block) for block in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
]
_SERVICE_PORTS = frozenset([  # well-known services that an HTTP request could harm
    1433, 1521, 2049, 2181, 2375, 2376, 2377, 2379, 2380, 3306, 3389, 4369, 5432, 5672, 5900, 5984, 5985,
    5986, 6000, 6379, 6443, 6667, 7001, 8086, 8500, 9042, 9092, 9200, 9300, 10250, 10255, 11211, 15672,
    26379, 27017,
])
# fmt: on

_URL_SIGNS = re.compile(r"[!$%&'()*+,\-./0-9:;=?#@A-Z\[\]_a-z~\\]*")
_SCHEME = re.compile(r"([^:/?#]*):")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # a host whose last label is a number is taken for an address by resolvers
_PATH = re.compile(r"(?:/(?:[!$&'()*+,\-.0-9:;=@A-Z_a-z~]|%[0-9A-F]{2})*)*")


@dataclass(frozen=True, slots=True)
class Policy:
    """Define which addresses may be called. Raise ``BadSettings`` if ``allow`` is not empty in production.

    ``private`` judges addresses on a private network that are written in a URL; names never lead there.
    """

    allow: tuple[AddressRange, ...] = ()
    allow_http: bool = False
    production: bool = False
    private: PrivateBots | None = None

    def __post_init__(self) -> None:
        if self.production and self.allow:
            raise BadSettings("REFEREE_EGRESS_ALLOW must be empty when REFEREE_ENV=production")

    @classmethod
    def parse(cls, allow: str, *, allow_http: bool = False, production: bool = False) -> Self:
        """Return a policy with a comma-separated list of allowed ranges. Raise ``BadSettings`` if one is invalid."""
        try:
            ranges = tuple(AddressRange.parse(part) for part in allow.split(",") if part.strip())
        except ValueError as error:
            raise BadSettings(
                f"REFEREE_EGRESS_ALLOW must be a list like 127.0.0.1/32:9000-9999, not {allow!r}: {error}"
            ) from error
        return cls(ranges, allow_http, production)

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        policy = cls.parse(
            settings.egress_allow, allow_http=settings.allow_http, production=settings.env == "production"
        )
        return replace(policy, private=private_bots_of(settings))

    def without_private(self) -> Self:
        """Return this policy for calls to others than bots, which have no addresses on the private network."""
        return replace(self, private=None)

    @property
    def takes_http(self) -> bool:
        """Return whether any URL may begin with http."""
        return self.allow_http or bool(self.allow)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Hold the parts of a bot's base URL in canonical form."""

    scheme: str
    host: str  # lower-case name, dotted quad, or IPv6 without brackets
    port: int
    path: str  # without a slash at the end

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def authority(self) -> str:
        """Return the value of the ``Host`` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def literal(self) -> Address | None:
        """Return the host as an address, or None if it is a name."""
        try:
            return ip_address(self.host)
        except ValueError:
            return None

    def is_private(self, policy: Policy) -> bool:
        """Return whether the URL names an address in the private ranges of the policy."""
        literal = self.literal
        return literal is not None and policy.private is not None and policy.private.covers(literal, self.port)


_DEFAULT_PORTS = {"http": 80, "https": 443}


def parse_url(text: str, policy: Policy) -> Endpoint:
    """Parse a URL and return its canonical endpoint. Callers use only the endpoint afterwards, never ``text``.

    Raise ``UrlRefused`` with code invalid_url, invalid_scheme, invalid_host or port_denied; if the host is an address,
    also egress_denied.
    """
    if len(text) > MAX_URL_LENGTH:
        raise UrlRefused("invalid_url", f"a URL has at most {MAX_URL_LENGTH} characters")
    scheme = _scheme(text, policy)
    parts = _parts(text)
    host = _host(parts)
    path = parts.path.rstrip("/")
    if not _PATH.fullmatch(path) or {".", ".."} & set(path.split("/")):
        raise UrlRefused("invalid_url", "the path contains . or .. or a character that must be percent-encoded")
    endpoint = Endpoint(scheme, host, _port(parts, scheme), path)
    if scheme == "http" and not policy.takes_http and not endpoint.is_private(policy):
        raise UrlRefused("invalid_scheme", f"a URL begins with https; http is for the addresses {policy.private}")
    if endpoint.literal is not None:
        vet(endpoint.literal, endpoint.port, policy, is_literal=True)
    return endpoint


def vet(address: Address, port: int, policy: Policy, *, is_literal: bool = False) -> None:
    """Raise ``UrlRefused`` with code egress_denied if the policy forbids calls to this address and port.

    Private addresses are allowed only where the URL names them (``is_literal``): a name could lead elsewhere later.
    """
    if any(allowed.covers(address, port) for allowed in policy.allow):
        return
    if is_literal and policy.private is not None and policy.private.allows(address, port):
        return
    if isinstance(address, IPv4Address):
        public = not any(address in block for block in _NOT_PUBLIC_V4)
    else:
        inside = address in _UNICAST_V6 and not address.scope_id
        public = inside and not any(address in block for block in _NOT_PUBLIC_V6)
    if not public:
        # In production, the address would reveal our internal network.
        described = f"{address} port {port}" if policy.allow else "this"
        others = (
            "" if policy.private is None else f"; a private one is written in the URL and is one of {policy.private}"
        )
        raise UrlRefused("egress_denied", f"{described} is not a public address that may be called{others}")


async def resolve(
    endpoint: Endpoint,
    policy: Policy,
    look_up: LookUp | None = None,
    *,
    owner_id: str = "",
    until: float = float("inf"),
) -> list[Address]:
    """Return the vetted addresses of a host. Raise ``UrlRefused`` with code egress_denied or dns_failed.

    Look-ups of one owner delay nobody else's. ``until`` is a time on the loop's clock, after which ``TimeoutError`` is
    raised. Raise ``Unavailable`` when the look-up could not be made.
    """
    if endpoint.literal is not None:
        vet(endpoint.literal, endpoint.port, policy, is_literal=True)
        return [endpoint.literal]
    answers = await _look_up(endpoint.host, look_up or system_look_up, owner_id, until)
    if not 1 <= len(answers) <= MAX_ADDRESSES:
        raise UrlRefused("dns_failed", f"{endpoint.host} has {len(answers)} addresses, expected 1 to {MAX_ADDRESSES}")
    addresses = []
    for answer in answers:
        try:
            address = ip_address(answer)
        except ValueError:
            raise UrlRefused("dns_failed", f"{answer!r} is not an address") from None
        vet(address, endpoint.port, policy)
        addresses.append(address)
    return addresses


async def _look_up(host: str, look_up: LookUp, owner_id: str, until: float) -> Sequence[str]:
    try:
        return await look_ups().find(host, look_up, owner_id, until=until)
    except TimeoutError:
        if asyncio.get_running_loop().time() >= until:
            raise
        raise UrlRefused("dns_failed", f"{host} was not found within {LOOK_UP_SECONDS:.0f} s") from None
    except (OSError, UnicodeError) as error:
        raise UrlRefused("dns_failed", f"{host}: {error}") from None


# -- the parts of a URL --


def _scheme(text: str, policy: Policy) -> str:
    found = _SCHEME.match(text)
    scheme = found[1] if found else ""
    wanted = ("https", "http") if policy.takes_http or policy.private is not None else ("https",)
    if scheme not in wanted:
        raise UrlRefused("invalid_scheme", f"a URL begins with {' or '.join(wanted)}, in lower case")
    return scheme


def _parts(text: str) -> SplitResult:
    if not text.isascii():
        code = "invalid_host" if text.split("://", 1)[-1].split("/", 1)[0].isprintable() else "invalid_url"
        raise UrlRefused(code, "a URL must be ASCII; write an international host name in its xn-- form")
    if not _URL_SIGNS.fullmatch(text) or "\\" in text:
        raise UrlRefused(
            "invalid_url", "the URL contains blanks, control characters or other characters that are not allowed"
        )
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise UrlRefused("invalid_url", str(error)) from None
    if parts.query or parts.fragment or "?" in text or "#" in text:
        raise UrlRefused("invalid_url", "a base URL has no query and no fragment")
    if "@" in parts.netloc or not text.startswith(f"{parts.scheme}://") or not parts.netloc:
        raise UrlRefused("invalid_url", "a URL must have the form scheme://host:port/path, without user and password")
    return parts


def _host(parts: SplitResult) -> str:
    host = parts.netloc
    if host.startswith("["):
        literal, bracket, rest = host[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise UrlRefused("invalid_url", "the closing bracket of the IPv6 address is missing or misplaced")
        return _canonical(literal, IPv6Address, "IPv6 address is written in its shortest form, without a zone")
    host = host.partition(":")[0].lower()
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _canonical(host, IPv4Address, "IPv4 address is four decimal numbers without leading zeros")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise UrlRefused("invalid_host", "a host is a name of letters, digits and hyphens, or an address")
    return host


def _canonical(host: str, kind: type[Address], form: str) -> str:
    try:
        if "%" not in host and str(kind(host)) == host.lower():
            return host.lower()
    except ValueError:
        pass
    raise UrlRefused("invalid_host", f"an {form}")


def _port(parts: SplitResult, scheme: str) -> int:
    text = parts.netloc.rpartition("]")[2].partition(":")
    if not text[1]:
        return _DEFAULT_PORTS[scheme]
    if not text[2].isdigit():
        raise UrlRefused("invalid_url", "the port is not a number")
    port = int(text[2]) if len(text[2]) <= 5 else 65536
    if port not in (80, 443) and not 1024 <= port <= 65535:
        raise UrlRefused("port_denied", "a port is 80, 443 or from 1024 to 65535")
    if port in _SERVICE_PORTS:
        raise UrlRefused(
            "port_denied", f"port {port} is that of a well-known service other than HTTP; use another port"
        )
    return port
