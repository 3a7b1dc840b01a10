"""The recipe for a game in CONTRIBUTING, followed in a copy of the project with a game of some forty lines.

All tests of every game must then pass for it unchanged.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import surroundings

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

GAME = '''"""Highest Card: deal of two cards each, then all show one together; the highest one wins."""

from dataclasses import dataclass, field
from typing import Any

from referee.errors import IllegalAction
from referee.games.cards import DECK, ORDER, in_order
from referee.games.options import Option
from referee.games.state import Json, Seat, Secret, State, rank_seats


@dataclass
class HighestCard(State):
    """A match of Highest Card for two to four seats."""

    name = "highest-card"
    opening = "deal"
    rules_version = 1
    secrets = (Secret("deal", "deck"), Secret("deal", "hands", by_seat=True))
    seats = range(2, 5)
    standard_seats = 3
    option_specs = (Option("low_wins", "bool", False, "whether the lowest card wins instead"),)

    hands: list[list[str]] = field(default_factory=list)
    stock: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def set_up(self) -> None:
        self.hands = [[] for _ in range(self.players)]
        self.phase = "show"
        self.emit("match_start", game=self.name, players=self.players, options=self.options)
        self.ask_deck(DECK)

    def settle(self, asked: Json, outcome: Any) -> None:
        dealt = 2 * self.players
        self.hands = [in_order(outcome[seat : dealt : self.players]) for seat in range(self.players)]
        self.stock = outcome[dealt:]
        self.emit("deal", deck=outcome, hands=[hand[:] for hand in self.hands])
        self.ask("show", range(self.players), together=True)

    def legal(self, seat: Seat) -> list[Json]:
        return [{"type": "show", "card": card} for card in self.hands[seat]]

    def validate_action(self, seat: Seat, action: Any) -> Json:
        if action not in self.legal(seat):
            raise IllegalAction(f"seat {seat} may not play {str(action)[:200]}")
        return dict(action)

    def act_together(self, actions: dict[Seat, Json]) -> None:
        self.shown = [actions[seat]["card"] for seat in range(self.players)]  # HC-02
        self.phase = "over"
        self.emit("show", cards=self.shown, scores=self.scores())
        self.emit("match_end", placements=self.placements(), scores=self.scores())

    def scores(self) -> list[int]:
        sign = -1 if self.options["low_wins"] else 1
        return [sign * ORDER[card] for card in self.shown] or [0] * self.players  # HC-01

    def returns(self) -> list[int]:
        return self.scores()

    def placements(self) -> list[int]:
        return rank_seats(self.scores())

    def observation(self, seat: Seat) -> Json:
        return {"phase": self.phase, "seat": seat, "hand": self.hands[seat][:], "shown": self.shown[:]}

    @classmethod
    def legal_bound(cls, players: int) -> int:
        return 2

    @classmethod
    def decision_bound(cls, players: int, options: Json) -> int:
        return players
'''

PAGE = """# Highest Card

Show the better one of two cards.

| member | what it is |
| --- | --- |
| `phase`, `seat` | `"show"`, your seat |
| `hand` | your two cards |
| `shown` | what everybody has shown, at the end |

<!-- question: show {"seats": 2, "seed": 1} -->
```json
{"observation": {"phase": "show", "seat": 0}, "legal_actions": [{"type": "show", "card": "CARD"}, "…"]}
```

<!-- action: show -->
```json
{"type": "show", "card": "As"}
```

| option | values | default | meaning |
| --- | --- | --- | --- |
| `low_wins` | true or false | false | whether the lowest card wins instead |

## Rulings

| id | ruling |
| --- | --- |
| HC-01 | Suits decide between cards of a rank. |
| HC-02 | All show together. |
"""

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
PRESENTATION = """{
  "score": "point",
  "lists": { "shown": "{index|name} {item|card}" },
  "events": {
    "deal": { "text": "Everybody is dealt two cards.", "detail": "{hands|each:hand:\\n}" },
    "show": "Shown: {cards|each:shown:, }."
  }
}
"""
HOUSE_PLAYER = '''"""Highest Card by rules of thumb: show the better card."""

from referee.games.cards import ORDER
from referee.house.strategies.heuristics import Json, Worth, WorthByPhase


def show(seen: Json) -> Worth:
    return lambda action: ORDER[action["card"]]


WORTH: WorthByPhase = {"show": show}
'''
TABLE = """// Highest Card from its events: the hands, and what was shown.

import { EVERY_MATCH, askSeats, makeTable, perSeat } from "./common.js";

const HC_HAPPENS = {
  ...EVERY_MATCH,
  deal(facts, event) {
    facts.hands = event.hands;
    askSeats(facts, "show", facts.hands.keys(), true);
  },
  show(facts, event) {
    facts.shown = event.cards;
    facts.points = event.scores;
  },
};

function hcDraw(facts) {
  const seats = perSeat(facts.n, (seat) => ({ hand: facts.hands[seat], up: facts.shown.slice(seat, seat + 1) }));
  return { title: "Highest Card", phase: facts.phase, seats, centre: [] };
}

export const highestCard = makeTable({
  game: "highest-card",
  fresh: ({ seats }) => ({ hands: perSeat(seats, () => []), shown: [], points: perSeat(seats, () => 0) }),
  happens: HC_HAPPENS,
  draw: hcDraw,
  scoresOf: (facts) => facts.points,
});
"""
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
        "print(bot.games, table.action_space('seat_0').n, found.words, found.cards, found.action_words)"
    )

    told = ran(bare, "-c", asked)

    assert told == "['highest-card'] 2 {'phase': ('show', 'over')} ('hand', 'shown') ('show',)\n"


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
