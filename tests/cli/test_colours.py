"""Colours of the terminal: on a terminal alone, and none where NO_COLOR is set."""

import re

from click.testing import CliRunner

from referee.cli import main
from tests.cli.test_login import type_at_terminal

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
COLOURED = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-7]|38;[0-9;]+|9[0-7])(?:;[0-9;]*)?m")
SHOWN = ("rules", "pool-nap")


def on_a_terminal(*arguments: str, **changes: str) -> str:
    """Return what the command prints on a terminal of its own."""
    environment = {"TERM": "xterm-256color", "COLUMNS": "80", "NO_COLOR": ""} | changes
    return type_at_terminal([*arguments], [], **environment).decode()


def test_a_terminal_is_coloured_unless_no_color_is_set() -> None:
    assert COLOURED.search(on_a_terminal(*SHOWN))
    assert not COLOURED.search(on_a_terminal(*SHOWN, NO_COLOR="1"))


def test_no_line_on_a_terminal_is_wider_than_it() -> None:
    lines = COLOUR.sub("", on_a_terminal("games")).splitlines()

    assert [line for line in lines if len(line) > 80] == []


def test_where_there_is_no_terminal_there_are_no_colours() -> None:
    for arguments in (SHOWN, ("games",), ("--help",)):
        assert "\x1b" not in CliRunner().invoke(main, [*arguments]).output
