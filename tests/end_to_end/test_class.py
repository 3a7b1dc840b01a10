"""A class in one room as docs/class.md describes it: every command is run, on the teacher's machine or a student's.

The machines are network namespaces with a cable between them, which needs root or user namespaces.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.running import surroundings
from tests.end_to_end.readers import Reader, blocks
from tests.machine import require

PAGE = blocks("class.md")
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

REGISTER = """
import sys
from referee.cli import main
for place, url in enumerate(sys.argv[1:]):
    try:
        options = ["--name", f"Other {place}", "--secret-file", f"other-{place}", "--url", "http://10.20.0.1:8000"]
        main(["register", url, *options])
    except SystemExit as end:
        print("--- ended with", end.code, file=sys.stderr)
"""


@contextmanager
def namespace(inside: Reader | None, folder: Path) -> Iterator[tuple[Reader, int]]:
    """Create a machine; with ``inside``, in the user namespace of that one. Yield it with the process that holds it."""
    folder.mkdir()
    (ladders := folder / "ladders.toml").touch()  # no house bots play beside the class
    unshare = ("unshare", "--map-root-user") if inside is None else (*inside.within, "unshare")
    command = [*unshare, "--net", "sh", "-c", "echo ready; exec cat"]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    environment = surroundings(
        PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        XDG_CONFIG_HOME=str(folder / "config"),
        REFEREE_LADDERS=str(ladders),
    )
    enter = ("nsenter", "-t", str(holder.pid), "--user", "--net", "--preserve-credentials")
    machine = Reader(folder, environment, within=enter)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        yield machine, holder.pid
    finally:
        machine.stop()
        holder.kill()
        holder.wait()


@pytest.fixture
def room(tmp_path: Path) -> Iterator[tuple[Reader, Reader]]:
    """Yield the teacher's machine, 10.20.0.1, and that of the students, 10.20.0.7 and 10.20.0.8."""
    for tool in ("unshare", "nsenter", "ip", "bash"):
        require(tool, "a class in one room")
    probe = subprocess.run(["unshare", "--map-root-user", "--net", "true"], capture_output=True, text=True, check=False)
    if probe.returncode:
        pytest.skip(f"NOT RUN: a class in one room, which needs network namespaces ({probe.stderr.strip()})")
    with ExitStack() as stack:
        teacher, _ = stack.enter_context(namespace(None, tmp_path / "teacher"))
        students, pid = stack.enter_context(namespace(teacher, tmp_path / "students"))
        teacher.run(f"ip link add cable type veth peer name cable netns {pid}")
        for machine, addresses in ((teacher, ["10.20.0.1"]), (students, ["10.20.0.7", "10.20.0.8"])):
            machine.run("\n".join(["ip link set lo up", *(f"ip addr add {one}/24 dev cable" for one in addresses)]))
            machine.run("ip link set cable up")
        yield teacher, students


def be_a_student(teacher: Reader, students: Reader, name: str, changes: dict[str, str]) -> Reader:
    """Run the student's commands in a folder of their own, with the token from their card."""
    folder = students.folder / name
    folder.mkdir()
    rows = (line.split(",") for line in (teacher.folder / "tokens.csv").read_text().splitlines())
    (folder / "token.txt").write_text(next(row[3] for row in rows if row[0] == name))
    environment = {**students.environment, "XDG_CONFIG_HOME": str(folder / "config")}
    student = replace(students, folder=folder, environment=environment, changes=changes, running=[])
    for block in PAGE:
        if block.who == "student":
            student.follow(block)
    students.running += student.running
    return student


def test_A19_A20_a_class_plays_a_tournament_in_one_room(room: tuple[Reader, Reader]) -> None:
    teacher, students = room
    first_student = [block.who for block in PAGE].index("student")
    for block in PAGE[:first_student]:
        assert block.who == "teacher"
        teacher.follow(block)
    with ThreadPoolExecutor() as seats:
        ada, _ = seats.map(be_a_student, [teacher] * 2, [students] * 2, ["Ada", "Bob"], [{}, BOB])
    refused = _register_other_addresses(students, ada)
    said = [teacher.follow(block) for block in PAGE[first_student:] if block.who == "teacher"]

    assert "BOTS MAY HAVE PRIVATE ADDRESSES: 10.20.0.0/24:8000-8010" in teacher.said()
    assert students.said().count("certificate of") == 2, students.said()
    assert {"Ada bot", "Bob bot"} <= set(re.findall(r"\b(?:Ada|Bob) bot\b", said[-1])), said
    assert re.search(r"(?:Ada|Bob) bot +.*\d", said[-1]), said
    assert "is not a public address that may be called" in refused["http://10.20.0.1:8000"]
    assert "is not a public address that may be called" in refused["https://10.20.0.7:8011"]
    assert "not_proven" in refused["http://10.20.0.7:8005"]
    assert "PRINTER" not in refused["http://10.20.0.7:8005"]
    assert "403" not in refused["http://10.20.0.7:8005"]
    assert "unreachable" in refused["http://10.20.0.7:8006"]


def _register_other_addresses(students: Reader, ada: Reader) -> dict[str, str]:
    """Register addresses that are not bots, and return what the commands wrote."""
    students.start(shlex.join([sys.executable, "-c", PRINTER]), "listens")
    urls = ["http://10.20.0.1:8000", "https://10.20.0.7:8011", "http://10.20.0.7:8005", "http://10.20.0.7:8006"]
    *said, _ = ada.run(shlex.join([sys.executable, "-c", REGISTER, *urls]) + " 2>&1").split("--- ended with 1\n")
    return dict(zip(urls, said, strict=True))
