"""Logs of processes rotate while these write: nothing is lost, the size is limited, and no disk stops anybody."""

import itertools
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from referee.runtime.log_writer import EARLIER_FILES, LogFile
from referee.runtime.process_logs import ProcessLogs
from referee.runtime.processes import Child
from tests.end_to_end.processes import until
from tests.machine import require

LIMIT = 20_000
LINES = 3_000
PATIENCE_MS = 30_000
# Several writes for a line, and lines of different lengths, as they come from different libraries.
WRITES_LINES = """
import os, sys
name, count = sys.argv[1], int(sys.argv[2])
for n in range(count):
    os.write(1 + n % 2, b"%s %d " % (name.encode(), n))
    os.write(1 + n % 2, b"x" * (n % 50) + b"\\n")
"""


@contextmanager
def logs(folder: Path, *names: str, limit: int = LIMIT) -> Iterator[ProcessLogs]:
    made = ProcessLogs(folder, names, limit=limit)
    made.watch()
    yield made
    made.stop()


def writer(made: ProcessLogs, folder: Path, name: str, count: int = LINES) -> Child:
    command = [sys.executable, "-c", WRITES_LINES, name, str(count)]
    child = Child(name, command, dict(os.environ), folder, folder / f"{name}.log", output=made.output(name))
    child.start()
    return child


def wait(*children: Child) -> None:
    for child in children:
        assert isinstance(child.process, subprocess.Popen)
        assert child.process.wait(30) == 0


def files(folder: Path, name: str) -> list[Path]:
    """The files of a log, the oldest first."""
    found = folder.glob(f"{name}.log*")
    return sorted(found, key=lambda path: int(path.suffix[1:]) if path.suffix != ".log" else 0, reverse=True)


def numbers(folder: Path, name: str) -> list[int]:
    text = "".join(path.read_text() for path in files(folder, name))
    assert all(re.fullmatch(rf"{name} \d+ x*", line) for line in text.splitlines())
    return [int(line.split()[1]) for line in text.splitlines()]


def test_logs_of_several_processes_rotate_at_the_end_of_a_line_while_they_write(tmp_path: Path) -> None:
    with logs(tmp_path, "a", "b") as made:
        wait(writer(made, tmp_path, "a"), writer(made, tmp_path, "b"))
        wait(writer(made, tmp_path, "b", 400))  # as after a restart

    for name, last in (("a", LINES - 1), ("b", 399)):
        found = numbers(tmp_path, name)
        assert [path.name for path in files(tmp_path, name)] == [f"{name}.log.2", f"{name}.log.1", f"{name}.log"]
        assert all(path.stat().st_size <= LIMIT + 100 for path in files(tmp_path, name))
        assert found[-1] == last
        assert all(later in (earlier + 1, 0) for earlier, later in itertools.pairwise(found))


def test_nothing_is_lost_at_a_rotation(tmp_path: Path) -> None:
    with logs(tmp_path, "a", limit=45_000) as made:
        wait(writer(made, tmp_path, "a"))
        made.settle()

        assert numbers(tmp_path, "a") == list(range(LINES))
        assert len(files(tmp_path, "a")) == EARLIER_FILES + 1


def test_a_writer_that_is_killed_is_replaced_and_what_waited_in_the_pipe_is_written(tmp_path: Path) -> None:
    with logs(tmp_path, "a") as made:
        wait(writer(made, tmp_path, "a", 10))
        made.settle()
        assert made._process is not None
        made._process.send_signal(signal.SIGTERM)  # it ignores what stops the others
        made._process.kill()
        made._process.wait()
        wait(writer(made, tmp_path, "a", 100))

        made.watch()
        made.settle()

        assert numbers(tmp_path, "a") == [*range(10), *range(100)]


def test_the_last_words_are_written_when_the_supervisor_was_killed(tmp_path: Path) -> None:
    script = f"""
import os, sys, time
from pathlib import Path
from referee.runtime.process_logs import ProcessLogs
from tests.runtime.test_process_logs import writer
made = ProcessLogs(Path({str(tmp_path)!r}), ["a"], limit={LIMIT})
made.watch()
code = "import signal, sys, time\\nsignal.signal(15, lambda *_: sys.exit(print('a 1 x', flush=True)))\\n"
code += "print('a 0 x', flush=True)\\ntime.sleep(60)"
from referee.runtime.processes import Child
child = Child("a", [sys.executable, "-c", code], dict(os.environ), Path("."), Path("unused"), output=made.output("a"))
child.start()
time.sleep(60)
"""
    supervisor = subprocess.Popen([sys.executable, "-c", script])
    log = tmp_path / "a.log"
    until(lambda: log.exists() and log.read_text() == "a 0 x\n", "the first words", 20)

    supervisor.kill()
    supervisor.wait()

    until(lambda: log.read_text() == "a 0 x\na 1 x\n", "the last words", 20)


