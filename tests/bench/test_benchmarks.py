"""Run every benchmark in its smallest form and check the form of its output, not the figures."""

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions, version
from pathlib import Path
from runpy import run_module
from typing import Any

import pytest

import bench
from bench.__main__ import NAMES, flatten
from bench.measure import describe_machine, significant
from bench.peers.__main__ import compare_with_ours

LIMIT_S = 240
LONG = {  # each starts several processes or fills large databases
    *("streams", "latency", "requests", "open_pages", "newcomer", "growth")
}
PEERS = Path(bench.__file__).parent / "peers" / "requirements.lock"


def test_every_module_that_is_a_benchmark_is_listed() -> None:
    folder = Path(bench.__file__).parent

    programs = {path.stem for path in folder.glob("*.py") if "bench.measure import Benchmark" in path.read_text()}

    assert programs == set(NAMES)


@pytest.fixture(scope="module")
def of_the_machine() -> dict[str, Any]:
    return describe_machine()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name in LONG else name for name in NAMES]
)
def test_a_benchmark_prints_one_line_of_figures(
    name: str, of_the_machine: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--quick"])
    monkeypatch.delitem(sys.modules, f"bench.{name}", raising=False)
    run_module(f"bench.{name}", run_name="__main__")

    (line,) = capfd.readouterr().out.splitlines()
    result = json.loads(line)
    assert set(result) == {"benchmark", "about", "quick", "figures", *of_the_machine}
    assert (result["benchmark"], result["quick"]) == (name, True)
    assert result["figures"]
    assert all(isinstance(value, int | float | str) for value in leaves(result["figures"]))


def test_peers_that_are_not_installed_are_named_and_ours_are_measured() -> None:
    command = [sys.executable, "-m", "bench.peers", "--quick"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)

    assert ran.returncode == 0, ran.stderr
    figures = json.loads(ran.stdout)["figures"]
    for kind in ("engines, decisions", "environments, steps", "poker hands"):
        assert figures[kind].pop("ours")
        absent = {name for name, reached in figures[kind].items() if not isinstance(reached, dict)}
        assert absent, "the tests install OpenSpiel and PettingZoo, but not all the peers"
        assert all(figures[kind][name].startswith("not measured: No module named") for name in absent)
    tensors = figures["OpenSpiel with tensors, decisions"]
    assert tensors.keys() == {"ours", f"open-spiel {version('open-spiel')}"}
    assert all(reached["geometric mean"] > 0 for reached in tensors.values())


def test_our_side_of_the_comparison_needs_only_what_its_environment_installs() -> None:
    command = (
        "import sys; before = {*sys.modules}; from bench.peers import environments, hands, playouts;"
        "hands.ours(), playouts.ours(), environments.ours(), environments.ours_in_openspiel();"
        "print(*{name.partition('.')[0] for name in {*sys.modules} - before})"
    )
    lines = PEERS.read_text().splitlines()

    ran = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, timeout=LIMIT_S, check=True)

    installed = {normalized(line.partition("==")[0]) for line in lines if not line.startswith("#")}
    sources = packages_distributions()
    needed = {normalized(sources[module][0]) for module in ran.stdout.split() if module in sources}
    assert needed - {"referee"} <= installed


def test_figures_are_compared_named_and_rounded() -> None:
    missing = "not measured: No module named 'pettingzoo'"

    assert compare_with_ours({"ours": missing, "rlcard 1.2.0": {"mean": 2.0}}, "mean") == {}
    assert compare_with_ours({"ours": {"mean": 3.0}, "rlcard 1.2.0": {"mean": 2.0}}, "mean") == {"rlcard 1.2.0": 1.5}
    assert list(flatten({"a": {"b": 1234}, "c": "d"})) == [("a, b", "1,234"), ("c", "d")]
    assert [significant(value) for value in (0.012345, 12.345, 12345.6)] == [0.0123, 12.3, 12300.0]


def normalized(distribution: str) -> str:
    return distribution.lower().replace("_", "-")


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for member in value.values():
            yield from leaves(member)
    else:
        yield value
