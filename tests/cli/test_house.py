"""`referee house`: a house player as a bot of its own."""

import json
import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any
from urllib.request import urlopen

from click.testing import CliRunner, Result

from referee.cli import main
from referee.local import bot_files
from tests.cli.running import comes_true


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["house", "serve", "house:first", *arguments])


def test_a_house_player_serves_until_it_is_told_to_stop() -> None:
    over = Event()

    def fetch_manifest_and_stop() -> Any:
        try:
            assert comes_true(lambda: bot_files.is_open(port))
            with urlopen(f"http://127.0.0.1:{port}/") as answer:
                return json.load(answer)
        finally:
            if not over.is_set():  # it could not serve
                os.kill(os.getpid(), signal.SIGINT)

    with bot_files.reserve_port(0) as port, ThreadPoolExecutor(1) as other:
        fetched = other.submit(fetch_manifest_and_stop)
        served = run("--port", str(port), "--game", "pool-nap")
        over.set()

    assert (served.exit_code, served.output) == (0, f"house:first plays at http://127.0.0.1:{port}\n")
    assert (fetched.result()["games"], fetched.result()["max_concurrent_requests"]) == (["pool-nap"], 100)


def test_a_port_that_is_taken_and_a_secret_that_is_none_are_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        in_use = run("--port", str(taken.getsockname()[1]))
    secret = run("--port", "0", "--secret", "hush")

    assert (in_use.exit_code, secret.exit_code) == (2, 2)
    assert "is in use on 127.0.0.1" in in_use.stderr
    assert "a secret begins with whsec_" in secret.stderr
