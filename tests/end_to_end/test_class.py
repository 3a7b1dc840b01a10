"""A class in one room as docs/class.md describes it: every command is run, on the teacher's machine or a student's.

The machines are network namespaces with a cable between them, which needs root or user namespaces.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cli.running import PATIENCE_S, surroundings
from tests.machine import require

PAGE = (Path(__file__).parents[2] / "docs" / "class.md").read_text()
MARKED = re.compile(
    r"<!-- (?P<who>teacher|student)(?:: start until \"(?P<until>[^\"]+)\")? -->\n```sh\n(?P<text>.*?)```", re.S
)
LONGEST_S = PATIENCE_S * 4
BOB = {"Ada bot": "Bob bot", "10.20.0.7:8000": "10.20.0.8:8001"}
PRINTER = """
import socket, sys
with socket.create_server(("10.20.0.7", 8005)) as listener:
    print("listens", flush=True)
    while True:
        calls, _ = listener.accept()
        with calls:
            calls.recv(100_000)
            calls.sendall(b"HTTP/1.1 403 Forbidden\\r\\nServer: PRINTER\\r\\nContent-Length: 7\\r\\n\\r\\nPRINTER")
"""


@dataclass
class Machine:
    """A network namespace, with a folder and an environment."""

    holder: subprocess.Popen[bytes]
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    running: list[tuple["subprocess.Popen[bytes]", Path]] = field(default_factory=list)

    def inside(self, *command: str) -> list[str]:
        """Return the command that runs another one in this namespace."""
        return ["nsenter", "-t", str(self.holder.pid), "--user", "--net", "--preserve-credentials", *command]

    def run(self, text: str, status: int = 0) -> str:
        """Run the lines, keep what they export for the next, and return what they wrote."""
        done = subprocess.run(
            self.inside("bash", "-ec", f"{text}\nenv -0 > .exported"),
            cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=LONGEST_S, check=False,
        )  # fmt: skip
        assert done.returncode == status, f"{text}\n{done.stdout}\n{done.stderr}"
        if not status:
            exported = (self.folder / ".exported").read_text().split("\0")
            self.environment |= dict(one.split("=", 1) for one in exported if one.startswith("REFEREE_"))
        return done.stdout + done.stderr

    def start(self, text: str, until: str) -> None:
        """Leave the command running, as soon as it has written this."""
        log = self.folder / f"terminal-{len(self.running)}.txt"
        with log.open("wb") as out:
            process = subprocess.Popen(
                self.inside("bash", "-c", f"exec env {text}"),
                cwd=self.folder, env=self.environment, stdout=out, stderr=out, start_new_session=True,
            )  # fmt: skip
        self.running.append((process, log))
        end = time.monotonic() + LONGEST_S
        while until not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)

    def said(self) -> str:
        return "\n".join(log.read_text() for _, log in self.running)

    def stop(self) -> None:
        for process, _ in reversed(self.running):
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)
        self.holder.kill()
        self.holder.wait()


@contextmanager
def namespace(inside: Machine | None, folder: Path) -> Iterator[Machine]:
    """Create a network namespace; with ``inside``, in the user namespace of that machine."""
    folder.mkdir()
    command = ["unshare", "--map-root-user", "--net"] if inside is None else inside.inside("unshare", "--net")
    holder = subprocess.Popen(
        [*command, "sh", "-c", "echo ready; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    machine = Machine(holder, folder, surroundings(PATH=path, XDG_CONFIG_HOME=str(folder / "config")))
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        yield machine
    finally:
        machine.stop()


@pytest.fixture
def room(tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    """Yield the teacher's machine, 10.20.0.1, and that of the students, 10.20.0.7 and 10.20.0.8."""
    for tool in ("unshare", "nsenter", "ip", "bash"):
        require(tool, "a class in one room")
    probe = subprocess.run(["unshare", "--map-root-user", "--net", "true"], capture_output=True, text=True, check=False)
    if probe.returncode:
        pytest.skip(f"NOT RUN: a class in one room, which needs network namespaces ({probe.stderr.strip()})")
    with ExitStack() as stack:
        teacher = stack.enter_context(namespace(None, tmp_path / "teacher"))
        students = stack.enter_context(namespace(teacher, tmp_path / "students"))
        teacher.run(f"ip link add cable type veth peer name cable netns {students.holder.pid}")
        for machine, addresses in ((teacher, ["10.20.0.1"]), (students, ["10.20.0.7", "10.20.0.8"])):
            machine.run("\n".join(["ip link set lo up", *(f"ip addr add {one}/24 dev cable" for one in addresses)]))
            machine.run("ip link set cable up")
        yield teacher, students


