"""The declared terms of tournaments: the documentation says until when each can be changed."""

import re
from pathlib import Path

from referee.tournaments.terms import Fixed, list_changeable

DOCS = "\n".join(page.read_text() for page in sorted((Path(__file__).parents[2] / "docs").glob("*.md")))


def documented(*until: str) -> set[str]:
    """Return the terms that the table of later changes names in these rows."""
    rows = re.findall(rf"^\| (?:{'|'.join(until)}) \|(.*)$", DOCS, re.MULTILINE)
    return set(re.findall("`([a-z_]+)`", " ".join(rows)))


def test_the_documentation_names_the_terms_that_can_be_changed_later() -> None:
    assert documented("the start") == set(list_changeable(Fixed.START)) - set(list_changeable(Fixed.END))
    assert documented("their round begins", "the end") == set(list_changeable(Fixed.END))
