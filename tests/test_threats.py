"""docs/threats.md and the names of the tests agree: which ids there are, and in which files each is tested."""

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "threats.md").read_text()

AREAS = "ABCDEFK"
AREA = re.compile(rf"^## ([{AREAS}])\. .*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| ([A-Z][0-9]+) \|(?:[^|]+\|){2}([^|]*)\|$", re.MULTILINE)
FILE = re.compile(r"`([\w/]+\.py)`")
OPEN = re.compile(r"\*\*Open:\*\* [^*.]+\. $")

TEST = re.compile(r"^ *(?:async )?def (test_\w+)", re.MULTILINE)
IDS = re.compile(r"test_((?:[A-Z][0-9]+_(?:to_(?=[A-Z][0-9]))?)+)")  # a ruling, as PN_07, has two letters
RANGE = re.compile(r"([A-Z])([0-9]+)(?:_to_\1([0-9]+))?")


@dataclass(frozen=True, slots=True)
class Row:
    """A threat or failure as the page has it."""

    files: frozenset[str]
    is_open: bool


def rows() -> dict[str, Row]:
    return {
        found[1]: Row(frozenset(FILE.findall(found[2])), bool(OPEN.search(found[2]))) for found in ROW.finditer(PAGE)
    }


def ids_of(name: str) -> list[str]:
    """Return the ids in the name of a test."""
    ids = IDS.match(name)
    ranges = RANGE.findall(ids[1]) if ids else []
    return [f"{area}{number}" for area, low, high in ranges for number in range(int(low), int(high or low) + 1)]


def files_by_id() -> dict[str, set[str]]:
    """In which files each id is borne by a test."""
    found = defaultdict(set)
    for path in (ROOT / "tests").rglob("test_*.py"):
        for name in TEST.findall(path.read_text()):
            for id in ids_of(name):
                found[id].add(path.relative_to(ROOT).as_posix())
    return found


def test_the_ids_are_read_from_the_front_of_a_name() -> None:
    assert ids_of("test_E9_K6_the_key_lives") == ["E9", "K6"]
    assert ids_of("test_K1_to_K3_K9_each_match") == ["K1", "K2", "K3", "K9"]
    assert ids_of("test_B10_200_alone_will_do") == ["B10"]
    assert ids_of("test_PN_07_a_nap_ends_the_bidding") == ids_of("test_of_two_K2_in_a_hand") == []


def test_every_area_is_numbered_from_1_without_gap_or_repetition() -> None:
    areas = {found[1]: [row[1] for row in ROW.finditer(found[0])] for found in AREA.finditer(PAGE)}

    assert "".join(areas) == AREAS
    assert areas == {area: [f"{area}{number}" for number in range(1, len(ids) + 1)] for area, ids in areas.items()}
    assert sum(map(len, areas.values())) == len(re.findall(r"^\| [A-Z][0-9]+ ", PAGE, re.MULTILINE))


def test_every_id_in_the_name_of_a_test_is_on_the_page() -> None:
    assert files_by_id().keys() <= rows().keys()


def test_every_row_names_the_files_whose_tests_bear_its_id() -> None:
    tested = files_by_id()

    differing = {
        id: {"page": sorted(row.files), "tests": sorted(tested.get(id, []))}
        for id, row in rows().items()
        if row.files != tested.get(id, set())
    }

    assert differing == {}


def test_every_row_without_a_test_is_open() -> None:
    assert [id for id, row in rows().items() if not row.files and not row.is_open] == []


def test_what_is_open_is_said_in_one_sentence_at_the_end_of_its_row() -> None:
    assert [id for id, row in rows().items() if row.is_open] == re.findall(
        r"^\| ([A-Z][0-9]+) \|.*Open:", PAGE, re.MULTILINE
    )
