"""Who may import whom: every import of the packages is checked against an allow-list a layer.

Extras import the service, which imports no extra.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import referee_extras
from referee import plugs

ROOT = Path(__file__).parent.parent
RULES = ("referee.errors", "referee.games")
CORE = ("referee.match", "referee.ratings", "referee.pairing", "referee.standings")  # no I/O
BELOW = (  # the version, settings, leaves
    *("referee", "referee.settings", "referee.emblems", "referee.figures", "referee.project_files"),
    *("referee.master_keys", "referee.private_files", "referee.private_ranges"),
    *("referee.csv_table", "referee.timestamps", "referee.version", "referee.events", "referee.plugs"),
)
WIRE = ("referee.protocol", "referee.botclient", "referee.conformance", "referee.house", "referee.viewer")
DATABASE = ("referee.db",)  # below every area
AREAS = (  # each may use those before it
    *("referee.accounts", "referee.bots", "referee.matches"),
    *("referee.friendlies", "referee.ladders", "referee.tournaments"),
)
LIBRARY = (
    *("referee.local", "referee.runtime", "referee.metrics", "referee.rulebook", "referee.labels"),
    "referee.schema",
)
PURE = (*RULES, *CORE)
EXTRAS = [*(extra.name for extra in plugs.extras()), *referee_extras.LIBRARIES]
USED_EXTRAS = {  # those that an extra imports, as its README says
    "notifications": ("referee_extras.retention",),
    "series": ("referee_extras.feeds",),
}
REFEREE = (*BELOW, *PURE, *WIRE, *DATABASE, *AREAS, "referee.audit", "referee.workflows", *LIBRARY)
ALLOWED: dict[str, tuple[str, ...]] = {  # the longest prefix that fits a module rules it
    "referee": ("referee.version",),  # imported when it is first used
    "referee.errors": (),
    "referee.games": RULES,
    **dict.fromkeys(CORE, (*PURE, "referee")),
    "referee.standings": (*PURE, "referee", "referee.figures"),
    "referee.master_keys": (),
    "referee.private_files": (),
    "referee.private_ranges": (),
    "referee.project_files": (),
    "referee.timestamps": ("referee.errors",),
    "referee.csv_table": ("referee.timestamps",),
    "referee.events": (),
    "referee.plugs": ("referee.errors", "referee.events"),
    "referee.version": (),
    "referee.settings": ("referee.errors", "referee.master_keys", "referee.plugs", "referee.private_ranges"),
    "referee.protocol": (*BELOW, *PURE),
    "referee.viewer": (*PURE, "referee.protocol"),
    "referee.botclient": (*BELOW, *PURE, "referee.protocol"),
    "referee.house": (*BELOW, *PURE, "referee.protocol", "referee.botclient"),
    "referee.conformance": (*BELOW, *PURE, "referee.protocol", "referee.botclient", "referee.house"),
    "referee.db": (*BELOW, "referee.errors"),
    "referee.db.migrations": ("referee.schema", "referee.db"),
    **{area: (*BELOW, *PURE, *WIRE, *DATABASE, *AREAS[:place]) for place, area in enumerate(AREAS)},
    "referee.audit": (*BELOW, *PURE, *DATABASE, *AREAS),
    "referee.workflows": (*BELOW, *PURE, *WIRE, *DATABASE, *AREAS),
    "referee.schema": (*DATABASE, *AREAS),
    "referee.rulebook": (*RULES, "referee.project_files"),
    "referee.labels": AREAS,  # labels of their states
    "referee.runtime": (*BELOW, *PURE, *WIRE, "referee.db"),
    "referee.metrics": (*BELOW, *PURE, *DATABASE, *AREAS, "referee.audit"),
    "referee.local": (*BELOW, *PURE, *WIRE, "referee.runtime"),
    "referee.cli": REFEREE,
    "referee.__main__": ("referee.cli",),
    "workers": (*REFEREE, "workers"),
    "api": (*REFEREE, "api", "workers.queue_watch", "workers.queues", "workers.reports"),
    "referee_extras": (),
    **{
        f"referee_extras.{name}": (*REFEREE, "referee.cli", "api", "workers", *USED_EXTRAS.get(name, ()))
        for name in EXTRAS
    },
    **{
        f"referee_extras.{name}": (*BELOW, *PURE, *WIRE, "referee.rulebook", "referee.local")
        for name in referee_extras.LIBRARIES
    },
}
PUBLIC = {  # the modules of an area that other areas import; the rest of it is its own
    "referee.accounts": {"accounts", "co_organisers", "entry_consent", "reserved_names", "roles", "tables"},
    "referee.bots": {"bots", "certificates", "checks", "handshakes", "house_bots", "states", "tables"},
    "referee.matches": {"cancelling", "lists", "matches", "queue", "scheduling", "states", "tables", "usual_states"},
    "referee.friendlies": set(),
    "referee.ladders": {"ratings", "tables"},
    "referee.tournaments": set(),
}
FOR_EXTRAS = {  # the modules of the areas, of the workflows above them, and of commands, that extras may import
    "referee.accounts": {
        *("accounts", "act_kinds", "acts", "co_organisers", "oversight_tables", "reserved_names", "roles"),
        *("scopes", "tables"),
    },
    "referee.bots": {"bots", "checks", "states", "tables"},
    "referee.matches": {
        *("deals.deal_groups", "lists.match_filters", "lists.results", "logs.chain", "logs.log_pruning", "logs.logs"),
        *("matches", "states", "tables", "usual_states"),
    },
    "referee.friendlies": set(),
    "referee.ladders": {
        *("kinds", "ladder_rows", "match_ratings", "months", "owner_exchanges", "ranks", "rating_errors"),
        *("ratings", "strengths", "tables"),
    },
    "referee.tournaments": {
        *("announcement", "entries", "rounds", "standings", "states", "table_options", "tables", "terms"),
        *("tournaments", "watching"),
    },
    "referee.cli": {
        *("admin", "audit", "lazy_group", "live_view", "logs", "options", "output", "plain_text", "play"),
        *(
            "problem_report",
            "progress",
            "service.api_client",
            "service.log_files",
            "service.lookup",
            "service.remote",
            "tables",
        ),
        *("results_table", "up"),
    },
    "referee.workflows": {"accounts.invitations", "erasing.account_export", "publishing.visibility", "voids.voiding"},
}
FORBIDDEN_IN_RULES = {"random", "secrets", "time", "datetime", "os", "logging", "asyncio", "threading", "socket"}
FORBIDDEN_IN_CORE = FORBIDDEN_IN_RULES - {"random"}  # house players are handed their dice
MODULES = sorted(
    path for package in ("referee", "api", "workers", "referee_extras") for path in (ROOT / package).rglob("*.py")
    if "migrations" not in path.parts
)  # fmt: skip


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text())))


@cache
def imports(path: Path) -> list[str]:
    found: list[str] = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module
            for alias in node.names:
                submodule = ROOT / Path(*node.module.split("."), alias.name)
                is_module = submodule.with_suffix(".py").exists() or submodule.is_dir()
                found.append(f"{node.module}.{alias.name}" if is_module else node.module)
    return found


def top_imports(path: Path) -> set[str]:
    return {module.partition(".")[0] for module in imports(path)}


def within(module: str, prefix: str) -> bool:
    return module == prefix or (module.startswith(prefix + ".") and prefix != "referee")


def test_imports_point_inward() -> None:
    strangers = {
        f"{name} ({layer}) may not import {module}"
        for path in MODULES
        for name, layer in [(module_name(path), layer_of(module_name(path)))]
        for module in imports(path)
        if module.split(".")[0] in ("referee", "referee_extras", "api", "workers", "tests")
        and not any(within(module, prefix) for prefix in (*ALLOWED[layer], layer, name))
    }

    assert strangers == set()


def layer_of(name: str) -> str:
    return max((prefix for prefix in ALLOWED if name == prefix or name.startswith(prefix + ".")), key=len)


def test_every_extra_is_in_the_list() -> None:
    folders = {path.parent.name for path in (ROOT / "referee_extras").glob("*/__init__.py")}

    assert folders == set(EXTRAS)
    assert len(EXTRAS) == len(set(EXTRAS))


@pytest.mark.parametrize("name", EXTRAS)
def test_an_extra_has_a_readme_and_tests_and_says_which_extras_it_imports(name: str) -> None:
    readme = (ROOT / "referee_extras" / name / "README.md").read_text()

    assert all(f"`{used}`" in readme for used in USED_EXTRAS.get(name, ()))
    assert list((ROOT / "tests/extras" / name).glob("test_*.py"))


@pytest.mark.parametrize("area", AREAS)
def test_areas_import_each_other_through_their_public_modules(area: str) -> None:
    taken = {
        used.split(".")[2]
        for importer, used in all_imports()
        if within(used, area) and used != area and not within(importer, area) and importer.startswith(AREAS)
    }

    assert taken == PUBLIC[area]


@pytest.mark.parametrize("area", FOR_EXTRAS)
def test_extras_import_the_areas_through_the_modules_listed_for_them(area: str) -> None:
    """A module that only an extra needs becomes part of the extra."""
    taken = {
        used.removeprefix(f"{area}.")
        for importer, used in all_imports()
        if within(used, area) and used != area and importer.startswith("referee_extras.")
    }

    assert taken <= FOR_EXTRAS[area]


@cache
def all_imports() -> list[tuple[str, str]]:
    return [(module_name(path), used) for path in MODULES for used in imports(path)]


def package_graph(package: str, pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Return which members of a package (modules and packages, each with all it contains) import which others.
    ``pairs`` are importing and imported modules."""

    def member(module: str) -> str | None:
        depth = package.count(".") + 2
        return ".".join(module.split(".")[:depth]) if module.startswith(package + ".") else None

    graph: dict[str, set[str]] = defaultdict(set)
    for importer, used in ((member(importer), member(used)) for importer, used in pairs):
        if importer and used and importer != used:
            graph[importer].add(used)
    return graph


