"""Drive an installed Firefox over WebDriver BiDi (https://w3c.github.io/webdriver-bidi/).

Playwright drives only a Firefox of its own, which is not always to be had. Firefox listens for BiDi by itself, without
geckodriver, and the tests need few of its commands.
"""

import asyncio
import itertools
import json
import os
import re
import subprocess
from collections.abc import Coroutine
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, Final, Self, TypeVar

import aiohttp

Json = dict[str, Any]
T = TypeVar("T")
PATIENCE_S: Final = 60
LISTENS: Final = re.compile(rb"WebDriver BiDi listening on (ws://\S+)")
SETTINGS: Final = """user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("app.update.enabled", false);
"""
WAIT: Final = """(async () => {
  const holds = () => Boolean(%s);
  for (let i = 0; i < 600 && !holds(); i++) await new Promise((done) => setTimeout(done, 50));
  return holds();
})()"""


class Firefox:
    """Run a headless Firefox with one tab. Everything blocks until it is done."""

    def __init__(self, executable: str) -> None:
        self._executable = executable
        self._numbers = itertools.count(1)
        self._loop = asyncio.new_event_loop()  # in a thread of its own, as Playwright may have a loop in this one
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self.troubles: list[str] = []  # errors and warnings on the console, and exceptions

    def __enter__(self) -> Self:
        self._thread.start()
        self._profile = TemporaryDirectory()
        (Path(self._profile.name) / "user.js").write_text(SETTINGS)
        command = [self._executable, "--headless", "--no-remote", "--remote-debugging-port", "0"]
        self._process = subprocess.Popen(
            [*command, "--profile", self._profile.name],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "MOZ_DISABLE_CONTENT_SANDBOX": "1"},  # containers often forbid its own sandbox
        )
        assert self._process.stdout
        url = next((match[1].decode() for line in self._process.stdout if (match := LISTENS.search(line))), None)
        assert url, "Firefox did not start"
        self._wait(self._connect(f"{url}/session"))
        self._call("session.new", capabilities={})
        self._call("session.subscribe", events=["log.entryAdded"])
        self._tab = self._call("browsingContext.getTree")["contexts"][0]["context"]
        return self

    async def _connect(self, url: str) -> None:
        self._session = aiohttp.ClientSession()
        self._socket = await self._session.ws_connect(url, max_msg_size=0)

    def __exit__(self, *_: object) -> None:
        self._wait(self._session.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._process.kill()
        self._process.wait()
        self._profile.cleanup()

    def _call(self, method: str, **params: Any) -> Json:
        return self._wait(self._exchange(method, params))

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)

    async def _exchange(self, method: str, params: Json) -> Json:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": params})
        while True:
            said = await self._socket.receive_json()
            if said.get("method") == "log.entryAdded":
                self._note(said["params"])
            elif said.get("id") == number:
                assert said["type"] == "success", f"{method}: {said}"
                result: Json = said["result"]
                return result

    def _note(self, entry: Json) -> None:
        if entry["level"] in ("error", "warn"):
            self.troubles.append(f"{entry['type']}: {entry['text']}")

    def resize(self, width: int, height: int) -> None:
        """Set the size of the viewport in CSS pixels."""
        self._call("browsingContext.setViewport", context=self._tab, viewport={"width": width, "height": height})

    def open(self, url: str) -> None:
        """Open a page and wait until it has loaded."""
        self._call("browsingContext.navigate", context=self._tab, url=url, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression, which may be a promise. It must be JSON."""
        whole = f"Promise.resolve({expression}).then((value) => JSON.stringify(value) ?? 'null')"
        answer = self._call("script.evaluate", expression=whole, target={"context": self._tab}, awaitPromise=True)
        assert answer["type"] == "success", answer
        return json.loads(answer["result"]["value"])

    def wait_for(self, condition: str) -> None:
        """Wait until the expression is true in the page."""
        assert self.evaluate(WAIT % condition), f"never true: {condition}"
