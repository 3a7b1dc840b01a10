"""`tail -F`, as the operators' page recommends it, shows every line of a log that rotates."""

import select
import subprocess
from pathlib import Path

from referee.runtime.log_writer import LogFile
from tests.machine import require

LIMIT = 2_000
LINES = 60  # ten in a file
PATIENCE_MS = 20_000


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
    log = LogFile(path, limit=LIMIT)
    log.create()

    with subprocess.Popen(
        [program, "-n", "+1", "-F", str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as tail:
        try:
            for number in range(LINES):
                line = b"%d %s" % (number, b"x" * 200)
                assert log.write(line + b"\n") is None
                lines_until(tail, received, line)
        finally:
            tail.terminate()

    assert [int(line.split()[0]) for line in received.splitlines()] == list(range(LINES))
    assert path.with_name("api-1.log.2").exists()
