"""Programs of the machine: tests that need a missing or an older one are skipped, and the summary counts them."""

from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import pytest_terminal_summary
from tests.machine import require


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a program of version 1.9.2, the only one that is installed."""
    write_program(tmp_path / "tool", "tool, version 1.9.2+ds (of 2026)")
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def write_program(path: Path, says: str) -> None:
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)


@pytest.mark.parametrize("least", ["", "1.9", "1.9.2"])
def test_a_program_that_is_new_enough_is_returned(installed: Path, least: str) -> None:
    assert require("tool", "a thing", least) == str(installed / "tool")
    write_program(installed / "newer", "1.10")
    places = [None, str(installed / "tool"), str(installed / "newer")]
    assert require("tool", "a thing", "1.10", places=places) == str(installed / "newer")


def test_what_is_missing_too_old_or_broken_is_named_with_what_is_wanted(installed: Path) -> None:
    write_program(installed / "broken", "cannot start")
    reasons = []
    for name, least in (("tool", "1.10"), ("broken", "1.10"), ("other", "1.10"), ("other", "")):
        with pytest.raises(pytest.skip.Exception) as skipped:
            require(name, "a thing", least)
        reasons.append(str(skipped.value))

    assert reasons == [
        f"NOT RUN: a thing: no tool 1.10 or newer ({installed}/tool is 1.9.2)",
        f"NOT RUN: a thing: no broken 1.10 or newer ({installed}/broken is of no known version)",
        "NOT RUN: a thing: no other 1.10 or newer",
        "NOT RUN: a thing: no other",
    ]


def test_the_summary_counts_every_skipped_test(pytestconfig: pytest.Config) -> None:
    shown = StringIO()
    reporter = pytest.TerminalReporter(pytestconfig, shown)
    reporter.stats["skipped"] = [SimpleNamespace(longrepr=("test_x.py", 1, f"Skipped: {why}")) for why in "xyx"]

    pytest_terminal_summary(reporter)

    assert "= NOT RUN =" in shown.getvalue()
    assert shown.getvalue().endswith("\n2 tests: x\n1 tests: y\n")
