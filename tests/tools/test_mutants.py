"""Test the planting of faults, and run a short campaign; `make mutants` runs a long one."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tools.mutants.campaign import GAMES, Target, select_faults, table, try_faults
from tools.mutants.copies import PRODUCT, ROOT, Copy
from tools.mutants.explained import EXPLAINED, Spot
from tools.mutants.faults import PlantedFault, faults_of, sample_faults
from tools.mutants.line_coverage import LineCoverage, record
from tools.mutants.product import table as room_table
from tools.mutants.product import try_fault, try_rooms

COMPILED = ("referee", "tests/games", "tests/match", "tests/ratings")  # what the tests that are run there import
SLICE = ("payer", "seat", "forgotten", "min/max", "condition")  # kinds that change what is played
RULES = '''"""Rules: 1 < 2."""
Moves = dict[str, int]
class Game:
    limit: Literal[3]

    def settle(self, payer: int, payee: int) -> list[str]:
        """Pays 1 chip."""
        assert payer < 9
        if self.chips[seat] <= 0 and not self.over:
            raise Error(f"{payer + 1}")
        self.chips[payee] += min(self.pot, 5)
        self.played.append(card)
        self.bids = []
        pay(payer, payee)
        return self.names[:]
'''


def planted_lines(kind: str) -> list[str]:
    return [fault.after.strip() for fault in faults_of("rules.py", RULES) if fault.kind == kind]


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        ("comparison", ["if self.chips[seat] < 0 and not self.over:"]),
        ("and/or", ["if self.chips[seat] <= 0 or not self.over:"]),
        (
            "condition",
            ["if not (self.chips[seat] <= 0 and not self.over):", "if self.chips[seat] <= 0 and (self.over):"],
        ),
        ("seat", ["if self.chips[seat - 1] <= 0 and not self.over:", "self.chips[payee - 1] += min(self.pot, 5)"]),
        ("payer", ["self.chips[payee] -= min(self.pot, 5)"]),
        ("min/max", ["self.chips[payee] += max(self.pot, 5)"]),
        ("exchanged", ["self.chips[payee] += min(5, self.pot)", "pay(payee, payer)"]),
        ("forgotten", ["pass", "pass", "pass", "pass"]),
        ("shared list", ["return self.names"]),
    ],
)
def test_faults_of_a_kind_are_planted_where_they_can_be(kind: str, lines: list[str]) -> None:
    assert planted_lines(kind) == lines
    assert {fault.line for fault in faults_of("rules.py", RULES)} == {9, 11, 12, 13, 14, 15}  # texts are left alone


def test_every_fault_changes_one_line_of_a_source_that_parses(copy: Copy) -> None:
    for target in GAMES.values():
        for fault in select_faults(copy, target, 3, Random(1)):
            right = copy.source(fault.path)
            wrong = fault.plant_in(right)
            compile(wrong, fault.path, "exec")
            changed = [own for own, was in zip(wrong.split("\n"), right.split("\n"), strict=True) if own != was]
            assert changed == [fault.after]


def test_the_same_seed_chooses_the_same_faults_spread_over_functions_and_kinds() -> None:
    path = "referee/games/pool_nap.py"
    faults = faults_of(path, (ROOT / path).read_text())

    one, other = (sample_faults(faults, 60, Random(1)) for _ in range(2))

    assert one == other
    assert len({fault.line for fault in one}) == len(one) == 60
    assert max(Counter(fault.function for fault in one).values()) <= 4
    assert max(Counter(fault.kind for fault in one).values()) <= 12


@pytest.mark.parametrize("spot", EXPLAINED, ids=lambda spot: f"{Path(spot.path).stem} {spot.function}")
def test_an_explained_fault_can_still_be_planted(spot: Spot) -> None:
    faults = faults_of(spot.path, (ROOT / spot.path).read_text())

    assert spot in {Spot(own.path, own.function, own.before.strip(), own.after.strip()) for own in faults}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    with Copy(tmp_path_factory.mktemp("mutants"), committed=False, compiled=COMPILED) as made:
        yield made


@pytest.mark.parametrize("game", ["pool-nap", "saint-poker"])
def test_planted_faults_are_noticed(game: str, copy: Copy) -> None:
    """If a fault survives, write a test for it or explain it in ``explained.py``."""
    faults = select_faults(copy, GAMES[game], 2, Random(game), SLICE)

    outcome = try_faults(copy, GAMES[game], faults, print)

    assert (outcome.planted, outcome.survived) == (2, [])


def test_a_fault_that_no_test_notices_is_told(copy: Copy) -> None:
    text = "games in a catalogue"
    target = Target(("referee/games/__init__.py",), ("tests/games/test_poker.py",), "saint-poker")
    fault = PlantedFault(
        "referee/games/__init__.py", 1, "text", "module", *(_first_line(copy, text, new) for new in ("", "x"))
    )

    outcome = try_faults(copy, target, [fault], print, only=("own tests",))

    assert outcome.survived == [fault]
    assert "| saint-poker | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 |" in table({"saint-poker": outcome})


def test_a_fault_without_an_end_is_stopped(copy: Copy) -> None:
    endless = "while True:\n    pass\n"
    with copy.with_source("referee/games/poker.py", endless):
        ran = copy.run(["tests/games/test_poker.py"], 0.5)

    assert ran["caught"] == "time limit"


def test_faults_anywhere_are_tried_against_the_tests_that_run_their_line(copy: Copy) -> None:
    path = "referee/ratings/elo.py"
    record(copy.folder, PRODUCT, ["tests/ratings/test_elo.py"])
    known = LineCoverage(copy.folder)
    faults = [fault for fault in faults_of(path, copy.source(path)) if fault.kind == "arithmetic"]

    noticed = [try_fault(copy, known, "referee/ratings", fault) for fault in faults[1:2]]
    unseen = try_rooms(copy, known, ["workers/(top)"], 2, 1)

    assert [trial.caught_by.split("::")[0] for trial in noticed] == ["tests/ratings/test_elo.py"]
    assert "| workers/(top) | 2 | 0 | 2 |" in room_table(unseen)
    assert "SURVIVED 0 of 0 tests that run it: workers/" in str(unseen[0])


def _first_line(copy: Copy, text: str, new: str) -> str:
    line = copy.source("referee/games/__init__.py").split("\n")[0]
    assert text in line
    return line.replace(text, new + text)


def test_a_copy_leaves_the_project_as_it_is(copy: Copy) -> None:
    path = Path("referee/games/poker.py")
    before = (ROOT / path).read_bytes()
    with copy.with_source(str(path), "nonsense("):
        assert copy.run(["tests/games/test_poker.py"])["caught"].startswith("import of")

    assert (ROOT / path).read_bytes() == before
    assert copy.run(["tests/games/test_poker.py"])["caught"] == ""