def blocks() -> list[tuple[str, str, str]]:
    """Return who runs it, until what, and the text, of each block of commands."""
    return [(found["who"], found["until"] or "", found["text"].strip()) for found in MARKED.finditer(PAGE)]


def card(teacher: Machine, name: str) -> str:
    """Return the token of a student."""
    rows = (line.split(",") for line in (teacher.folder / "tokens.csv").read_text().splitlines())
    return next(row[3] for row in rows if row[0] == name)


def be_a_student(teacher: Machine, students: Machine, name: str, changes: dict[str, str]) -> None:
    """Run the student's commands in a folder of their own."""
    folder = students.folder / name
    folder.mkdir()
    (folder / "token.txt").write_text(card(teacher, name))
    student = Machine(students.holder, folder, {**students.environment, "XDG_CONFIG_HOME": str(folder / "config")})
    for who, until, text in blocks():
        for shown, other in changes.items():
            text = text.replace(shown, other)
        if who == "student" and until:
            student.start(text, until)
        elif who == "student":
            student.run(text)
    students.running += student.running


def test_A19_A20_a_class_plays_a_tournament_in_one_room(room: tuple[Machine, Machine]) -> None:
    teacher, students = room
    first_student = next(place for place, (who, _, _) in enumerate(blocks()) if who == "student")
    for who, until, text in blocks()[:first_student]:
        assert who == "teacher"
        teacher.start(text, until) if until else teacher.run(text)
    with ThreadPoolExecutor() as seats:
        [*seats.map(be_a_student, [teacher] * 2, [students] * 2, ["Ada", "Bob"], [{}, BOB])]
    refused = _register_other_addresses(students)
    last = ""
    for who, _, text in blocks()[first_student:]:
        if who == "teacher":
            last = teacher.run(text)

    assert "BOTS MAY HAVE PRIVATE ADDRESSES: 10.20.0.0/24:8000-8010" in teacher.said()
    assert students.said().count("certificate of") == 2, students.said()
    assert {"Ada bot", "Bob bot"} <= set(re.findall(r"\b(?:Ada|Bob) bot\b", last)), last
    assert re.search(r"(?:Ada|Bob) bot +.*\d", last), last
    assert "is not a public address that may be called" in refused["http://10.20.0.1:8000"]
    assert "is not a public address that may be called" in refused["https://10.20.0.7:8011"]
    assert "not_proven" in refused["http://10.20.0.7:8005"]
    assert "PRINTER" not in refused["http://10.20.0.7:8005"]
    assert "403" not in refused["http://10.20.0.7:8005"]
    assert "unreachable" in refused["http://10.20.0.7:8006"]


def _register_other_addresses(students: Machine) -> dict[str, str]:
    """Register addresses that are not bots, as Ada, and return what the commands wrote."""
    students.start(shlex.join([sys.executable, "-c", PRINTER]), "listens")
    ada = Machine(students.holder, students.folder / "Ada", dict(students.environment))
    ada.environment["XDG_CONFIG_HOME"] = str(ada.folder / "config")
    urls = ["http://10.20.0.1:8000", "https://10.20.0.7:8011", "http://10.20.0.7:8005", "http://10.20.0.7:8006"]

    def register(place: int, url: str) -> str:
        command = f'referee register {url} --name "Other {place}" --secret-file other-{place}'
        return ada.run(f"{command} --url http://10.20.0.1:8000", status=1)

    with ThreadPoolExecutor() as terminals:
        return dict(zip(urls, terminals.map(register, range(len(urls)), urls), strict=True))


def test_every_command_of_the_page_is_run() -> None:
    assert len(re.findall(r"^```sh$", PAGE, re.M)) == len(blocks())
