"""Who may import whom: every import of the packages is checked against an allow-list a layer."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RULES = ("referee.errors", "referee.cards", "referee.poker", "referee.games")
CORE = (
    *(
        "referee.canonical",
        "referee.match",
        "referee.matchlog",
        "referee.rows",
        "referee.recall",
        "referee.chance",
        "referee.clocks",
        "referee.ratings",
        "referee.sprt",
    ),
    *("referee.pairing", "referee.standings", "referee.strengths", "referee.players"),
)
SHELL = (
    *("referee.bots", "referee.store", "referee.live", "referee.settings", "referee.leash", "referee.journal"),
    "referee.rules_page",
)
PURE = ("hashlib", "hmac", "json", "random")  # what the core takes from the standard library besides the rules' own
ALLOWED: dict[str, tuple[str, ...]] = {  # the longest prefix that fits a module rules it
    "referee": (),
    "referee.errors": (),
    "referee.cards": RULES,
    "referee.poker": RULES,
    "referee.games": RULES,
    **dict.fromkeys(CORE, (*RULES, *CORE, "referee")),
    **dict.fromkeys(SHELL, (*RULES, *CORE, *SHELL, "referee")),
    "referee.sdk": (*RULES, *CORE, *SHELL, "referee"),
    "referee.viewer": (*RULES, *CORE, "referee.bots.advice"),
    "referee.learning": (*RULES, "referee.canonical", "referee.rows"),
    "referee.cli": (*RULES, *CORE, *SHELL, "referee.viewer", "referee"),
    "referee.__main__": ("referee.cli",),
    "workers": (*RULES, *CORE, *SHELL, "referee", "workers"),
    "api": (*RULES, *CORE, *SHELL, "referee.viewer", "referee", "api", "workers.queues"),
}
FORBIDDEN_IN_RULES = {"random", "secrets", "time", "datetime", "os", "logging", "asyncio", "threading", "socket"}
FORBIDDEN_IN_CORE = FORBIDDEN_IN_RULES - {"random"}  # house players are handed their dice
MODULES = sorted(
    path for package in ("referee", "api", "workers") for path in (ROOT / package).rglob("*.py")
    if "migrations" not in path.parts
)  # fmt: skip


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module
            for alias in node.names:
                submodule = ROOT / Path(*node.module.split("."), alias.name)
                is_module = submodule.with_suffix(".py").exists() or submodule.is_dir()
                yield f"{node.module}.{alias.name}" if is_module else node.module


def within(module: str, prefix: str) -> bool:
    return module == prefix or (module.startswith(prefix + ".") and prefix != "referee")


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_imports_point_inward(path: Path) -> None:
    name = module_name(path)
    layer = max((prefix for prefix in ALLOWED if name == prefix or name.startswith(prefix + ".")), key=len)
    ours = [module for module in imports(path) if module.split(".")[0] in ("referee", "api", "workers", "tests")]

    strangers = [
        module
        for module in ours
        if not any(within(module, prefix) for prefix in (*ALLOWED[layer], layer)) and not within(module, name)
    ]

    assert not strangers, f"{name} ({layer}) may not import {strangers}"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_the_core_knows_no_clock_chance_or_network(path: Path) -> None:
    name = module_name(path)
    top = {module.split(".")[0] for module in imports(path)}

    if any(within(name, prefix) for prefix in RULES):
        assert not top & FORBIDDEN_IN_RULES
        assert top <= set(__import__("sys").stdlib_module_names) | {"referee"}
    elif any(within(name, prefix) for prefix in CORE):
        assert not top & FORBIDDEN_IN_CORE


def test_only_settings_read_the_environment() -> None:
    readers = [
        module_name(path)
        for path in MODULES
        if any(
            isinstance(node, ast.Attribute) and ast.unparse(node) in ("os.environ", "os.getenv")
            for node in ast.walk(ast.parse(path.read_text()))
        )
    ]

    assert set(readers) <= {"referee.settings"} | {name for name in readers if name.startswith("referee.cli")}
