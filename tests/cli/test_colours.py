"""Colours of the terminal: on a terminal alone, and none where NO_COLOR is set."""

import io
import re
import sys

import pytest
from click.testing import CliRunner

from referee.cli import main

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
COLOURED = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-7]|38;[0-9;]+|9[0-7])(?:;[0-9;]*)?m")
SHOWN = ("rules", "pool-nap")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, *arguments: str, no_color: str = "") -> str:
    """Return what the command prints on a terminal of 80 columns."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    for name, value in {"TERM": "xterm-256color", "COLUMNS": "80", "NO_COLOR": no_color}.items():
        monkeypatch.setenv(name, value)
    main([*arguments], standalone_mode=False)
    return terminal.getvalue()


def test_a_terminal_is_coloured_unless_no_color_is_set_and_no_line_is_wider(monkeypatch: pytest.MonkeyPatch) -> None:
    assert COLOURED.search(on_a_terminal(monkeypatch, *SHOWN))
    assert not COLOURED.search(on_a_terminal(monkeypatch, *SHOWN, no_color="1"))
    lines = COLOUR.sub("", on_a_terminal(monkeypatch, "games")).splitlines()
    assert [line for line in lines if len(line) > 80] == []


def test_where_there_is_no_terminal_there_are_no_colours() -> None:
    for arguments in (SHOWN, ("games",), ("--help",)):
        assert "\x1b" not in CliRunner().invoke(main, [*arguments]).output
