"""Name the host under which bots are counted together, so that other spellings of it give no more room.

Only names and addresses in URLs are compared; nothing is looked up. How many calls one address gets, whatever names
lead there, is limited where the calls are made: ``referee.botclient.address_caps``.
"""

from functools import cache
from ipaddress import IPv4Address, ip_address
from typing import Final
from urllib.parse import urlsplit

from tldextract import TLDExtract

from referee.botclient.address_caps import to_target

MAX_HOST_LENGTH: Final = 255


def host_of(url: str) -> str:
    """Return the host of a URL that the address guard has rebuilt, without a dot at its end."""
    return (urlsplit(url).hostname or "").rstrip(".")[:MAX_HOST_LENGTH]


def group_of(host: str) -> str:
    """Return what the hosts that are counted together have in common.

    This is the registered domain of a name by the Public Suffix List, below which its holder can make any number of
    names; an IPv4 address; or the /64 of an IPv6 address. Below the domains of hosting services, each customer's name
    is a domain of its own.
    """
    try:
        address = ip_address(host)
    except ValueError:
        return _registered_domain(host)
    return host if isinstance(address, IPv4Address) else str(to_target(address))


def _registered_domain(name: str) -> str:
    name = name.lower().rstrip(".")
    return _suffixes()(name).top_domain_under_public_suffix or name


@cache
def _suffixes() -> TLDExtract:
    """Read the copy of the list that the package contains, with the domains of hosting services, and fetch nothing."""
    return TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)
