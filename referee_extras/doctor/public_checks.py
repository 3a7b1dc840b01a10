"""Check the service through its public URL: proxy headers, streams, TLS, and the clock of its host."""

import json
import socket
import ssl
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

import referee
from referee.runtime.log_context import hide_in
from referee.settings import Settings
from referee_extras.doctor.deadline import call_within
from referee_extras.doctor.findings import DeploymentFinding, failure, ok, skip_check, warning
from referee_extras.doctor.probe import HEADER, SEEN_HEADER, make_proof

TIMEOUT_S: Final = 10.0  # for a whole exchange
STREAM_S: Final = 5.0  # the first bytes of a stream are sent immediately
FORGED: Final = "198.51.100.77"
TLS_WARNING_DAYS: Final = 21
TLS_FAILURE_DAYS: Final = 3
UNREACHABLE_ADVICE: Final = "Compare the URL with the address of the proxy, and read its log."


def check_public(url: str, settings: Settings) -> list[DeploymentFinding]:
    """Return all findings for the service at ``url``. Without an answer, there is only that one."""
    url = url.rstrip("/")
    if not _is_url(url):
        advice = "Pass one like https://referee.example.org, without a password, a query or a fragment."
        return [failure("public url", f"{hide_in(url)} is not a URL of a service", advice)]
    tls = check_tls(url)
    with httpx.Client(timeout=TIMEOUT_S, trust_env=False, verify=ssl.create_default_context()) as client:
        try:
            answer = _get(client, f"{url}/healthz")
        except httpx.HTTPError as error:
            return [tls, failure("public url", f"{url} does not answer: {_reason(error)}", UNREACHABLE_ADVICE)]
        if answer.status_code != 200:
            found = f"{url}/healthz answers with status {answer.status_code}"
            return [tls, failure("public url", found, f"{UNREACHABLE_ADVICE} With 400, see REFEREE_ALLOWED_HOSTS.")]
        return [
            tls,
            _check_name(url, settings),
            *_check_passage(client, url, settings),
            check_streams(client, url),
        ]


def _get(client: httpx.Client, url: str, headers: dict[str, str] | None = None) -> httpx.Response:
    """Return the whole response. Raise ``httpx.ReadTimeout`` if it is not complete after ``TIMEOUT_S``."""
    try:
        return call_within(TIMEOUT_S, lambda: client.get(url, headers=headers))
    except TimeoutError as error:
        raise httpx.ReadTimeout(str(error)) from error


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        is_complete = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return is_complete and not (parts.username or parts.password or parts.query or parts.fragment)


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _check_passage(client: httpx.Client, url: str, settings: Settings) -> Iterator[DeploymentFinding]:
    try:
        yield from _check_metrics_hidden(client, url)
        yield from check_proxy(client, url, settings)
    except httpx.HTTPError as error:
        yield failure("public url", f"the checks of the proxy ended: {_reason(error)}", UNREACHABLE_ADVICE)


def _check_name(url: str, settings: Settings) -> DeploymentFinding:
    if url != settings.public_url:
        found = f"the service answers at {url}, but REFEREE_PUBLIC_URL is {settings.public_url}"
        return warning("public url", found, "Set REFEREE_PUBLIC_URL to the URL that people use, with its scheme.")
    return ok("public url", f"{url} answers, and is REFEREE_PUBLIC_URL")


def _check_metrics_hidden(client: httpx.Client, url: str) -> Iterator[DeploymentFinding]:
    if _get(client, f"{url}/metrics").status_code == 200:
        yield failure("public url", f"{url}/metrics shows something to everybody", "Let the proxy answer it with 404.")


def check_proxy(client: httpx.Client, url: str, settings: Settings) -> Iterator[DeploymentFinding]:
    """Check what the service knows of a client behind the proxy, and that it believes no forged header."""
    plain = _ask_seen(client, url, settings)
    forged = _ask_seen(client, url, settings, **{"X-Forwarded-For": FORGED, "X-Request-Id": "forged-by-the-doctor"})
    if plain is None or forged is None:
        found = "the service does not say how a request arrived"
        version = f"the version of the service ({url}/readyz names it; this is {referee.__version__})"
        advice = f"Run this with {version}, the master key of the service, and a clock that is right."
        yield failure("proxy", found, advice)
        return
    before = [*_judge_addresses(plain, forged)]
    if plain["host"] != urlsplit(url).netloc:
        found = f"the proxy passes on the host {plain['host']} instead of {urlsplit(url).netloc}"
        before.append(failure("proxy", found, "Let it keep the Host header (nginx: proxy_set_header Host $http_host)."))
    if forged["request_id"] == "forged-by-the-doctor":
        found = "the proxy passes on the X-Request-Id of clients, so they choose what the log shows"
        before.append(warning("proxy", found, "Replace it (nginx: proxy_set_header X-Request-Id $request_id)."))
    yield from before or [
        ok("proxy", f"host and address ({plain['address']}) arrive; a forged address is not believed")
    ]


