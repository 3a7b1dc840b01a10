"""The command `referee admin doctor` as a process, for a running service and for none."""

import json
from pathlib import Path

import pytest

from tests.cli.running import Service, referee, service


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> object:
    with service(tmp_path_factory.mktemp("doctor") / "data", "--workers", "1", REFEREE_METRICS="") as running:
        yield running


def test_a_running_service_is_in_order(up: Service) -> None:
    # What answers at the metadata address depends on the machine, and no test should ask it.
    ran = referee(
        "admin", "doctor", "--data", str(up.folder), "--url", up.url, "--skip", "egress", REFEREE_PUBLIC_URL=up.url
    )

    lines = ran.stdout.splitlines()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert lines[-1].endswith("findings: 0 failures, 1 warnings"), ran.stdout
    checked = {line.split(":")[0].split(None, 1)[1] for line in lines[:-1]}
    assert checked >= {
        *("settings", "disk", "database", "keys", "redis", "runners", "clocks", "backups", "firewall"),
        *("tls", "public url", "proxy", "streams"),
    }
    assert "streams: not checked: no tournament or match is in progress" in ran.stdout


def test_a_failure_makes_the_exit_status_1(up: Service) -> None:
    ran = referee("admin", "doctor", "--data", str(up.folder), "--json", REFEREE_RUNNER_SLOTS="0")

    (finding,) = json.loads(ran.stdout)
    assert ran.returncode == 1
    assert (finding["check"], finding["level"]) == ("settings", "failure")
    assert "REFEREE_RUNNER_SLOTS" in finding["found"]
    assert finding["advice"]


def test_without_a_service_nothing_is_created(tmp_path: Path) -> None:
    ran = referee("admin", "doctor", "--data", str(tmp_path / "none"))

    assert ran.returncode == 1
    assert "There is no service in" in ran.stderr
    assert list(tmp_path.iterdir()) == []
