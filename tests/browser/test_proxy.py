"""The page of a match through the proxy: over HTTP/2, and for a class of forty behind one address."""

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from urllib.parse import urlsplit

import aiohttp
import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import wait_for
from tests.browser.record import Filled
from tests.browser.service import served
from tests.deploy.proxying import CONFIGURATION, Proxy, Upstream, in_front_of

CLASS = 40
CONNECTIONS = 6  # of a browser to a server, over HTTP/1.1
PATIENCE_S = 120
PROTOCOLS = "performance.getEntries().map((entry) => entry.nextHopProtocol).filter((protocol) => protocol)"


@dataclass(frozen=True)
class Loaded:
    """What a browser requested for a page: paths, of files and others, and what it received."""

    files: list[str]
    others: list[str]  # the page first
    streams: list[str]
    protocols: set[str]


@pytest.fixture(scope="module")
def proxy(filled: Filled, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """Run nginx in front of a service that trusts it and limits requests."""
    folder = tmp_path_factory.mktemp("proxy")
    settings = {"REFEREE_TRUSTED_PROXIES": "1", "REFEREE_RATE_LIMITS": "true"}
    with served(filled.folder, "behind-proxy.log", **settings) as api:
        port = urlsplit(api.url).port
        assert port is not None
        with in_front_of(port, folder, Upstream()) as running:
            yield running


@pytest.fixture(scope="module")
def loaded(proxy: Proxy, browser: Browser, filled: Filled) -> Loaded:
    """Open the page of a running match in a browser that has nothing of the site yet, until it has all it asks for."""
    site = f"https://127.0.0.1:{proxy.tls_port}"
    paths: list[str] = []
    failed: list[str] = []
    with browser.new_context(base_url=site, ignore_https_errors=True) as context:
        page = context.new_page()
        page.on("request", lambda request: paths.append(request.url.removeprefix(site)))
        page.on("response", lambda response: failed.append(response.url) if response.status >= 400 else None)
        page.on("requestfailed", lambda request: failed.append(f"{request.url}: {request.failure}"))
        with page.expect_response(lambda response: response.url.endswith("/stream")):
            page.goto(f"/matches/{filled.matches['rated']}")
        wait_for(page, "[...document.images].every((image) => image.complete)")
        protocols = set(page.evaluate(PROTOCOLS))
        assert failed == []
    files = [path for path in paths if path.startswith("/static/")]
    streams = [path for path in paths if path.endswith("/stream")]
    return Loaded(files, [path for path in paths if path not in {*files, *streams}], streams, protocols)


def test_a_class_behind_one_address_loads_pages_over_http_2_and_does_not_meet_the_limits(loaded: Loaded) -> None:
    text = CONFIGURATION.read_text()

    def limit(pattern: str) -> int:
        return min(int(number) for number in re.findall(pattern, text))

    assert loaded.protocols == {"h2"}
    assert len(loaded.streams) == 1
    assert 0 < CLASS * len(loaded.files) <= limit(r"limit_conn files (\d+);")
    assert CLASS * (len(loaded.others) + 1) <= limit(r"burst=(\d+)")
    assert CLASS * max(CONNECTIONS, len(loaded.others)) <= limit(r"limit_conn requests (\d+);")
    assert limit(r"limit_conn streams (\d+);") >= CLASS * 2  # two windows each


def test_forty_that_open_the_page_together_get_all_of_it(proxy: Proxy, loaded: Loaded) -> None:
    async def visit(client: aiohttp.ClientSession, everybody: asyncio.Barrier) -> set[int]:
        """Load the page with its files while the stream is open, and leave when everybody has loaded them."""
        page, *others = loaded.others
        statuses = {await status_of(client, page)}
        async with client.get(loaded.streams[0]) as stream:
            statuses.add(stream.status)
            statuses.update(await asyncio.gather(*(status_of(client, path) for path in others + loaded.files)))
            await everybody.wait()
        return statuses

    async def visit_together() -> list[set[int]]:
        everybody = asyncio.Barrier(CLASS)
        async with AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(
                    aiohttp.ClientSession(
                        f"http://127.0.0.1:{proxy.port}",
                        connector=aiohttp.TCPConnector(limit_per_host=CONNECTIONS),
                        timeout=aiohttp.ClientTimeout(PATIENCE_S),
                    )
                )
                for _ in range(CLASS)
            ]
            return await asyncio.gather(*(visit(client, everybody) for client in clients))

    with ThreadPoolExecutor(1) as thread:  # Playwright's event loop is that of this thread
        assert thread.submit(asyncio.run, visit_together()).result() == [{200}] * CLASS


async def status_of(client: aiohttp.ClientSession, path: str) -> int:
    async with client.get(path) as response:
        await response.read()
        return response.status