def _judge_addresses(plain: dict[str, Any], forged: dict[str, Any]) -> Iterator[DeploymentFinding]:
    if forged["address"] == FORGED:
        found = "a client may choose its address with X-Forwarded-For"
        advice = "Set REFEREE_TRUSTED_PROXIES to the number of proxies, and let the first replace the header."
        yield failure("proxy", found, advice)
    elif plain["forwarded"] and not plain["trusted_proxies"]:
        found = "all clients count as one address, because REFEREE_TRUSTED_PROXIES is 0 behind a proxy"
        yield failure("proxy", found, "Set REFEREE_TRUSTED_PROXIES to the number of proxies.")
    elif plain["trusted_proxies"] and not plain["forwarded"]:
        found = "the proxy does not pass on the address of clients"
        yield failure("proxy", found, "Let it set X-Forwarded-For (nginx: $remote_addr).")


def _ask_seen(client: httpx.Client, url: str, settings: Settings, **headers: str) -> dict[str, Any] | None:
    proof = {HEADER: make_proof(settings.master_key)}
    seen = _get(client, f"{url}/healthz", {**proof, **headers}).headers.get(SEEN_HEADER)
    try:
        found: dict[str, Any] | None = json.loads(seen) if seen else None
    except ValueError:
        return None
    return found


def check_streams(client: httpx.Client, url: str) -> DeploymentFinding:
    """Check the stream of a tournament or match in progress, if there is one."""
    try:
        now = _get(client, f"{url}/api/v1/now").raise_for_status().json()
        paths = [f"{kind}/{subject['id']}/stream" for kind in ("tournaments", "matches") for subject in now[kind]]
    except (httpx.HTTPError, ValueError, LookupError, TypeError) as error:
        return failure("streams", f"{url}/api/v1/now cannot be read: {_reason(error)}", UNREACHABLE_ADVICE)
    if not paths:
        found = "not checked: no tournament or match is in progress"
        return skip_check("streams", found, "Run the doctor again while one is.")
    return check_stream(client, f"{url}/api/v1/{paths[0]}")


def check_stream(client: httpx.Client, url: str) -> DeploymentFinding:
    """Check that the beginning of a stream arrives although the stream goes on."""
    began = time.monotonic()
    try:
        status, first = call_within(STREAM_S, lambda: _read_beginning(client, url))
    except (httpx.HTTPError, TimeoutError):
        found = f"nothing of a stream arrived within {STREAM_S:.0f} s: the proxy buffers it"
        return failure("streams", found, "Switch buffering off for text/event-stream (docs/operations.md#streams).")
    if status != 200:
        found = f"a stream answers with status {status}"
        return failure("streams", found, "Read the log of the API; with 503, raise REFEREE_STREAMS.")
    if not first:
        return failure("streams", "the proxy ends streams immediately", "Let responses without a length stay open.")
    return ok("streams", f"a stream arrives unbuffered, after {1000 * (time.monotonic() - began):.0f} ms")


def _read_beginning(client: httpx.Client, url: str) -> tuple[int, bytes]:
    """Return the status of a stream and, if it is 200, its first bytes."""
    with client.stream("GET", url, timeout=STREAM_S) as stream:
        return stream.status_code, next(stream.iter_raw(), b"") if stream.status_code == 200 else b""


def check_tls(url: str, *, now: datetime | None = None) -> DeploymentFinding:
    """Check the certificate: its chain, its name, and for how long it is valid."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme != "https":
        if host in ("127.0.0.1", "::1", "localhost"):
            return skip_check(
                "tls", "not checked: this is plain http on this host", "Pass the public https URL with --url."
            )
        return failure(
            "tls", f"{url} has no TLS: tokens can be read in transit", "Set TLS up (docs/operations.md#tls)."
        )
    try:
        version, certificate = call_within(TIMEOUT_S, lambda: _shake_hands(host, parts.port or 443))
    except ssl.SSLCertVerificationError as error:
        advice = "Renew the certificate, with this name, and let the proxy send the whole chain."
        return failure("tls", f"the certificate is not accepted: {error.verify_message}", advice)
    except OSError as error:
        return failure("tls", f"no TLS connection could be opened: {error}", UNREACHABLE_ADVICE)
    ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(str(certificate["notAfter"])), UTC)
    days = (ends - (now or datetime.now(UTC))).days
    if days < TLS_WARNING_DAYS:
        make = failure if days < TLS_FAILURE_DAYS else warning
        return make("tls", f"the certificate expires in {days} days", "Renew it, and see why that is not automatic.")
    return ok("tls", f"{version}; the certificate is valid for {host} and {days} more days")


def _shake_hands(host: str, port: int) -> tuple[str | None, dict[str, Any]]:
    """Return the version of TLS and the certificate of a server."""
    with (
        socket.create_connection((host, port), timeout=TIMEOUT_S) as plain,
        ssl.create_default_context().wrap_socket(plain, server_hostname=host) as secured,
    ):
        return secured.version(), dict(secured.getpeercert() or {})


def read_date(url: str) -> float | None:
    """Return by how many seconds the Date header of the service is ahead of this host, or None without one."""
    try:
        began = time.time()
        with httpx.Client(timeout=TIMEOUT_S, trust_env=False) as client:
            answer = _get(client, f"{url.rstrip('/')}/healthz")
        date = parsedate_to_datetime(answer.headers["Date"]).timestamp()
    except (httpx.HTTPError, httpx.InvalidURL, KeyError, ValueError, OSError):
        return None
    return date + 0.5 - (began + time.time()) / 2  # the header has whole seconds
