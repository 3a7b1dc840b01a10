"""The help of all commands: whole sentences, and commands under headings."""

import re
import subprocess
import sys
from collections.abc import Iterator
from inspect import cleandoc

import click
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
OUTSIDE = {f"referee{name}" for name in ("", ".errors", ".events", ".plugs", ".version")}  # what every command imports
OF_EXTRAS = {f"referee_extras.{part}" for name in EXTRAS for part in (name, f"{name}.acts", f"{name}.commands")}
GROUPS = {"": main} | {name: command for name, command in COMMANDS.items() if isinstance(command, click.Group)}


def is_sentence(text: str | None) -> bool:
    """Return whether the text begins with a capital and ends with a full stop, apart from a default behind it."""
    said = (text or "").partition(" [default: ")[0]
    return said[:1].isupper() and said.endswith(".")


def shown(name: str, width: int = 120) -> list[str]:
    """Return the lines of the help of a command."""
    return CliRunner().invoke(main, [*name.split(), "--help"], terminal_width=width).output.splitlines()


def test_commands_and_options_are_explained_in_whole_sentences_on_narrow_lines() -> None:
    for name, command in COMMANDS.items():
        check_help(name, command)


def check_help(name: str, command: click.Command) -> None:
    paragraphs = [one for one in cleandoc(command.help or "").split("\n\n") if not one.startswith("\b")]
    options = [one for one in command.params if isinstance(one, click.Option)]
    with_values = [one for one in options if not one.is_flag and not isinstance(one.type, click.Choice)]
    values = {one.opts[0]: one.make_metavar(click.Context(command)) for one in with_values}

    assert paragraphs, name
    assert [one for one in paragraphs if not is_sentence(one)] == []
    assert [one.opts for one in options if not is_sentence(one.help)] == []
    vague = ("INTEGER", "FLOAT", "FILENAME", "DIRECTORY")
    assert {option: value for option, value in values.items() if value.startswith(vague)} == {}
    assert [line for line in shown(name, 80) if len(line) > 80] == []
    if name.startswith("tournament "):
        assert any(f"  referee {name} " in line for line in shown(name)), name  # an example


def test_the_help_of_a_group_has_a_line_with_the_first_paragraph_of_the_help_of_each_command() -> None:
    for name, group in GROUPS.items():
        assert isinstance(group, LazyGroup)
        summaries = {command: summary for members in group.summaries().values() for command, summary in members.items()}

        own = {command: COMMANDS[f"{name} {command}".lstrip()].help or "" for command in summaries}
        listed = [line.split()[0] for line in shown(name) if line.startswith("  ") and line[2] not in " -"]

        assert {command: " ".join(text.partition("\n\n")[0].split()) for command, text in own.items()} == summaries
        assert [one for one in summaries if one not in listed] == []


def test_newcomers_are_shown_first_what_to_try_first() -> None:
    lines = shown("")
    first = lines.index("First steps:")

    assert [line.split()[0] for line in lines[first + 1 : lines.index("", first)]] == ["new-bot", "play", "check"]
    assert first < min(lines.index(one) for one in ("Use a service:", "Run a service:"))
    assert not any(len(line) > 80 for line in shown("", 80))


def test_the_help_of_groups_imports_no_module_of_a_command() -> None:
    program = "import sys; from referee.cli import main\n"
    program += "for name in sys.argv[1:]: main([*name.split(), '--help'], standalone_mode=False)\n"
    program += "print(*sorted(name for name in sys.modules if name.startswith('referee')), file=sys.stderr)"

    done = subprocess.run([sys.executable, "-c", program, *GROUPS], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    light = ("main", "lazy_group", "former_commands", "groups", "plain_text", "tournament")
    allowed = {*OUTSIDE, "referee_extras", *OF_EXTRAS, "referee.cli", *(f"referee.cli.{module}" for module in light)}
    assert {*done.stderr.split()} <= allowed


def test_there_are_at_most_60_commands_and_operators_have_theirs_below_admin() -> None:
    leaves = {*COMMANDS} - {*GROUPS}
    run_a_service = main.summaries()["Run a service"] if isinstance(main, LazyGroup) else {}

    assert len(leaves) <= 60
    assert {*run_a_service} | {"demo"} == {"up", "admin", "demo"}  # the demonstration is an extra


def test_the_name_of_a_former_command_says_what_to_use() -> None:
    for name, sentence in FORMER.items():
        refused = CliRunner().invoke(main, [*name.split(), "anything", "--else"])

        assert name not in COMMANDS
        assert refused.exit_code == 2
        assert sentence in refused.stderr
        named = re.findall(r"`referee ([a-z]+(?: [a-z]+)?)", sentence)
        assert all(command in COMMANDS for command in named if command.split()[0] not in ("api", "admin"))
