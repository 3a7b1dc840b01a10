"""Check what a bot's address could reach from this host: the internet, but neither private addresses nor metadata."""

import socket
from collections.abc import Callable, Sequence
from contextlib import closing
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from referee.botclient.address_guard import Policy, vet
from referee.errors import UrlRefused
from referee.settings import Settings
from referee_extras.doctor.findings import DeploymentFinding, failure, ok, skip_check, warning

Target = tuple[str, int]

METADATA: Final[Sequence[Target]] = (("169.254.169.254", 80), ("100.100.100.200", 80), ("fd00:ec2::254", 80))
TIMEOUT_S: Final = 2.0


def can_connect(target: Target) -> bool:
    """Return whether a TCP connection can be opened."""
    try:
        socket.create_connection(target, timeout=TIMEOUT_S).close()
    except OSError:
        return False
    return True


def check_egress(
    settings: Settings, *, metadata: Sequence[Target] = METADATA, connect: Callable[[Target], bool] = can_connect
) -> list[DeploymentFinding]:
    """Check the policy for addresses, and what the firewall lets through. Run this as the user of the workers."""
    findings = [*_check_policy(settings)]
    reached = [target for target in metadata if connect(target)]
    if reached:
        found = f"the metadata service of the cloud answers at {reached[0][0]}"
        advice = (
            "Block it for the user of the workers: a bot that reaches it may act as this machine (deploy/egress.nft)."
        )
        findings.append(failure("egress", found, advice))
    findings += _check_internet(settings, connect)
    return findings or [ok("egress", "private addresses are refused, and no metadata service answers")]


def _check_policy(settings: Settings) -> list[DeploymentFinding]:
    policy = Policy.from_settings(settings)
    open_to = [address for address, port in METADATA if _is_allowed(address, port, policy)]
    if open_to:
        found = f"REFEREE_EGRESS_ALLOW lets bots have the address {open_to[0]} of the metadata service"
        return [failure("egress", found, "Take it out of REFEREE_EGRESS_ALLOW.")]
    if settings.egress_allow:
        found = f"REFEREE_EGRESS_ALLOW lets bots have private addresses: {settings.egress_allow}"
        return [warning("egress", found, "Unset it on a service with bots of strangers.")]
    return []


def _is_allowed(address: str, port: int, policy: Policy) -> bool:
    try:
        vet(ip_address(address), port, policy)
    except UrlRefused:
        return False
    return True


def _check_internet(settings: Settings, connect: Callable[[Target], bool]) -> list[DeploymentFinding]:
    """Check that this host reaches the public URL of the service, as it would reach a bot."""
    if not settings.dns_canary:
        advice = "Set REFEREE_PUBLIC_URL or REFEREE_DNS_CANARY to a public name, which workers also use."
        return [skip_check("internet", "not checked: no public name is known", advice)]
    url = urlsplit(settings.public_url)
    port = url.port or 443 if url.hostname == settings.dns_canary else 443
    if connect((settings.dns_canary, port)):
        return [ok("internet", f"{settings.dns_canary} was looked up and reached")]
    found = f"{settings.dns_canary} cannot be looked up or reached on port {port}"
    advice = "Let the host of workers reach its name server and the internet on ports 80, 443 and from 1024 on."
    return [failure("internet", found, advice)]


def check_firewall(connect: Callable[[Target], bool] = can_connect) -> DeploymentFinding:
    """Check that a firewall rejects private addresses, by connecting to a listener on loopback.

    The service checks addresses itself; the firewall protects against an error in that.
    """
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        is_open = connect(("127.0.0.1", listener.getsockname()[1]))
    if is_open:
        advice = "Load deploy/egress.nft on hosts of workers, and run this command as their user."
        return warning("firewall", "this user may connect to private addresses", advice)
    return ok("firewall", "a firewall rejects private addresses for this user")
