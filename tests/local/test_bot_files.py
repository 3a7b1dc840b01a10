"""Bots given as files: started for the time of the matches, told their port and secret, ended with them."""

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from multiprocessing import get_context
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from referee.cli import hosting, main
from referee.local import bot_files, matches
from referee.match.log import parse_row
from referee.runtime.output_tail import MAX_BYTES, OutputTail
from tests.cli.running import PATIENCE_S

STARTER = Path(__file__).parents[2] / "bots" / "python" / "bot.py"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run commands in a folder of the test, so that what they write does not end up in the project."""
    monkeypatch.chdir(tmp_path)


def play(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["play", "saint-poker", *arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a starter bot."""
    made = tmp_path / "mybot"
    made.mkdir()
    shutil.copy(STARTER, made)
    return made


def test_a_file_is_started_once_asked_with_signatures_and_stopped(folder: Path, tmp_path: Path) -> None:
    namesake = tmp_path / "other" / "mybot"
    shutil.copytree(folder, namesake)
    entrants = matches.parse_entrants([str(folder / "bot.py"), "house:first", str(folder), str(namesake)])

    with bot_files.run_bots(entrants, ()) as running:
        port, other_port = (process.port for process in running.processes)
        one, house, same, other = running.entrants
        assert one.address == same.address == f"http://127.0.0.1:{port}"
        assert other.address == f"http://127.0.0.1:{other_port}"
        assert port != other_port
        assert house.address == "house:first"
        assert len({entrant.name for entrant in running.entrants}) == 4
        assert len(running.secrets) == 1

    assert not bot_files.is_open(port)
    assert running.processes[0].process.returncode is not None


def test_a_slow_start_is_reported_once_and_then_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot listens only after the sentence about the wait."""
    monkeypatch.setattr(bot_files, "SLOW_START_S", 0.0)
    program, told = folder / "bot.py", folder / "told"
    wait = f"import time\nwhile not pathlib.Path({str(told)!r}).exists(): time.sleep(0.01)\nBESIDE"
    program.write_text(program.read_text().replace("BESIDE", wait, 1))
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        told.touch()

    with bot_files.run_bots(matches.parse_entrants([str(folder)]), (), say) as running:
        assert running.processes[0].listens()

    assert len(said) == 1
    assert f"waiting for {program} to listen on port {running.processes[0].port}" in said[0]


def test_what_a_hosted_bot_writes_is_copied_and_kept(folder: Path, tmp_path: Path) -> None:
    with (
        (tmp_path / "copy").open("wb") as copy,
        bot_files.reserve_port(0) as port,
        bot_files.host_bot(folder / "bot.py", port, copy_to=copy.fileno()) as bot,
    ):
        patience_ends = time.monotonic() + PATIENCE_S
        while "plays at" not in bot.tail():  # a bot listens before it prints
            assert time.monotonic() < patience_ends
            time.sleep(0.01)

    assert (tmp_path / "copy").read_text().startswith("starter plays at http://127.0.0.1:")


def test_a_bot_listens_where_it_is_said_and_otherwise_on_this_machine_whatever_HOST_says(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOST", "127.0.0.2")

    with bot_files.run_bots(matches.parse_entrants([str(folder)]), ()) as running:
        assert bot_files.is_open(running.processes[0].port)
    with bot_files.reserve_port(0) as port, bot_files.host_bot(folder / "bot.py", port, host="0.0.0.0") as bot:
        socket.create_connection(("127.0.0.2", bot.port), PATIENCE_S).close()


def test_a_program_gets_the_port_of_an_address_of_this_machine(folder: Path) -> None:
    program = hosting.Program.find(folder, None, None)
    own, other = ("http://127.0.0.1:8123", "http://localhost:8123"), "http://198.51.100.77:8123"  # of another machine

    for address in (None, *own, other, "https://bots.example.org:8123"):
        assert hosting.choose_host(address) == "127.0.0.1"
        ports = (8123,) if address in own else (hosting.DEFAULT_PORT, hosting.FREE_PORT)
        assert program.choose_ports(address) == ports, address


def test_a_program_that_changes_is_noticed_until_it_has_a_new_version(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(version: str, text: str) -> str:
        (folder / "bot.py").write_text(text)
        hosting.Program.find(folder, None, None).compare_with_checked(version)
        return capsys.readouterr().err

    told = [run("1", "as checked"), run("1", "mended"), run("1", "mended again"), run("1", "as checked")]
    later = [run("2 b", "mended"), run("2 b", "mended"), run("2 b", "as checked")]

    assert ["changed since version 1 was checked" in text for text in told] == [False, True, True, False]
    assert ["changed since version 2 b was checked" in text for text in later] == [False, False, True]


def test_a_program_that_ends_ends_the_command_that_hosts_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = folder / "bot.py"
    program.write_text(
        program.read_text().replace("def do_GET(self):", "def do_PUT(self): os._exit(7)\n    def do_GET(self):")
    )

    with bot_files.reserve_port(0) as port, bot_files.host_bot(program, port) as running:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)) as caller:
            caller.sendall(b"PUT / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert hosting.keep_running(running, "Mortal", running.url) == 3

    assert "exited with status 7" in capsys.readouterr().err


SLOW_TO_LISTEN = """
import os, time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

