"""The command `referee admin doctor`, for a running service and for none."""

import json
from pathlib import Path

from tests.cli.running import says, service


def test_a_running_service_is_in_order_and_a_failure_makes_the_exit_status_1(tmp_path: Path) -> None:
    with service(tmp_path / "data", "--workers", "1", REFEREE_METRICS="") as up:
        place = ("admin", "doctor", "--data", str(up.folder))
        # What answers at the metadata address depends on the machine, and no test should ask it.
        ran = says({"REFEREE_PUBLIC_URL": up.url}, *place, "--url", up.url, "--skip", "egress")
        failed = says({"REFEREE_RUNNER_SLOTS": "0"}, *place, "--json", status=1)

    lines = ran.stdout.splitlines()
    assert lines[-1].endswith("findings: 0 failures, 1 warnings"), ran.stdout
    checked = {line.split(":")[0].split(None, 1)[1] for line in lines[:-1]}
    assert checked >= {
        *("settings", "disk", "database", "keys", "redis", "runners", "clocks", "backups", "firewall"),
        *("tls", "public url", "proxy", "streams"),
    }
    assert "clocks: the API and Redis differ from this host by at most" in ran.stdout
    assert "streams: not checked: no tournament or match is in progress" in ran.stdout
    (finding,) = json.loads(failed.stdout)
    assert (finding["check"], finding["level"]) == ("settings", "failure")
    assert "REFEREE_RUNNER_SLOTS" in finding["found"]
    assert finding["advice"]


def test_without_a_service_nothing_is_created(tmp_path: Path) -> None:
    refused = says({"REFEREE_MASTER_KEY": None}, "admin", "doctor", "--data", str(tmp_path / "none"), status=1)

    assert "There is no service in" in refused.stderr
    assert list(tmp_path.iterdir()) == []
