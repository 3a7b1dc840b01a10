"""`referee demo`: the whole pipe, from a bot's URL to a ladder and a log that anyone can check."""

import io
import re
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner
from rich.console import Console

from referee.cli import main
from referee.runtime import waiting
from referee.runtime.processes import Signals
from referee_extras.demo.commands import Demonstration
from tests.cli.running import family, surroundings


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
    league = re.search(r"\nofficial ladder: Saint Poker\nrank +bot +rating +matches\n((?: +\d.*\n){6})", played.stdout)
    assert league
    assert all(int(row.split()[-1]) >= 2 for row in league[1].splitlines())
    assert re.search(r"verify http://127\.0\.0\.1:\d+/api/v1/matches/mat_\w{26}/log\nok  ", played.stdout)
    addresses = [r"pages  (http://127\.0\.0\.1:\d+)/", r"API    \1/api/v1", r"docs   \1/docs", r"league \1/ladders"]
    addresses += [r"bot    \1/register, or: .+"]
    assert re.search("\n".join(["", *addresses, ""]), played.stdout)
    assert not family(folder)
    audit = CliRunner().invoke(main, ["admin", "audit", "--data", str(folder)])
    assert (audit.exit_code, audit.stdout) == (0, f"{folder}: no differences\n")


def test_the_demo_waits_for_a_slow_service_and_says_so_every_30_s(tmp_path: Path) -> None:
    now, shown = [0.0], io.StringIO()

    def seconds() -> float:
        now[0] += waiting.SAY_EVERY_S / 2
        return now[0]

    with Signals() as signals:
        demonstration = Demonstration(Console(file=shown), tmp_path, None, signals, seconds=seconds)
        looks = iter([None] * 5 + ["http://127.0.0.1:8000"])
        found = demonstration._poll_until(lambda: next(looks), lambda: "the start of the service", every_s=0.0)

    assert found == "http://127.0.0.1:8000"
    assert not demonstration.complete  # so an interruption here ends the command with another status than 0
    assert shown.getvalue().splitlines() == [
        "still waiting after 30 s: the start of the service",
        "still waiting after 60 s: the start of the service",
    ]
