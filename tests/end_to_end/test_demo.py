"""`referee demo`: the whole pipe, from a bot's URL to a ladder and a log that anyone can check."""

import re
import signal
import subprocess
import sys
from pathlib import Path

from tests.cli.running import comes_true, family, referee, surroundings


def test_the_demo_plays_both_games_checks_a_log_and_ends_with_status_0(tmp_path: Path) -> None:
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
    for game, matches in (("saint-poker", 20), ("pool-nap", 6)):
        assert re.search(rf"{game}, \d seats: {matches} matches in [\d.]+ s\nrank +bot +matches", played.stdout)
    assert re.search(r"verify http://127\.0\.0\.1:\d+/api/v1/matches/mat_\w{26}/log\nok  ", played.stdout)
    assert re.search(r"\npages  (http://127\.0\.0\.1:\d+)/\nAPI    \1/api/v1\ndocs   \1/docs\n", played.stdout)
    assert not family(folder)
    audit = referee("audit", "--data", str(folder))
    assert (audit.returncode, audit.stdout) == (0, f"{folder}: no differences\n")
    standings = referee("standings", "--data", str(folder)).stdout
    assert 4 <= standings.count("Ada sound") <= 9  # two tournaments, their ladders, perhaps the official ones


def test_a_killed_demo_leaves_no_process(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    demo = subprocess.Popen(
        [sys.executable, "-m", "referee", "demo", "--data", str(folder), "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env=surroundings(),
    )
    assert demo.stdout is not None
    while "house bots serve" not in (line := demo.stdout.readline()):
        assert line, "the demo ended before its bots were there"

    demo.send_signal(signal.SIGKILL)
    demo.wait()

    assert comes_true(lambda: not family(folder), 20.0), family(folder)
    demo.stdout.close()


def test_an_interrupted_demo_stops_everything(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    demo = subprocess.Popen(
        [sys.executable, "-m", "referee", "demo", "--data", str(folder), "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env=surroundings(),
    )
    assert demo.stdout is not None
    while "house bots serve" not in (line := demo.stdout.readline()):
        assert line, "the demo ended before its bots were there"

    demo.send_signal(signal.SIGINT)

    assert demo.wait(30) == 130
    assert not family(folder)
    demo.stdout.close()
