"""The alert rules as Prometheus reads them: each fires when it should, and is silent close to its limit."""

import re
import subprocess
from pathlib import Path

import yaml

from tests.machine import require
from tests.metrics import promtool
from tests.metrics.test_alerts import ROOT, RULES

CASES = Path(__file__).parent / "alerts_test.yml"


def run(*words: str) -> str:
    """Run promtool and return what it prints."""
    program = require("promtool", "the alert rules in Prometheus", promtool.LEAST, places=[promtool.found()])
    result = subprocess.run([program, *words], capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_prometheus_reads_the_rules() -> None:
    assert f"SUCCESS: {len(RULES)} rules found" in run("check", "rules", str(ROOT / "deploy/alerts.yml"))


def test_each_alert_fires_and_is_silent_as_the_cases_say() -> None:
    assert "SUCCESS" in run("test", "rules", str(CASES))


def test_each_alert_has_a_case_in_which_it_fires_and_one_in_which_it_is_silent() -> None:
    names = {case["name"] for case in yaml.safe_load(CASES.read_text())["tests"]}

    assert names == {f"{rule['alert']} {what}" for rule in RULES for what in ("fires", "stays silent")}


def test_values_are_shown_for_people() -> None:
    shown = {value for rule in RULES for value in re.findall(r"\{\{[^}]*\$value[^}]*\}\}", str(rule["annotations"]))}

    assert {"{{ $value }}", "{{ humanizeDuration $value }}"} <= shown
    for rule in RULES:
        if "{{ $value }}" in rule["annotations"]["summary"]:  # only whole numbers are shown as they are
            assert "rate(" not in rule["expr"]
            assert "increase(" not in rule["expr"]