def test_K28_a_log_that_cannot_be_written_stops_nobody_and_is_said_once(tmp_path: Path) -> None:
    made = ProcessLogs(tmp_path, ["a"], limit=LIMIT)
    (tmp_path / "a.log").symlink_to("/dev/full")
    said = tmp_path / "said"
    command = [sys.executable, "-m", "referee.runtime.log_writer", str(tmp_path), str(LIMIT)]
    reading = made._pipes["a"][0]
    with said.open("wb") as output:
        made._process = subprocess.Popen([*command, f"{reading}=a"], stderr=output, pass_fds=[reading])

    wait(writer(made, tmp_path, "a"))  # more than fits in the pipe
    made.settle()
    (tmp_path / "a.log").unlink()
    wait(writer(made, tmp_path, "a", 3))
    made.stop()

    told, *lines = (tmp_path / "a.log").read_text().splitlines()
    assert re.fullmatch(r'\{"event": "log_output_lost", "bytes": \d{5,}\}', told)
    assert lines == ["a 0 ", "a 1 x", "a 2 xx"]
    assert said.read_text().count("cannot be written (No space left on device); its lines are lost") == 1


def test_K28_a_file_that_cannot_be_rotated_does_not_grow(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "a.log", limit=100)
    obstacles = [tmp_path / name / "kept" for name in ("a.log.1", "a.log.2")]
    for obstacle in obstacles:
        obstacle.mkdir(parents=True)

    errors = [log.write(b"line %02d\n" % n) for n in range(40)]

    assert sum(error is not None for error in errors) == 1
    assert (tmp_path / "a.log").stat().st_size <= 108
    for obstacle in obstacles:
        obstacle.rmdir()
        obstacle.parent.rmdir()
    assert log.write(b"line 40\n") is None
    assert (tmp_path / "a.log").read_text().splitlines()[1] == "line 40"


def test_a_line_without_end_is_divided(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "a.log", limit=100)

    for _ in range(40):
        assert log.write(b"x" * 65_536) is None

    assert max(path.stat().st_size for path in files(tmp_path, "a")) <= (1 << 20) + 100 + 65_536
    assert len(files(tmp_path, "a")) == 3


@pytest.mark.parametrize(("size", "after"), [(9 << 20, 5), (10, 15)])
def test_a_long_log_of_before_is_put_aside(tmp_path: Path, size: int, after: int) -> None:
    (tmp_path / "a.log").write_bytes(b"x" * size)

    LogFile(tmp_path / "a.log", limit=8 << 20).write(b"line\n")

    assert (tmp_path / "a.log").stat().st_size == after


def lines_until(tail: "subprocess.Popen[bytes]", received: bytearray, last: bytes) -> None:
    """Read what is shown up to the line ``last``."""
    assert tail.stdout is not None
    ready = select.poll()
    ready.register(tail.stdout, select.POLLIN)
    while last not in received.split(b"\n"):
        assert ready.poll(PATIENCE_MS), f"{last!r} is not shown after {bytes(received[-200:])!r}"
        received += tail.stdout.read1(65_536)  # type: ignore[attr-defined]  # a pipe is read through a buffer


def test_tail_shows_every_line_of_a_log_that_rotates(tmp_path: Path) -> None:
    program = require("tail", "following a log")
    path, received = tmp_path / "api-1.log", bytearray()
    log = LogFile(path, limit=2_000)
    log.create()

    with subprocess.Popen(
        [program, "-n", "+1", "-F", str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as tail:
        try:
            for number in range(60):
                line = b"%d %s" % (number, b"x" * 200)
                assert log.write(line + b"\n") is None
                lines_until(tail, received, line)
        finally:
            tail.terminate()

    assert [int(line.split()[0]) for line in received.splitlines()] == list(range(60))
    assert path.with_name("api-1.log.2").exists()
