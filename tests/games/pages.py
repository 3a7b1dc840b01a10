"""The contents of a game's rules page, parsed so that tests can compare them with the game.

In a page, ``<!-- action: PHASE -->`` precedes a JSON block with an action or an answer; with several phases, it
is legal in each. ``<!-- question: PHASE {"seats": 3, "seed": 12, "options": {}} -->``
precedes an excerpt of a question that occurs in the match played with that seed like a conformity match.
``"…"`` ends a shortened list.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from referee.errors import IllegalAction
from referee.games.options import Option
from referee.games.state import State
from referee.match.canonical import Json
from tests.games.conformity import generator, in_turn, outcome
from tests.games.playing import any_match, one_step

TESTS = Path(__file__).parent
ENOUGH_DECISIONS = 150_000  # every example of a page must be legal in one of them


@dataclass(frozen=True, slots=True)
class Example:
    """A marked block of a page."""

    kind: str  # "action" or "question"
    phase: str
    content: Json
    match: Json  # of a question: seats, seed and options


def examples(page: str) -> list[Example]:
    """Return the marked blocks in the order of the page."""
    mark = r"<!-- (action|question): (\w+(?: \w+)*) *(\{[^\n]*\})? *-->"
    marked = re.findall(mark + r"\n+```json\n(.*?)```", page, re.DOTALL)
    return [Example(kind, phase, json.loads(text), json.loads(match or "{}")) for kind, phase, match, text in marked]


def actions(page: str) -> list[tuple[str, Json]]:
    """Return phase and action of every marked answer."""
    shown = [(one.phase, one.content.get("action", one.content)) for one in examples(page) if one.kind == "action"]
    return [(phase, action) for phases, action in shown for phase in phases.split()]


# -- actions and questions that occur --


def never_legal(game: type[State], wanted: Iterable[tuple[str, Json]]) -> list[tuple[str, Json]]:
    """Return the actions that are never legal in their phase in many random matches."""
    missing, dice, decisions = [*wanted], Random(game.name), 0
    while missing and decisions < ENOUGH_DECISIONS:
        state = any_match(game, dice)
        while missing and not state.over:
            for seat in state.pending()[:1]:
                decisions += 1
                missing = [
                    (phase, one) for phase, one in missing if phase != state.phase or not allows(state, seat, one)
                ]
            one_step(state, dice)
    return missing


def kinds_of_actions(game: type[State]) -> set[tuple[str, str]]:
    """Return phase and type of every action that is legal somewhere in many random matches."""
    dice, kinds = Random(game.name), set()
    for _ in range(40):
        state = any_match(game, dice)
        for _ in range(400):
            if state.over:
                break
            for seat in state.pending()[:1]:
                kinds |= {(state.phase, action["type"]) for action in state.legal(seat)}
            one_step(state, dice)
    return kinds


def allows(state: State, seat: int, action: Json) -> bool:
    """Return whether the action, in exactly this spelling, is legal."""
    try:
        return state.validate_action(seat, action) == action
    except IllegalAction:
        return False


def comes_up(game: type[State], example: Example) -> bool:
    """Return whether the match of the mark has a question of this phase that contains the excerpt."""
    questions = asked(game.start(example.match["seats"], example.match.get("options", {})), example.match["seed"])
    return any(phase == example.phase and shows(question, example.content) for phase, question in questions)


def asked(state: State, seed: int) -> Iterator[tuple[str, Json]]:
    """Yield phase and question of every decision of the match played with this seed."""
    below, decisions = generator(seed), 0
    while not state.over:
        wanted = state.chance()
        if wanted is not None:
            state.resolve(outcome(wanted, below))
            continue
        decisions += 1
        seat = min(state.pending())
        legal = state.legal(seat)
        yield (
            state.phase,
            {"observation": state.observation(seat), "legal_actions": legal, "default_action": state.default(seat)},
        )
        state.apply(seat, legal[in_turn(decisions, len(legal))])


def shows(full: Any, excerpt: Any) -> bool:
    """Return whether the question contains the excerpt: some members of objects, the heads of shortened lists."""
    match excerpt:
        case dict():
            return isinstance(full, dict) and all(name in full and shows(full[name], excerpt[name]) for name in excerpt)
        case [*head, "…"]:
            return isinstance(full, list) and full[: len(head)] == head and len(full) > len(head)
    return bool(full == excerpt)


# -- tables --


def tables(page: str) -> list[list[list[str]]]:
    """Return every table as rows of cells, header first."""
    blocks = re.findall(r"(?:^\|.*\n)+", page + "\n", re.MULTILINE)
    cut = [
        [[cell.strip() for cell in row[1:].rstrip("|").split("|")] for row in block.splitlines()] for block in blocks
    ]
    return [[rows[0], *rows[2:]] for rows in cut]


def table_of(page: str, first_column: Iterable[str]) -> list[list[str]]:
    """Return the table most of whose rows are about one of these names; [] if there is none."""
    names = {*first_column}
    return max(tables(page), key=lambda rows: sum(bool(names & {*named(row[0])}) for row in rows), default=[])


def named(cell: str) -> list[str]:
    """Return the names in backticks in a cell."""
    return re.findall(r"`([^`]+)`", cell)


def wrong_options(game: type[State], page: str) -> list[str]:
    """Return differences between the table of options and the game."""
    specs = {spec.name: spec for spec in game.option_specs}
    head, *rows = table_of(page, specs) or [[]]
    told = {name: row for row in rows for name in named(row[0])}
    if "default" not in map(str.lower, head) or len(told) != len(rows):
        return [f"there is no table with an option in each row and a column of defaults: {head}"]
    default = [*map(str.lower, head)].index("default")
    complaints = [f"{name} is no option" for name in told.keys() - specs.keys()]
    complaints += [f"{name} is missing" for name in specs.keys() - told.keys()]
    for name, row in told.items():
        if name in specs:
            complaints += wrong_option(specs[name], row[default], " | ".join(row[:default] + row[default + 1 :]))
    return complaints


def wrong_option(spec: Option, default: str, rest: str) -> Iterator[str]:
    words = {*re.findall(r"\w+", re.sub(r"(?<=\d)[,\u202f](?=\d{3})", "", rest))}
    bounds = {"int": (spec.low, spec.high), "bool": (), "choice": spec.choices, "list": spec.choices}[spec.kind]
    yield from (f"{spec.name}: {bound} is not told" for bound in bounds if str(bound) not in words)
    value = spec.default if isinstance(spec.default, list) else [spec.default]
    spelt = [str(one).lower() if isinstance(one, bool) else str(one) for one in value]
    if sorted(re.findall(r"\w+", default.replace(",", " ") if spec.kind == "list" else default)) != sorted(spelt):
        yield f"{spec.name}: the default is {spec.default}, not {default}"


# -- rulings --


def rulings(page: str) -> list[str]:
    """Return the ids of the page's rulings (rows that begin with ``PN-07``), in order."""
    return re.findall(r"^(?:\| *|[-*] +)(?:\*\*|`)?([A-Z]{2}-\d{2})\b", page, re.MULTILINE)


def tested_rulings() -> set[str]:
    """Return the ruling ids in the names of tests."""
    return {id.replace("_", "-") for name in names_of_tests() for id in re.findall(r"(?<=_)[A-Z]{2}_\d{2}(?=_)", name)}


def names_of_tests() -> Iterator[str]:
    for path in sorted(TESTS.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield node.name
