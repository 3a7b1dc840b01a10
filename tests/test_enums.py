"""Values of states, formats and kinds are written once, in their enums: those of words/literals.toml."""

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from tests.test_layers import MODULES, ROOT, module_name

LIST: Final = Path(__file__).parent / "words/literals.toml"
ENUM_MODULES: Final = [path for path in MODULES if path.name in ("states.py", "kinds.py", "roles.py")]
EXEMPT: Final = ("referee/games/", "referee/house/strategies/")  # the words of the rules


@cache
def rules() -> dict[str, Any]:
    return tomllib.loads(LIST.read_text())


def enums() -> Iterator[type[StrEnum]]:
    for path in ENUM_MODULES:
        for found in vars(import_module(module_name(path))).values():
            if isinstance(found, type) and issubclass(found, StrEnum) and found is not StrEnum:
                yield found


def literals(text: str) -> list[str]:
    """Return the strings of a module, without docstrings and pieces of f-strings."""
    nodes = list(ast.walk(ast.parse(text)))
    besides = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    besides |= {id(piece) for node in nodes if isinstance(node, ast.JoinedStr) for piece in node.values}
    strings = (node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return [str(node.value) for node in strings if id(node) not in besides]


def repeated() -> Counter[str]:
    judged, found = set(rules()["values"]), Counter[str]()
    for path in MODULES:
        name = path.relative_to(ROOT).as_posix()
        if path not in ENUM_MODULES and not name.startswith(EXEMPT):
            found.update(f"{name} | {value}" for value in literals(path.read_text()) if value in judged)
    return found


def test_values_of_enums_are_not_repeated_as_strings() -> None:
    allowed = Counter(rules()["allowed"])

    assert not repeated() - allowed, "use the member of the enum"
    assert not allowed - repeated(), "fewer than allowed: lower the list"


def test_every_judged_value_is_one_of_an_enum() -> None:
    known = {member.value for members in enums() for member in members}

    assert len(known) > 40
    assert not set(rules()["values"]) - known


def test_modules_of_enums_import_nothing_but_enums() -> None:
    for path in ENUM_MODULES:
        imported = {node.module for node in ast.parse(path.read_text()).body if isinstance(node, ast.ImportFrom)}

        assert imported <= {"enum", "typing"}, module_name(path)


def test_strings_are_found_wherever_they_stand() -> None:
    code = 'def state(of):\n    """cancelled"""\n    return {"cancelled": f"cancelled {of["stuck"]}"}.get("draft")\n'

    assert sorted(literals(code.replace('of["stuck"]', "of['stuck']"))) == ["cancelled", "draft", "stuck"]
