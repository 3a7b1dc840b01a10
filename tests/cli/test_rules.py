"""`referee rules`: the page of a game, laid out on a terminal and untouched in a pipe."""

import io

import pytest
from click.testing import CliRunner
from rich.console import Console

from referee.cli import main
from referee.cli.rules import print_rules
from referee.games import catalogue
from referee.rulebook import rules_page

every_game = pytest.mark.parametrize("name", sorted(catalogue()))


@every_game
def test_a_pipe_gets_the_page_as_it_is_written(name: str) -> None:
    done = CliRunner().invoke(main, ["rules", name])

    assert (done.exit_code, done.output) == (0, rules_page(name))


@every_game
def test_on_a_terminal_the_page_is_laid_out(name: str) -> None:
    screen = Console(file=io.StringIO(), force_terminal=True, width=100)

    print_rules(rules_page(name), screen)

    assert isinstance(screen.file, io.StringIO)
    told = screen.file.getvalue()
    assert not any(mark in told for mark in ("<!--", "```", "| ---", "\n## ", ".md"))
    assert "Rulings" in told


def test_a_game_that_is_not_there_is_refused_with_the_names_of_those_that_are() -> None:
    done = CliRunner().invoke(main, ["rules", "../../README"])

    assert done.exit_code == 2
    assert "available: pool-nap" in done.stderr
