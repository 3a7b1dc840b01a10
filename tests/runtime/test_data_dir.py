"""The data directory: one owner at a time, and a socket wherever it lies."""

import os
import socket
from pathlib import Path

import pytest

from referee.errors import RefereeError
from referee.runtime.data_dir import SOCKET_PATH_LIMIT, DataDir, InUse


def test_a_directory_has_one_owner_who_is_told_to_whoever_asks_until_it_is_released(tmp_path: Path) -> None:
    first, second = DataDir(tmp_path), DataDir(tmp_path)
    assert second.owner() is None
    first.acquire()
    first.write_owner("http://127.0.0.1:1")

    owner = second.owner()
    assert owner is not None
    assert (owner.pid, owner.url) == (os.getpid(), "http://127.0.0.1:1")
    with pytest.raises(InUse, match=rf"process {os.getpid()}, http://127\.0\.0\.1:1"):
        second.acquire()
    first.release()
    assert second.owner() is None
    second.acquire()

    second.release()


def test_rights_are_taken_off_what_is_the_services_own_and_nothing_else(tmp_path: Path) -> None:
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    own, foreign = data / "redis-server" / "dump", [data / "logs-of-others" / "a.log", elsewhere / "b.log"]
    for path in (own, *foreign):
        path.parent.mkdir(parents=True)
        path.touch()
    (data / "logs").symlink_to(elsewhere)
    everything = [one for path in (own, *foreign) for one in (path.parent, path)]
    for path in everything:
        path.chmod(0o755)

    directory = DataDir(data)
    directory.acquire()
    directory.release()

    closed = [path for path in everything if not path.stat().st_mode & 0o077]
    assert closed == [own.parent, own]


def test_a_deep_directory_gets_a_socket_the_kernel_can_hold_where_nobody_else_can_enter(tmp_path: Path) -> None:
    deep = tmp_path / ("deep" * 30)
    deep.mkdir()

    path = DataDir(deep).socket()

    assert len(os.fsencode(path)) <= SOCKET_PATH_LIMIT
    assert path == DataDir(deep).socket()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
    path.unlink()
    path.parent.chmod(0o777)
    with pytest.raises(RefereeError, match="not a private directory"):
        DataDir(deep).socket()
    path.parent.rmdir()


def test_a_long_log_is_put_aside(tmp_path: Path) -> None:
    directory = DataDir(tmp_path)
    with directory.log("api").open("wb") as log:
        log.truncate(9 << 20)

    assert not directory.log("api").exists()

    assert (tmp_path / "logs" / "api.log.1").stat().st_size == 9 << 20


def test_K28_logs_without_a_directory_are_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file")

    with pytest.raises(RefereeError, match=r"logs cannot be used for the logs of the processes: File exists\. Make it"):
        DataDir(tmp_path).log("api")
