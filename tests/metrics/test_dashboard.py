"""The dashboard for Grafana: its form, and that it shows all metrics, with labels that exist."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from referee.metrics import catalog
from tests.machine import require
from tests.metrics import promtool
from tests.metrics.conftest import Samples
from tests.metrics.test_alerts import ROOT, samples  # noqa: F401  # a fixture

DASHBOARD: dict[str, Any] = json.loads((ROOT / "deploy/dashboard.json").read_text())
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]
ROWS = [panel["title"] for panel in PANELS if panel["type"] == "row"]
TARGETS: list[dict[str, Any]] = [target for panel in PANELS for target in panel.get("targets", [])]
WORDS = {"sum", "by", "rate", "increase", "histogram_quantile", "le"}
LEFT_OUT = {  # metrics of the service that no panel shows, each with a reason
    "referee_extra_failures_total"  # an error of the code: the log has it
}
PART = re.compile(r"_(bucket|count|sum|created)$")


def named_metrics(expression: str) -> list[tuple[str, str]]:
    return re.findall(r"(referee_[a-z_]+)(?:\{([^}]*)\})?", expression)


def test_the_dashboard_has_a_row_for_each_area_and_asks_the_chosen_prometheus() -> None:
    assert [
        *("Service", "Matches", "Decisions and their time", "Faults of bots", "Queue and workers"),
        *("HTTP", "Streams", "Database", "Ladders"),
    ] == ROWS
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    assert all(panel["targets"] and panel["title"] for panel in PANELS if panel["type"] != "row")
    (variable,) = DASHBOARD["templating"]["list"]
    assert (variable["name"], variable["type"], variable["query"]) == ("source", "datasource", "prometheus")
    assert all(target["datasource"] == {"type": "prometheus", "uid": "${source}"} for target in TARGETS)


def test_each_expression_names_metrics_and_labels_that_exist_and_each_metric_is_shown(
    samples: Samples,  # noqa: F811
) -> None:
    labels_of: dict[str, set[str]] = {}
    for name, labels in samples:
        labels_of.setdefault(name, set()).update(label for label, _ in labels)
    for target in TARGETS:
        expression = target["expr"]
        named = named_metrics(expression)
        assert named
        for name, conditions in named:
            assert name in labels_of, name
            assert set(re.findall(r'([a-z_]+)[=!]~?"', conditions)) <= labels_of[name]
        common = set.intersection(*(labels_of[name] for name, _ in named))
        grouped = {label for labels in re.findall(r"by \(([^)]*)\)", expression) for label in labels.split(", ")}
        assert grouped <= common, expression
        legend = set(re.findall(r"\{\{([a-z_]+)\}\}", target["legendFormat"]))
        assert legend <= (grouped if "sum" in expression else common), expression

    shown = {PART.sub("", name) for target in TARGETS for name, _ in named_metrics(target["expr"])}
    offered = {PART.sub("", name) for name, _ in samples if name.startswith("referee_")}
    assert {metric.name for metric in catalog.COUNTED} <= {name.removesuffix("_total") for name in offered}
    assert offered - LEFT_OUT == shown


def test_prometheus_reads_each_expression(tmp_path: Path) -> None:
    purpose = "the expressions of the dashboard in Prometheus"
    program = require("promtool", purpose, promtool.LEAST, places=[promtool.found()])
    expressions = [target["expr"].replace("$__rate_interval", "5m") for target in TARGETS]
    rules = [{"record": f"panel:{number}", "expr": expression} for number, expression in enumerate(expressions)]
    (tmp_path / "rules.yml").write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))

    command = [program, "check", "rules", str(tmp_path / "rules.yml")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert result.returncode == 0, result.stdout + result.stderr
    assert f"{len(TARGETS)} rules found" in result.stdout