PACKAGES = sorted({module_name(path) for path in MODULES if path.name == "__init__.py"})


def test_members_of_a_package_do_not_import_each_other_in_a_circle() -> None:
    for package in PACKAGES:
        TopologicalSorter(package_graph(package, all_imports())).prepare()  # raises CycleError, which names the circle


def test_a_circle_is_found_though_no_two_modules_import_each_other() -> None:
    pairs = [("referee.a.one", "referee.b.two"), ("referee.b.three", "referee.c"), ("referee.c.four", "referee.a.five")]

    assert package_graph("referee.a", pairs) == {}
    with pytest.raises(CycleError, match=r"referee\.[abc]"):
        TopologicalSorter(package_graph("referee", pairs)).prepare()


@pytest.mark.parametrize(
    ("layers", "forbidden"),
    [(RULES, FORBIDDEN_IN_RULES), (CORE, FORBIDDEN_IN_CORE)],
    ids=["rules", "core"],
)
def test_the_core_knows_no_clock_chance_or_network(layers: tuple[str, ...], forbidden: set[str]) -> None:
    found = {(path, top) for path in paths_of(layers) for top in top_imports(path)}

    assert {(path, top) for path, top in found if top in forbidden} == set()


def test_rules_import_the_standard_library_alone() -> None:
    used = {top for path in paths_of(RULES) for top in top_imports(path)}

    assert used <= sys.stdlib_module_names | {"referee"}


