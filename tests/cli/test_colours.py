"""Colours of the terminal: on a terminal alone, and none where NO_COLOR is set."""

import os
import pty
import re
import select
import subprocess
import sys

from click.testing import CliRunner

from referee.cli import main
from tests.cli.running import PATIENCE_S, surroundings

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
COLOURED = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-7]|38;[0-9;]+|9[0-7])(?:;[0-9;]*)?m")
SHOWN = ("rules", "pool-nap")


def on_a_terminal(*arguments: str, **changes: str) -> str:
    """Return what the command prints on a terminal of its own."""
    ours, theirs = pty.openpty()
    environment = surroundings(TERM="xterm-256color", COLUMNS="80", **changes)
    environment = {name: value for name, value in environment.items() if name != "NO_COLOR" or name in changes}
    process = subprocess.Popen(
        [sys.executable, "-m", "referee", *arguments], stdout=theirs, stderr=theirs, stdin=theirs, env=environment
    )
    os.close(theirs)
    parts = []
    try:
        while select.select([ours], [], [], PATIENCE_S)[0]:
            parts.append(os.read(ours, 65_536))
            if not parts[-1]:
                break
    except OSError:  # Linux reports the end of a terminal as an error
        pass
    finally:
        os.close(ours)
    assert process.wait(PATIENCE_S) == 0
    return b"".join(parts).decode()


def test_a_terminal_is_coloured_unless_no_color_is_set() -> None:
    assert COLOURED.search(on_a_terminal(*SHOWN))
    assert not COLOURED.search(on_a_terminal(*SHOWN, NO_COLOR="1"))


def test_no_line_on_a_terminal_is_wider_than_it() -> None:
    lines = COLOUR.sub("", on_a_terminal("games")).splitlines()

    assert [line for line in lines if len(line) > 80] == []


def test_where_there_is_no_terminal_there_are_no_colours() -> None:
    for arguments in (SHOWN, ("games",), ("--help",)):
        assert "\x1b" not in CliRunner().invoke(main, [*arguments]).output
