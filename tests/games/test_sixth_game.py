"""The recipe for a game in CONTRIBUTING, followed in a copy of the project with a game of some forty lines.

All tests of every game must then pass for it unchanged.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import surroundings
from tests.games.highest_card import GAME, HOUSE_PLAYER, PAGE, PRESENTATION, TABLE

ROOT = Path(__file__).parents[2]
PARTS = (
    "referee",
    "referee_extras",
    "api",
    "workers",
    "docs",
    "tests",
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
)
COMMON = (  # tests that run over the catalogue
    *("tests/games/test_every_game.py", "tests/games/test_pages.py", "tests/house/test_strategies.py"),
    *("tests/games/test_highest_card.py", "tests/match", "tests/cli/test_logs.py", "tests/cli/test_rules.py"),
    "tests/test_layers.py",
)
SHOWN = ("tests/viewer/test_viewer_tables.py", "tests/match/test_sentences.py")

TESTS = '''"""Highest Card by its rulings."""

from referee.games.cards import DECK
from referee.games.highest_card import HighestCard


def dealt() -> HighestCard:
    state = HighestCard.start(2)
    state.resolve([*DECK])
    return state


def test_HC_01_suits_decide_between_cards_of_a_rank() -> None:
    state = dealt()

    state.apply(0, {"type": "show", "card": "2c"})
    state.apply(1, {"type": "show", "card": "2d"})

    assert state.placements() == [2, 1]


def test_HC_02_all_show_at_once() -> None:
    assert dealt().pending() == (0, 1)
'''

HOOK = """
    "highest-card": Hook(
        cards=lambda state: [card for cards in (*state.hands, state.stock) for card in cards],
        secret=lambda state, viewer: [
            card for seat, hand in enumerate([*state.hands, state.stock]) if seat != viewer for card in hand
        ],
        whole_deck=lambda state: DECK,
        observation_bytes=1024,
        event_bytes=1024,
        golden={3: {"low_wins": True}},
    ),"""
RULES = "referee/games/highest_card.py"
HOOKS = "tests/games/hooks.py"
OPTIONAL = {"referee/house/strategies/highest_card.py": HOUSE_PLAYER, "referee/viewer/tables/highest_card.js": TABLE}


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project."""
    copy = tmp_path_factory.mktemp("untouched")
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, copy / part, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy / part)
    return copy


