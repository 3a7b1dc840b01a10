"""The help of all commands: whole sentences, and commands under headings."""

from collections.abc import Iterator
from inspect import cleandoc

import click
import pytest
from click.testing import CliRunner

from referee.cli import main


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command
        yield " ".join([*path, name]), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


COMMANDS = dict(commands(main))
GROUPS = {"": main} | {name: command for name, command in COMMANDS.items() if isinstance(command, click.Group)}


def is_sentence(text: str | None) -> bool:
    """Return whether the text begins with a capital and ends with a full stop, apart from a default behind it."""
    said = (text or "").partition(" [default: ")[0]
    return said[:1].isupper() and said.endswith(".")


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_and_options_are_explained_in_whole_sentences(name: str) -> None:
    command = COMMANDS[name]
    paragraphs = [one for one in cleandoc(command.help or "").split("\n\n") if not one.startswith("\b")]
    options = [one for one in command.params if isinstance(one, click.Option)]

    assert paragraphs
    assert [one for one in paragraphs if not is_sentence(one)] == []
    assert [one.opts for one in options if not is_sentence(one.help)] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_values_of_options_say_what_they_are(name: str) -> None:
    options = [one for one in COMMANDS[name].params if isinstance(one, click.Option) and not one.is_flag]
    context = click.Context(COMMANDS[name])

    named = {one.opts[0]: one.make_metavar(context) for one in options if not isinstance(one.type, click.Choice)}

    vague = ("INTEGER", "FLOAT", "FILENAME", "DIRECTORY")
    assert {option: shown for option, shown in named.items() if shown.startswith(vague)} == {}


@pytest.mark.parametrize("name", GROUPS)
def test_the_help_of_a_group_has_a_line_for_each_command(name: str) -> None:
    shown = CliRunner().invoke(main, [*name.split(), "--help"], terminal_width=120).output

    listed = [line.split()[0] for line in shown.splitlines() if line.startswith("  ") and line[2] not in " -"]
    assert [one for one in GROUPS[name].list_commands(click.Context(main)) if one not in listed] == []


def test_newcomers_are_shown_first_what_to_try_first() -> None:
    shown = CliRunner().invoke(main, ["--help"], terminal_width=120).output

    first, *_ = shown.partition("First steps:")[2].split("\n\n")
    assert [line.split()[0] for line in first.splitlines() if line] == ["new-bot", "play", "check"]
    assert shown.index("First steps:") < min(shown.index(one) for one in ("Use a service:", "Run a service:"))


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_no_line_of_help_is_wider_than_80_columns(name: str) -> None:
    shown = CliRunner().invoke(main, [*name.split(), "--help"], terminal_width=80).output

    assert [line for line in shown.splitlines() if len(line) > 80] == []
