"""The exit statuses of the page on the command line, for the cases that it names."""

import json
import re
import signal
import socket
import threading
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from referee.cli import main
from referee.cli.plain_text import as_sentence
from referee.project_files import DOCS
from tests.cli.answering import Call, answering
from tests.cli.running import referee, says

ROW = re.compile(r"^\| (\d+) \| (.+) \| (.+) \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def nobody() -> Iterator[str]:
    """Yield a URL at which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, but not listening: connections are refused, and nobody else gets the port
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


def status_of(*arguments: str) -> int:
    return CliRunner().invoke(main, arguments).exit_code


def test_the_page_names_these_statuses() -> None:
    page = (DOCS / "command-line.md").read_text().partition("## Exit statuses")[2]

    assert [int(number) for number, _, _ in ROW.findall(page)] == [0, 1, 2, 3, 130]


def test_2_arguments_are_wrong(nobody: str) -> None:
    assert status_of("standings", "--month", "winter", "--url", nobody) == 2
    assert status_of("whoami", "--url", "ht!tp://") == referee("whoami", "--url", "ht!tp://").returncode == 2


def test_3_the_service_or_a_bot_is_not_reached(nobody: str) -> None:
    refused = f"{nobody} does not answer: Connection refused. Is it running, and is --url (or REFEREE_URL) right?"
    watch, api = ("watch", f"mat_{'0' * 26}"), ("api", "/accounts/me", "--token", "ref_x")
    for arguments in (watch, ("tournament", "list"), ("standings",), ("admin", "audit"), api):
        told = says({}, *arguments, "--json", "--url", nobody, status=3)
        assert json.loads(told.stdout)["error"]["code"] == "unreachable"
        assert told.stderr == f"Error: {refused}\n"
    assert status_of("check", nobody) == 3


def test_130_ctrl_c_ended_the_command() -> None:
    def interrupt(_: Call) -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    with answering(interrupt) as url:
        done = CliRunner().invoke(main, ["tournament", "list", "--url", url])

    assert (done.exit_code, done.output) == (130, "")


def test_errors_are_whole_sentences() -> None:
    assert as_sentence("unknown game 'x'") == "Unknown game 'x'."
    assert as_sentence("the service said no (again)") == "The service said no (again)."
    assert as_sentence("anna is not ready") == "anna is not ready."  # a name keeps its spelling
    assert as_sentence("use https://example.org/a") == "use https://example.org/a"
    assert as_sentence("Is it running?") == "Is it running?"
