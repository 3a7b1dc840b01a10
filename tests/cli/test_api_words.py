"""No sentence of the API reaches the command line with a request in place of a command."""

import re
from pathlib import Path

import pytest

from referee.cli.service.api_words import name_commands

ROOT = Path(__file__).parents[2]
REQUEST = re.compile(r"(?:GET|POST|PUT|PATCH|DELETE) /api/v1[^\s\"']*")
SENTENCES = sorted(  # of errors; each is one line of source
    line.strip()
    for path in (ROOT / "referee").rglob("*.py")
    for line in path.read_text().splitlines()
    if "cli" not in path.parts and REQUEST.search(line) and '"' in line
)


def test_there_are_sentences_with_requests() -> None:
    assert SENTENCES


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_with_a_request_names_a_command(sentence: str) -> None:
    said = name_commands(sentence.replace("{request}", "request a check with POST /api/v1/bots/bot_1/check"))

    assert not REQUEST.search(said), said
    assert "`referee " in said or "page" in said
