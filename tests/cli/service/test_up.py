"""`referee up`: what it starts again, and what it refuses."""

import os
import re
import signal
import stat
from pathlib import Path

import pytest

from referee.cli.up import DEFAULT_PORT, listen
from tests.cli.hall import RunningHall
from tests.cli.running import Service, comes_true, family, says


@pytest.fixture
def standing(running_hall: RunningHall) -> Service:
    return running_hall.up


def test_D9_nobody_else_on_the_machine_reads_the_data_directory(standing: Service) -> None:
    paths = [standing.folder, *standing.folder.rglob("*")]

    modes = {str(path.relative_to(standing.folder)): stat.filemode(path.lstat().st_mode) for path in paths}

    assert {name: mode for name, mode in modes.items() if not mode.endswith("------")} == {}
    kept = {"referee.db", "referee.db-wal", "referee.db-shm", "referee.db.lock", "master.key", "up.lock", "redis.sock"}
    kept |= {"logs/old.log", *(f"logs/{name}.log" for name in ("api", "redis", "scheduler", "worker-1"))}
    assert kept <= set(modes)
    assert any("appendonlydir/" in name for name in modes)


def test_a_second_up_on_the_same_data_is_refused(standing: Service) -> None:
    second = run("up", "--data", str(standing.folder), "--port", "0", status=1)

    assert f"in use by another `referee up` (process {standing.process.pid}, {standing.url})" in second
    assert standing.ready()


def run(*arguments: str, status: int, **environment: str) -> str:
    """Run a command that is refused before it starts a process, and return its error."""
    nothing: dict[str, str | None] = {"DATABASE_URL": None, "REDIS_URL": None}
    return says(nothing | environment, *arguments, status=status).stderr


def test_without_a_port_the_next_free_one_is_taken_and_a_taken_one_is_named(tmp_path: Path) -> None:
    with listen("127.0.0.1", None) as first, listen("127.0.0.1", None) as second:
        port = second.getsockname()[1]

        assert DEFAULT_PORT <= first.getsockname()[1] < port
        refused = run("up", "--data", str(tmp_path / "data"), "--port", str(port), status=2)
    assert f"Port {port} is in use on 127.0.0.1" in refused


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("REFEREE_RUNNER_SLOTS", "many", r"Error: Environment variable \W*REFEREE_RUNNER_SLOTS"),
        ("DATABASE_URL", "postgresql://nobody@127.0.0.1:9/none", "Error: The database is not available"),
        ("REDIS_URL", "redis://:hush@127.0.0.1:9/0", "Error: No Redis server answers at 127.0.0.1:9/0"),
    ],
)
def test_what_cannot_be_used_is_named_without_its_password(tmp_path: Path, name: str, value: str, said: str) -> None:
    refused = run("up", "--data", str(tmp_path), "--port", "0", status=1, **{name: value})

    assert re.match(said, refused)
    assert "hush" not in refused


@pytest.mark.parametrize("command", [["up", "--port", "0"], ["admin", "upgrade"]], ids=" ".join)
def test_a_wrong_file_of_official_ladders_is_named_before_anything_is_written(
    tmp_path: Path, command: list[str]
) -> None:
    wrong = tmp_path / "ladders.toml"
    wrong.write_text("[[ladder]]\ngame = 'saint-poker'\nseats = 9\ndaily_matches = 4\n")

    refused = run(*command, "--data", str(tmp_path / "data"), status=1, REFEREE_LADDERS=str(wrong))

    assert f"{wrong}: ladder 1 (saint-poker): seats must be a whole number from 2 to 5, not 9." in refused
    assert not (tmp_path / "data" / "referee.db").exists()


def test_the_dead_are_brought_back_though_nobody_reads_any_more_what_the_service_says(standing: Service) -> None:
    assert standing.process.stdout is not None
    standing.process.stdout.close()
    parts = ("redis.sock", "[api]", "[worker-1]", "[scheduler]")
    dead = [min(_pids(standing, part)) for part in parts]

    for pid in dead:
        os.kill(pid, signal.SIGKILL)

    def all_back() -> bool:
        back = all(_pids(standing, part) for part in parts)
        return back and not set(dead) & {*family(standing.folder)} and standing.ready()

    assert comes_true(all_back), family(standing.folder)


def _pids(standing: Service, part: str) -> list[int]:
    """Return the processes whose command lines hold ``part``."""
    return [pid for pid, command in family(standing.folder).items() if part in command]
