"""Reasons to wait as a whole: each has a case, and the documents list and explain each."""

import re
from collections import Counter
from pathlib import Path

import pytest

from referee.errors import NotFound
from referee.workflows.explaining import waiting
from referee.workflows.explaining.waiting_reasons import REASONS
from tests.database.checks import on_one_database
from tests.database.world import World
from tests.workflows import test_waiting_for_matches, test_waiting_in_tournaments, test_waiting_on_official_ladders

DOCS = Path(__file__).parents[2] / "docs"
SUBJECTS = (test_waiting_for_matches, test_waiting_in_tournaments, test_waiting_on_official_ladders)
ROW = re.compile(r"^\| `(\w+)` \| (.+) \|$", re.MULTILINE)


def test_every_reason_has_one_case() -> None:
    assert Counter(code for subject in SUBJECTS for code in subject.CASES) == Counter(list(REASONS))


@on_one_database
def test_an_unknown_bot_is_not_found(world: World) -> None:
    with world.database.read() as session, pytest.raises(NotFound):
        waiting.explain_waiting(session, "bot_0", runner_slots=4)


def test_the_page_on_tournaments_lists_every_reason_in_its_words() -> None:
    page = (DOCS / "tournaments.md").read_text()

    listed = ROW.findall(page.split("## Why a bot waits")[1].split("\n## ")[0])

    assert dict(listed) == {
        code: text.format(ahead="N", seat="N", tournament_round="N", at="T") for code, text in REASONS.items()
    }


def test_the_page_on_official_ladders_explains_each_of_their_reasons() -> None:
    page = (DOCS / "official-ladders.md").read_text()

    rows = ROW.findall(page.split("## Why a bot waits")[1].split("\n## ")[0])

    assert [code for code, _ in rows] == [code for code in REASONS if code.startswith("official_")]
    assert all(len(explained.split(" | ")) == 2 for _, explained in rows), "two columns: when it applies, and why"
