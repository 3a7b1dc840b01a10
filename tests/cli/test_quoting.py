"""Names in commands that people copy: quoted for shells of Unix and, where possible, of Windows."""

import shlex

import pytest

from referee.cli.plain_text import quote_argument


@pytest.mark.parametrize(
    ("name", "quoted"),
    [("Ada", "Ada"), ("Ada bot", '"Ada bot"'), ("Wanda's bot", '"Wanda\'s bot"'), ("a $HOME", "'a $HOME'")],
)
def test_an_argument_is_quoted_for_people(name: str, quoted: str) -> None:
    assert quote_argument(name) == quoted


@pytest.mark.parametrize(
    "name", ["", "a b", 'say "no"', "`id` x", "$(id) x", "a\\b c", "wow! x", "it's", "100 % x", "a\nb"]
)
def test_a_shell_reads_back_the_argument(name: str) -> None:
    assert shlex.split(quote_argument(name)) == [name]
