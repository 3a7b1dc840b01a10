"""`referee demo`: the whole pipe, from a bot's URL to a ladder and a log that anyone can check."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.running import comes_true, family, referee, surroundings


def test_the_demo_plays_a_tournament_and_the_league_checks_a_log_and_ends_with_status_0(tmp_path: Path) -> None:
    folder = tmp_path / "data"

    played = subprocess.run(
        [sys.executable, "-m", "referee", "demo", "--exit", "--data", str(folder), "--port", "0"],
        capture_output=True,
        text=True,
        timeout=300,
        env=surroundings(),
        check=False,
    )

    assert played.returncode == 0, played.stdout + played.stderr
    assert re.search(
        r"\ntournament: saint-poker, 3 seats: 20 matches in [\d.]+ s\nrank +bot +owner +points", played.stdout
    )
    league = re.search(
        r"\nofficial ladder: Saint Poker\nrank +bot +rating +strength +matches\n((?: +\d.*\n){6})", played.stdout
    )
    assert league
    assert all(int(row.split()[-1]) >= 2 for row in league[1].splitlines())
    assert re.search(r"verify http://127\.0\.0\.1:\d+/api/v1/matches/mat_\w{26}/log\nok  ", played.stdout)
    addresses = [r"pages  (http://127\.0\.0\.1:\d+)/", r"API    \1/api/v1", r"docs   \1/docs", r"league \1/ladders"]
    addresses += [r"bot    \1/register, or: .+"]
    assert re.search("\n".join(["", *addresses, ""]), played.stdout)
    assert not family(folder)
    audit = referee("admin", "audit", "--data", str(folder))
    assert (audit.returncode, audit.stdout) == (0, f"{folder}: no differences\n")


def test_a_killed_demo_leaves_no_process(tmp_path: Path) -> None:
    with start_demo(tmp_path) as demo:
        wait_for_house_bots(demo)

        demo.send_signal(signal.SIGKILL)

    assert comes_true(lambda: not family(tmp_path)), family(tmp_path)


@contextmanager
def start_demo(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a demo in this folder; kill it at the end of the block, if it has not ended."""
    command = [sys.executable, "-m", "referee", "demo", "--data", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=surroundings()) as demo:
        try:
            yield demo
        finally:
            demo.kill()


def wait_for_house_bots(demo: subprocess.Popen[str]) -> None:
    assert demo.stdout is not None
    while "house bots serve" not in (line := demo.stdout.readline()):
        assert line, "the demo ended before its bots were there"
