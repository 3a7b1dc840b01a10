"""Name the host under which bots are counted together, so that other spellings of it give no more room.

Only names and addresses in URLs are compared; nothing is looked up. How many calls one address gets, whatever names
lead there, is limited where the calls are made: ``referee.botclient.address_caps``.
"""

from ipaddress import IPv4Address, ip_address
from typing import Final
from urllib.parse import urlsplit

from referee.botclient.address_caps import to_target

MAX_HOST_LENGTH: Final = 255
# Second-level names under which countries register domains, such as co.uk.
_COUNTRY_LEVELS: Final = frozenset(
    {"ac", "co", "com", "edu", "gob", "gov", "ne", "net", "nom", "or", "org", "sch", "go", "govt", "ltd", "mil"}
)
# Domains below which hosting services give each customer a name of their own.
# fmt: off
_HOSTING_DOMAINS: Final = frozenset([
    "amazonaws.com", "appspot.com", "awsapprunner.com", "azurecontainerapps.io", "azurewebsites.net",
    "cloudapp.net", "cloudfunctions.net", "code.run", "ddns.net", "deno.dev", "duckdns.org", "dyndns.org",
    "fly.dev", "github.dev", "github.io", "gitpod.io", "glitch.me", "herokuapp.com", "hf.space", "hopto.org",
    "koyeb.app", "loca.lt", "modal.run", "netlify.app", "ngrok-free.app", "ngrok.app", "ngrok.dev", "ngrok.io",
    "no-ip.org", "on.aws", "ondigitalocean.app", "onrender.com", "pages.dev", "pythonanywhere.com",
    "railway.app", "repl.co", "replit.app", "replit.dev", "run.app", "serveo.net", "sytes.net",
    "trycloudflare.com", "ts.net", "vercel.app", "web.app", "workers.dev", "zapto.org",
])
# fmt: on


def host_of(url: str) -> str:
    """Return the host of a URL that the address guard has rebuilt, without a dot at its end."""
    return (urlsplit(url).hostname or "").rstrip(".")[:MAX_HOST_LENGTH]


def group_of(host: str) -> str:
    """Return what the hosts that are counted together have in common.

    This is the registered domain of a name, below which its holder can make any number of names; an IPv4 address;
    or the /64 of an IPv6 address. Below the domains of hosting services, each customer's name is a domain of its own.
    """
    try:
        address = ip_address(host)
    except ValueError:
        return _registered_domain(host)
    return host if isinstance(address, IPv4Address) else str(to_target(address))


def _registered_domain(name: str) -> str:
    labels = name.lower().rstrip(".").split(".")
    for length in range(2, len(labels)):
        if ".".join(labels[-length:]) in _HOSTING_DOMAINS:
            # A regional name, as in NAME.eu-west-1.amazonaws.com, belongs to the service, too.
            return ".".join(labels)
    is_country = len(labels[-1]) == 2 and len(labels) > 2 and labels[-2] in _COUNTRY_LEVELS
    return ".".join(labels[-3:] if is_country else labels[-2:])