@pytest.fixture(scope="module")
def bare(untouched: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the project with everything that a game must have."""
    copy = tmp_path_factory.mktemp("bare") / "project"
    shutil.copytree(untouched, copy, symlinks=True)
    (copy / RULES).write_text(GAME)
    (copy / "docs/games/highest-card.md").write_text(PAGE.replace("CARD", lowest_card(copy)))
    (copy / "referee/viewer/presentations/highest_card.json").write_text(PRESENTATION)
    insert(copy / HOOKS, "\nHOOKS = {", HOOK)
    return copy


@pytest.fixture(scope="module")
def project(bare: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the project with a complete game and its golden log."""
    copy = tmp_path_factory.mktemp("complete") / "project"
    shutil.copytree(bare, copy, symlinks=True)
    for name, text in OPTIONAL.items():
        (copy / name).write_text(text)
    ran(copy, "-m", "tests.golden")
    return copy


def contents(copy: Path) -> dict[str, bytes]:
    """Return all files by name, those reached through a link once."""
    files = (path for path in copy.rglob("*") if path.is_file() and path.parent.resolve() == path.parent)
    return {str(path.relative_to(copy)): path.read_bytes() for path in files if "__pycache__" not in path.parts}


def insert(path: Path, after: str, text: str) -> None:
    """Insert the text after the only occurrence of ``after``."""
    head, found, tail = path.read_text().partition(after)
    assert found, f"{path} has no {after!r}"
    path.write_text(head + found + text + tail)


def lowest_card(copy: Path) -> str:
    """Return the card that seat 0 is asked about first in the match of the page's question."""
    return ran(
        copy,
        "-c",
        "from referee.games import game; from tests.games.pages import asked;"
        "print(next(asked(game('highest-card').start(2), 1))[1]['observation']['hand'][0], end='')",
    )


def ran(copy: Path, *arguments: str) -> str:
    done = started(copy, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def started(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run this Python code in the copy, whose packages take precedence over the installed ones."""
    environment = surroundings(PYTHONPATH=str(copy), PYTHONDONTWRITEBYTECODE="1")
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_game_is_six_files_at_most_besides_the_tests_of_its_rulings(untouched: Path, project: Path) -> None:
    before, after = contents(untouched), contents(project)

    touched = {name for name, content in after.items() if before.get(name) != content}

    assert before.keys() <= after.keys()
    assert touched - {"tests/golden/highest-card-3.ndjson"} == {  # which a command wrote
        *(RULES, "docs/games/highest-card.md", "referee/viewer/presentations/highest_card.json", HOOKS),
        *OPTIONAL,
    }
    assert len(touched) == 7


def test_a_ruling_without_a_test_fails_the_build(project: Path) -> None:
    without = started(project, "-m", "tests.games.rulings")
    (project / "tests/games/test_highest_card.py").write_text(TESTS)

    assert (without.returncode, without.stdout) == (1, "HC-01\nHC-02\n")
    assert ran(project, "-m", "tests.games.rulings") == "every ruling has a test\n"


def test_what_holds_for_every_game_holds_for_the_new_one(project: Path) -> None:
    (project / "tests/games/test_highest_card.py").write_text(TESTS)

    told = ran(project, "-m", "pytest", "-q", "-p", "no:cacheprovider", *COMMON, "-k", "highest")

    assert " passed" in told
    assert not any(word in told for word in (" skipped", " failed", " error"))


def test_without_a_house_player_and_a_table_of_its_own_a_game_is_played_and_shown(bare: Path, tmp_path: Path) -> None:
    log, page = str(tmp_path / "match.ndjson"), str(tmp_path / "match.html")

    ran(bare, "-m", "referee", "play", "highest-card", "house:3", "house:first", "--log", log, "--html", page)
    ran(bare, "-m", "tests.golden")
    told = ran(bare, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SHOWN, "-k", "highest")

    assert "ok" in ran(bare, "-m", "referee", "verify", log)
    assert " passed" in told
    assert " failed" not in told


def test_a_bot_and_a_learner_get_what_they_need_from_the_rules_and_the_page(bare: Path) -> None:
    asked = (
        "from referee_extras.gym.aec import env; from referee_extras.gym.layouts import layout;"
        "from referee_extras.sdk import Bot;"
        "bot = Bot(); bot.decides('highest-card', 'show')(lambda question: None);"
        "table = env('highest-card', 3); table.reset(1); found = layout('highest-card');"
        "print(bot.games, table.action_space('seat_0').n, found.words, found.cards)"
    )

    told = ran(bare, "-c", asked)

    assert told == "['highest-card'] 2 {'phase': ('show', 'over')} ('hand', 'shown')\n"


def test_the_new_game_is_played_verified_told_and_explained(project: Path, tmp_path: Path) -> None:
    log = str(tmp_path / "match.ndjson")

    played = ran(project, "-m", "referee", "play", "highest-card", "house:1", "house:first", "--log", log)
    told = ran(project, "-m", "referee", "replay", log)

    assert "highest-card" in played
    assert "ok" in ran(project, "-m", "referee", "verify", log)
    assert "Shown: house:1 the " in told
    assert "The match is over: " in told
    assert ran(project, "-m", "referee", "rules", "highest-card").startswith("# Highest Card")
    assert "highest-card  2 to 4 seats" in ran(project, "-m", "referee", "games")


def test_the_code_of_the_new_game_is_clean(project: Path) -> None:
    files = (RULES, "referee/house/strategies/highest_card.py")

    assert "All checks passed" in ran(project, "-m", "ruff", "check", "--no-cache", *files)