print("PRINTED", flush=True)
while not Path(__file__).with_name("may listen").exists():
    time.sleep(0.01)
HTTPServer(("127.0.0.1", int(os.environ["PORT"])), BaseHTTPRequestHandler).serve_forever()
"""


def test_two_commands_give_their_bots_different_ports_though_none_listens_yet() -> None:
    with bot_files.reserve_port(0) as default:
        pass

    with bot_files.reserve_port(default, 0) as first, bot_files.reserve_port(default, 0) as second:
        assert first == default
        assert second not in (0, first)
        with pytest.raises(bot_files.BotNotStarted, match=f"Port {default} is taken"), bot_files.reserve_port(default):
            pass
    with bot_files.reserve_port(default, 0) as again:
        assert again == default


def test_the_port_of_another_bot_is_not_taken_for_that_of_a_bot_that_prints_it(tmp_path: Path) -> None:
    """The bot listens only after the command has called the other one, at the URL that both print."""
    with (
        bot_files.reserve_port(0) as theirs,
        socket.create_server(("127.0.0.1", theirs)) as other,
        bot_files.reserve_port(0) as port,
    ):
        bot = tmp_path / "bot.py"
        bot.write_text(SLOW_TO_LISTEN.replace("PRINTED", f"http://127.0.0.1:{theirs}"))

        def let_listen() -> None:
            other.accept()
            bot.with_name("may listen").touch()

        called = threading.Thread(target=let_listen)
        called.start()
        with bot_files.host_bot(bot, port) as running:
            assert running.port == port
        called.join(PATIENCE_S)


@pytest.mark.parametrize("kind", ["dangling link", "link", "socket"])
def test_a_port_whose_lock_file_cannot_be_opened_is_used_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    with bot_files.reserve_port(0) as port:
        pass
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    lock, elsewhere = tmp_path / f"referee-port-{port}.lock", tmp_path / "elsewhere"
    if kind == "socket":
        listener = socket.socket(socket.AF_UNIX)
        monkeypatch.chdir(tmp_path)  # a path of a socket is short
        listener.bind(lock.name)
        listener.close()
    else:
        lock.symlink_to(elsewhere)
    with ExitStack() as stack:
        if kind == "link":
            file = stack.enter_context(elsewhere.open("w"))
            fcntl.flock(file, fcntl.LOCK_EX)  # which is not the lock of the port

        assert stack.enter_context(bot_files.reserve_port(port)) == port
        assert not bot_files._is_reserved(port)
    assert elsewhere.exists() == (kind == "link")


def test_play_takes_a_file_beside_house_players_and_the_seed_still_decides(folder: Path) -> None:
    played = play(str(folder), "house:3", "--seed", "5", "--narrate")
    again = play(str(folder), "house:3", "--seed", "5", "--log", "again.ndjson")

    assert (played.exit_code, again.exit_code) == (0, 0), played.output
    assert "mybot  " in played.output
    assert "Result\n  1. " in played.output
    assert played.output.endswith("log: replay.ndjson\npage: replay.html\n")
    logs = [Path(name).read_bytes().splitlines() for name in ("replay.ndjson", "again.ndjson")]
    rows, same = ([parse_row(line) for line in log] for log in logs)
    assert rows[-2]["faults"] == [0, 0]
    assert rows[0]["players"] == same[0]["players"]


PORT = 'int((sys.argv[1:] or [os.environ.get("PORT", 9000)])[0])'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("own.py", STARTER.read_text().replace(PORT, "0")),  # listens elsewhere, and prints where
        ("program", f'#!/bin/sh\nexec {sys.executable} {STARTER} "$1"\n'),
    ],
)
def test_a_bot_may_choose_its_port_and_be_any_program(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / name).chmod(0o755)

    assert json.loads(play(name, "house:first", "--json").output)["faults"] == [0, 0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import sys; sys.exit('no licence')", "bot.py exited with status 1 before it listened. It wrote:\nno licence"),
        ("1 +", "SyntaxError"),
        (r"import sys; sys.exit('\x1b]0;mine\x07 \x1b[2J no licence')", "\N{REPLACEMENT CHARACTER}[2J no licence"),
        ("import os, sys; sys.exit(' '.join(sorted(os.environ)))", "REFEREE_BOT_SECRET"),
    ],
)
def test_a_bot_that_does_not_come_up_is_told_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    """It learns its own secret and nothing of ours."""
    monkeypatch.setenv("REFEREE_TOKEN", "ref_ours")
    monkeypatch.setenv("DATABASE_URL", "postgresql://ours")
    (tmp_path / "bot.py").write_text(text)

    played = play(str(tmp_path / "bot.py"), "house:first")

    assert played.exit_code == 1
    assert said in played.output
    assert not any(hidden in played.output for hidden in ("\x1b", "REFEREE_TOKEN", "DATABASE_URL"))


def test_a_bot_that_has_ended_is_not_looked_for_at_anothers_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ended = subprocess.Popen(
            [sys.executable, "-S", "-c", f"print('http://127.0.0.1:{port}')"], stdout=subprocess.PIPE
        )
        assert ended.wait(PATIENCE_S) == 0
        assert ended.stdout is not None
        bot = bot_files.BotProcess(Path("bot.py"), port, ended, OutputTail(ended.stdout))
        bot.output.follow()

        with pytest.raises(bot_files.BotNotStarted, match="exited with status 0 before it listened"):
            bot_files._wait_until_listening(bot, print)
        bot.output.end(PATIENCE_S)


def test_check_runs_a_file_with_a_secret_of_its_own(folder: Path) -> None:
    checked = CliRunner().invoke(main, ["check", str(folder), "--questions", "10", "--game", "pool-nap", "--json"])

    report = json.loads(checked.output)
    assert (checked.exit_code, report["verdict"], report["signed"]) == (0, "pass", True)


def test_check_refuses_what_is_no_bot() -> None:
    for given in ("house:3", "absent.py", "ftp://example.org"):
        assert CliRunner().invoke(main, ["check", given]).exit_code == 2, given


def play_and_heed(word: signal.Signals, bot: str) -> None:
    """Play, with the default action of a signal, which the tests may have been told to ignore (``nohup``)."""
    signal.signal(word, signal.default_int_handler if word == signal.SIGINT else signal.SIG_DFL)
    play(bot, "house:first")


@pytest.mark.parametrize("word", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_no_word_to_stop_leaves_behind_what_a_bot_has_started(tmp_path: Path, word: signal.Signals) -> None:
    bot, known = tmp_path / "bot with\nblanks é", tmp_path / "pid"
    bot.write_text("#!/bin/sh\ntrap '' TERM\nsleep 600 &\necho $! > made\nmv made pid\nwait\n")
    bot.chmod(0o755)
    playing = get_context("fork").Process(target=play_and_heed, args=(word, str(bot)))
    playing.start()
    awaited(known.exists)
    child = int(known.read_text())

    for _ in range(2):  # an impatient one
        os.kill(playing.pid or 0, word)
    playing.join(PATIENCE_S)

    awaited(lambda: not Path(f"/proc/{child}").exists())


def awaited(done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_bot_that_writes_without_end_plays_and_takes_no_room(folder: Path) -> None:
    text = STARTER.read_text().replace(
        "def decided(question):", "def decided(question):\n    print('x' * 1_000_000, end='')\n    print('the last')"
    )
    (folder / "bot.py").write_text(text)
    entrants = matches.parse_entrants([str(folder / "bot.py")])

    played = play(str(folder), "house:first", "--json")
    with bot_files.run_bots(entrants, ()) as running:
        written = running.processes[0].output

    assert json.loads(played.output)["faults"] == [0, 0]
    assert len(written.head) <= MAX_BYTES


def test_a_program_that_is_missing_or_cannot_be_run_is_told_why(tmp_path: Path) -> None:
    for name, content, mode, said in (
        ("program", b"#!/bin/sh\r\n", 0o755, "ends with a carriage return."),
        ("program", b"echo no first line\n", 0o755, "like #!/bin/sh."),
        ("notes.txt", b"nothing", 0o644, "is not executable (chmod +x)"),
    ):
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(mode)
        assert said in play(name, "house:first").output
    missing = play("absent.py", "house:first")
    assert (missing.exit_code, "its file (no such file exists)" in " ".join(missing.output.split())) == (2, True)
