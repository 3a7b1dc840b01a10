"""The alert rules: their form, that the metrics and labels they name exist, and what Prometheus makes of them."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from redis import Redis

from referee.db.engine import Database
from referee.match.match import FAULTS
from referee.metrics import catalog, shared
from referee.metrics.process_metrics import ProcessMetrics
from referee.metrics.shared import Sender
from tests.machine import require
from tests.metrics import promtool
from tests.metrics.conftest import Samples, scrape, serving
from workers import reports

ROOT = Path(__file__).parent.parent.parent
GROUPS = yaml.safe_load((ROOT / "deploy/alerts.yml").read_text())["groups"]
RULES: list[dict[str, Any]] = [rule for group in GROUPS for rule in group["rules"]]
DURATION = re.compile(r"\d+[smhd]")
FUNCTIONS = {"absent", "increase", "rate", "sum", "by", "histogram_quantile", "le", "or"}
VALUES = {"code": set(FAULTS), "status": {"5xx"}, "kind": {"api", "page"}, "outcome": {"failed"}, "player": {"bot"}}


def anchors_of(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.fixture
def samples(database: Database, redis_url: str) -> Samples:
    """Return the samples of a service in which everything was counted once."""
    recorder = ProcessMetrics()
    for metric in catalog.COUNTED:
        labels = ["some"] * len(metric.labels)
        if metric.buckets:
            recorder.observe(metric, 0.1, *labels)
        else:
            recorder.count(metric, *labels)
    Sender(recorder, shared.connect(redis_url)).send()
    reports.report_queue(Redis.from_url(redis_url), reports.QueueReport(None))
    with serving(database, redis_url) as server:
        found = scrape(server)
    found["referee_audit_age_seconds", ()] = 0
    for name in ("overdue_seconds", "members_due", "results_total"):
        found[f"referee_ladder_{name}", (("ladder", "some"),)] = 0
    return found


def test_the_file_has_the_form_of_rules_each_with_a_link_to_a_section() -> None:
    assert [set(group) for group in GROUPS] == [{"name", "rules"}]
    assert len({rule["alert"] for rule in RULES}) == len(RULES) >= 15
    for rule in RULES:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}, rule
        assert re.fullmatch(r"Referee[A-Za-z]+", rule["alert"])
        assert DURATION.fullmatch(rule.get("for", "1m"))
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert set(rule["annotations"]) == {"summary", "description", "runbook"}
        assert rule["annotations"]["description"].endswith(".")
        page, _, anchor = rule["annotations"]["runbook"].partition("#")
        assert anchor in anchors_of(ROOT / page)


def test_each_rule_names_metrics_that_exist(samples: Samples) -> None:
    labels_of = {name: {label for label, _ in labels} for name, labels in samples}
    for rule in RULES:
        expression = rule["expr"]
        assert expression.count("(") == expression.count(")")
        named = re.findall(r"(referee_[a-z_]+)(?:\{([^}]*)\})?", expression)
        assert named, rule["alert"]
        for name, conditions in named:
            assert name in labels_of, (rule["alert"], name)
            for label, values in re.findall(r'([a-z_]+)=~?"([^"]*)"', conditions or ""):
                assert label in labels_of[name], (rule["alert"], name, label)
                assert set(values.split("|")) <= VALUES.get(label, set(values.split("|"))), (rule["alert"], values)
        bare = re.sub(r"referee_[a-z_]+|\{[^}]*\}|\[\d+[smhd]\]", "", expression)
        assert set(re.findall(r"[a-z_]+", bare)) <= FUNCTIONS, rule["alert"]
        shown = set(re.findall(r"\$labels\.([a-z_]+)", str(rule["annotations"])))
        assert shown <= set().union(*(labels_of[name] for name, _ in named)), rule["alert"]


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
