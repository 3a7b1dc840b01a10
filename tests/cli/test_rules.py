"""`referee rules`: the page of a game, laid out on a terminal and untouched in a pipe."""

import io

from rich.console import Console

from referee.cli.rules import print_rules
from referee.games import catalogue
from referee.rulebook import rules_page
from tests.cli.running import says


def test_a_pipe_gets_the_page_as_it_is_written_and_on_a_terminal_it_is_laid_out() -> None:
    for name in catalogue():
        assert says({}, "rules", name).output == rules_page(name)
        laid_out = io.StringIO()
        print_rules(rules_page(name), Console(file=laid_out, force_terminal=True, width=100))

        told = laid_out.getvalue()
        assert not any(mark in told for mark in ("<!--", "```", "| ---", "\n## ", ".md")), name
        assert "Rulings" in told


def test_a_game_that_is_not_there_is_refused_with_the_names_of_those_that_are() -> None:
    assert "available: pool-nap" in says({}, "rules", "../../README", status=2).stderr
