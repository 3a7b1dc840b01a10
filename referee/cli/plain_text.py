"""Make text from bots and services safe to print on a terminal."""

import re
import shlex
from typing import Final

import click

SPECIAL_IN_DOUBLE_QUOTES: Final = re.compile(r'["\\$`!%]')  # in shells of Unix and in those of Windows
# Words with which errors begin. Other words may be names, which keep their spelling.
FIRST_WORDS: Final = re.compile(
    "(a|an|at|each|every|expected|it|no|not|only|pass|several|that|the|there|these|this|unknown|you)(?= )"
)


def replace_control_characters(text: str) -> str:
    """Return ``text`` with every control character except line ends replaced by U+FFFD.

    Control characters could move the cursor.
    """
    return "".join(
        character if character.isprintable() or character == "\n" else "\N{REPLACEMENT CHARACTER}" for character in text
    )


def one_line(text: str) -> str:
    """Return ``text`` on one line and without control characters, so that it cannot imitate other lines of output."""
    return replace_control_characters(text).replace("\n", " ")


def indent_lines(text: str) -> str:
    """Return ``text`` with every line but the first indented, so that no part of it imitates another line of output."""
    return text.replace("\n", "\n    ")


def quote_argument(text: str) -> str:
    """Return ``text`` as an argument of a command that people copy.

    Prefer double quotes, which shells of Windows know too, and which leave an apostrophe as it is.
    """
    if shlex.quote(text) == text or SPECIAL_IN_DOUBLE_QUOTES.search(text):
        return shlex.quote(text)
    return f'"{text}"'


def as_sentence(text: str) -> str:
    """Return ``text`` with a capital at its beginning and a full stop at its end, unless it ends with a URL."""
    text = FIRST_WORDS.sub(lambda word: word[0].capitalize(), text, count=1) if FIRST_WORDS.match(text) else text
    is_open = text[-1:].isalnum() or text[-1:] in ("'", '"', "`", ")", "]")
    return f"{text}." if is_open and "://" not in text.split()[-1] else text


def note(text: str) -> None:
    """Print text on standard error, without control characters, beside the result on standard output."""
    click.echo(replace_control_characters(text), err=True)
