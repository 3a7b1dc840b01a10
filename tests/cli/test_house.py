"""`referee house`: a house player as a bot of its own."""

import http.client
import json
import re
import signal
import subprocess
import sys

from click.testing import CliRunner, Result

from referee.cli import main
from tests.cli.running import PATIENCE_S, surroundings


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["house", "serve", "house:first", *arguments])


def test_a_house_player_serves_until_it_is_told_to_stop() -> None:
    command = [sys.executable, "-m", "referee", "house", "serve", "house:first", "--port", "0", "--game", "pool-nap"]
    serving = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=surroundings())
    assert serving.stdout is not None
    try:
        where = re.fullmatch(r"house:first plays at http://(127\.0\.0\.1:\d+)\n", serving.stdout.readline())
        assert where
        connection = http.client.HTTPConnection(where[1], timeout=PATIENCE_S)
        connection.request("GET", "/")
        card = json.loads(connection.getresponse().read())
        connection.close()

        taken = run("--port", where[1].partition(":")[2])
        serving.send_signal(signal.SIGINT)

        assert (card["games"], card["max_concurrent_requests"]) == (["pool-nap"], 100)
        assert taken.exit_code == 2
        assert "is in use on 127.0.0.1" in taken.stderr
        assert serving.wait(PATIENCE_S) == 0
    finally:
        serving.kill()
        serving.wait()
        serving.stdout.close()


def test_a_secret_that_is_none_is_refused() -> None:
    refused = run("--port", "0", "--secret", "hush")

    assert refused.exit_code == 2
    assert "a secret begins with whsec_" in refused.stderr