def paths_of(layers: tuple[str, ...]) -> list[Path]:
    return [path for path in MODULES if any(within(module_name(path), prefix) for prefix in layers)]


def test_only_settings_read_the_environment() -> None:
    readers = [
        module_name(path)
        for path in MODULES
        if any(
            isinstance(node, ast.Attribute) and ast.unparse(node) in ("os.environ", "os.getenv")
            for node in nodes_of(path)
        )
    ]

    terminal = ("referee.cli", "referee.local", "referee.runtime")
    assert {name for name in readers if not name.startswith(terminal)} <= {"referee.settings"}


def test_only_the_command_line_draws_on_a_terminal() -> None:
    drawing = {module_name(path) for path in MODULES if {"click", "rich"} & top_imports(path)}

    of_extras = {name for name in drawing if re.search(r"commands(\.|$)", name)}
    assert {name for name in drawing - of_extras if not within(name, "referee.cli")} == set()


def test_only_the_application_imports_the_resources_of_the_api() -> None:
    resources = {name for name in map(module_name, MODULES) if name.startswith("api.") and name.endswith("resource")}
    importers = {module_name(path) for path in MODULES for module in imports(path) if module in resources}

    assert importers == {"api.app"}
    assert len(resources) > 10


# A session to annotate and hand on, and exceptions to answer; queries are the store's.
SQL_IN_API = {"sqlalchemy.orm.Session", "sqlalchemy.exc", "sqlalchemy.exc.SQLAlchemyError"}
PROBES = {"api.health.resource": {"sqlalchemy.text"}}  # asks whether the database answers at all
QUERYING = {"execute", "scalar", "scalars"}  # of a session


def test_the_api_asks_the_database_only_through_the_store() -> None:
    """Modules of extras that use the API are part of it."""
    wrong: list[str] = []
    using_api = {importer for importer, used in all_imports() if within(used, "api")}
    of_api = {name for name in using_api if name.startswith("referee_extras.")}
    for path in (path for path in MODULES if module_name(path).startswith("api.") or module_name(path) in of_api):
        name, nodes = module_name(path), nodes_of(path)
        taken = {
            f"{node.module}.{alias.name}"
            for node in nodes
            if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "sqlalchemy"
            for alias in node.names
        }
        taken |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        sql = {one for one in taken if one.startswith("sqlalchemy")} - SQL_IN_API - PROBES.get(name, set())
        asked = {node.attr for node in nodes if isinstance(node, ast.Attribute)} & QUERYING
        wrong += [f"{name}: {one}" for one in sorted(sql | (asked if name not in PROBES else set()))]

    assert not wrong, f"these belong in the areas of referee: {wrong}"
