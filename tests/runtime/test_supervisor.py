"""The start of a service: however slow it is, only a process that exits ends it, and a signal ends it cleanly."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from referee.runtime import embedded_redis, waiting
from referee.runtime.data_dir import DataDir
from referee.runtime.processes import Child
from referee.runtime.supervisor import StartFailed, Supervisor

# Answer requests once the file of the second argument exists, on the listening socket of the first.
SERVE = """
import pathlib, socket, sys, time
print("importing", flush=True)
while not pathlib.Path(sys.argv[2]).exists():
    time.sleep(0.01)
listener = socket.socket(fileno=int(sys.argv[1]))
while True:
    client, _ = listener.accept()
    client.recv(4096)
    client.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")
"""
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);"


class SlowClock:
    """Let a tenth of what the supervisor takes for a long wait pass each time that it looks."""

    now = 0.0

    def __call__(self) -> float:
        self.now += waiting.SAY_EVERY_S / 10
        return self.now


@dataclass(slots=True)
class ScriptedSupervisor(Supervisor):
    """Run one Python script as the whole service."""

    script: str = ""
    arguments: tuple[str, ...] = ()

    def _create_children(self) -> list[Child]:
        fd, logs = self.listener.fileno(), self.data_dir.log("api")
        command = [sys.executable, "-S", "-c", self.script, str(fd), *self.arguments]
        return [Child("api", command, self.environment, self.data_dir.path, logs, (fd,), self.logs.output("api"))]


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        yield listener


Create = Callable[..., ScriptedSupervisor]


@pytest.fixture
def create(tmp_path: Path, listener: socket.socket) -> Create:
    def create(script: str, *arguments: str, say: Callable[[str], None]) -> ScriptedSupervisor:
        return ScriptedSupervisor(
            DataDir(tmp_path),
            dict(os.environ),
            listener,
            workers=0,
            say=say,
            embedded_redis=False,
            seconds=SlowClock(),
            script=script,
            arguments=arguments,
        )

    return create


def write_old_log(folder: Path) -> None:
    log = DataDir(folder).log("api")
    log.write_text("of an earlier run\n")


def test_a_slow_start_is_waited_for_and_told_every_30_s(tmp_path: Path, create: Create) -> None:
    write_old_log(tmp_path)
    go, said = tmp_path / "go", []

    def say(text: str) -> None:
        said.append(text)
        if len(said) == 4:
            go.touch()

    supervisor = create(SERVE, str(go), say=say)
    supervisor.run(lambda: os.kill(os.getpid(), signal.SIGTERM))

    assert supervisor.is_ready
    process = supervisor.children[0]
    assert process.exits == 0
    assert [line.split(":")[0] for line in said[:4]] == [f"still waiting after {n} s" for n in (30, 60, 90, 120)]
    assert "api (process " in said[0]
    assert "no answer at /readyz yet" in said[0]
    assert said[3].endswith("logs/api.log: importing")
    assert not any("earlier run" in line for line in said)


def test_a_process_that_exits_ends_the_start_with_its_own_words(tmp_path: Path, create: Create) -> None:
    write_old_log(tmp_path)
    said: list[str] = []

    with pytest.raises(StartFailed) as failed:
        create("print('this is why'); raise SystemExit(3)", say=said.append).run(pytest.fail)

    text = str(failed.value)
    assert text.startswith("The service did not start: api exited 3 times.\n--- api (exited), end of ")
    assert text.endswith("logs/api.log\nthis is why")
    assert "earlier run" not in "\n".join([text, *said])


@pytest.mark.parametrize("signals", [1, 2])
def test_a_signal_during_the_start_ends_it_and_no_work_is_promised(create: Create, signals: int) -> None:
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        for _ in range(signals if text.endswith(": here") else 0):
            os.kill(os.getpid(), signal.SIGINT)

    prologue = STUBBORN if signals == 2 else ""
    supervisor = create(f"{prologue}print('here', flush=True);import time;time.sleep(600)", say=say)
    supervisor.run(pytest.fail)

    assert said[0].startswith("still waiting after 30 s: api")
    killed = [line for line in said if not line.startswith("still waiting")]
    assert killed == (["had to kill api before the service was ready"] if signals == 2 else [])
    assert supervisor.children[0].process is None
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("rotates", [True, False])
def test_the_end_of_a_log_is_that_of_the_process_also_after_a_rotation_or_truncation(
    tmp_path: Path, rotates: bool
) -> None:
    log = tmp_path / "api.log"
    log.write_text("old\n" * 100)
    child = Child("api", [sys.executable, "-S", "-c", "print('new')"], dict(os.environ), tmp_path, log)

    child.start()
    assert child.process is not None
    child.process.wait()

    assert child.tail() == "new"
    if rotates:
        log.rename(tmp_path / "api.log.1")
    log.write_text("newer\n")
    assert child.tail() == "newer"


def test_a_redis_by_url_that_is_loading_its_data_is_there(listener: socket.socket) -> None:
    def answer() -> None:
        client, _ = listener.accept()
        with client:
            while client.recv(4096):
                client.sendall(b"-LOADING Redis is loading the dataset in memory\r\n")

    threading.Thread(target=answer, daemon=True).start()

    embedded_redis.check(f"redis://127.0.0.1:{listener.getsockname()[1]}/0")
