"""The help of all commands: whole sentences, and commands under headings."""

import re
import subprocess
import sys
from collections.abc import Iterator
from inspect import cleandoc

import click
import pytest
from click.testing import CliRunner

from referee.cli import main
from referee.cli.former_commands import FORMER
from referee.cli.lazy_group import LazyGroup
from referee_extras import EXTRAS


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command
        yield " ".join([*path, name]), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


COMMANDS = dict(commands(main))
OUTSIDE = {
    "referee",
    "referee.errors",
    "referee.events",
    "referee.plugs",
    "referee.version",
}  # what every command imports
OF_EXTRAS = {f"referee_extras.{part}" for name in EXTRAS for part in (name, f"{name}.acts", f"{name}.commands")}
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


@pytest.mark.parametrize("name", GROUPS)
def test_the_summary_of_a_command_is_the_first_paragraph_of_its_help(name: str) -> None:
    group = GROUPS[name]
    assert isinstance(group, LazyGroup)
    summaries = {command: summary for members in group.summaries().values() for command, summary in members.items()}

    own = {command: COMMANDS[f"{name} {command}".lstrip()].help or "" for command in summaries}

    assert {command: " ".join(text.partition("\n\n")[0].split()) for command, text in own.items()} == summaries


@pytest.mark.parametrize("name", GROUPS)
def test_the_help_of_a_group_imports_no_module_of_a_command(name: str) -> None:
    program = "import sys; from referee.cli import main; main(sys.argv[1:], standalone_mode=False)"
    program += "; print(*sorted(name for name in sys.modules if name.startswith('referee')), file=sys.stderr)"

    done = subprocess.run([sys.executable, "-c", program, *name.split(), "--help"], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    light = ("main", "lazy_group", "former_commands", "groups", "plain_text", "tournament")
    allowed = {*OUTSIDE, "referee_extras", *OF_EXTRAS, "referee.cli", *(f"referee.cli.{module}" for module in light)}
    assert {*done.stderr.split()} <= allowed


def test_there_are_at_most_60_commands_and_operators_have_theirs_below_admin() -> None:
    leaves = {*COMMANDS} - {*GROUPS}
    run_a_service = main.summaries()["Run a service"] if isinstance(main, LazyGroup) else {}

    assert len(leaves) <= 60
    assert {*run_a_service} == {"up", "admin", "demo"}


@pytest.mark.parametrize("name", FORMER)
def test_the_name_of_a_former_command_says_what_to_use(name: str) -> None:
    refused = CliRunner().invoke(main, [*name.split(), "anything", "--else"])

    assert name not in COMMANDS
    assert refused.exit_code == 2
    assert FORMER[name] in refused.stderr
    assert is_sentence(FORMER[name])
    named = re.findall(r"`referee ([a-z]+(?: [a-z]+)?)", FORMER[name])
    assert {command for command in named if command not in COMMANDS and command.split()[0] not in ("api",)} == set()
