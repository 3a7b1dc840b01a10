"""The parts of ``tools/hosts`` that need no hosts, and what it says where none can be made."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.processes import until
from tools.chaos.bots import Ask, Notebook
from tools.hosts import __main__ as command
from tools.hosts.clocks import NoShift, build_library
from tools.hosts.lan import Lan, why_unavailable
from tools.hosts.scaling import Measurement, Scaling
from tools.hosts.silences import Window, measure_window, render_windows
from tools.hosts.versions import ROOT, NoOtherVersion, unpack_oldest, unpack_previous_schema


@pytest.fixture
def notebook() -> Notebook:
    """One match that moves from host a to host b after 30 s, and one that stays at host b and ends at 104."""
    made = Notebook(ended={"mat_stays": 104.0})
    for match_id, host, at in (
        ("mat_moves", "a", 100.0),
        ("mat_moves", "a", 101.0),
        ("mat_stays", "b", 101.5),
        ("mat_moves", "b", 131.0),
        ("mat_moves", "b", 132.0),
    ):
        made.note(Ask("", match_id, 0, "", at, 1, host=host))
    return made


@pytest.mark.parametrize(
    ("window", "now", "silences", "shown"),
    [
        (Window("cut", 105.0, 110.0), 133.0, [(30.0, True)], "mat_moves stood still for 30.0 s"),  # it overlaps
        (Window("later", 140.0, 150.0), 155.0, [(23.0, False)], ""),  # a match that has not ended is silent until now
        (Window("before", 1.0, 2.0), 155.0, [], " 0 "),
    ],
)
def test_the_longest_silence_of_each_match_counts_if_it_overlaps_the_scenario(
    notebook: Notebook, window: Window, now: float, silences: list[tuple[float, bool]], shown: str
) -> None:
    report = measure_window(window, notebook, now=now)

    assert [(found.seconds, found.has_moved) for found in report.silences] == silences
    assert all(found.match_id == "mat_moves" for found in report.silences)
    assert report.moved == sum(moved for _, moved in silences)
    assert report.too_long == report.silences
    assert shown in render_windows([report])


@pytest.mark.parametrize(("seconds", "is_proportional"), [(40.0, True), (60.0, False)])
def test_throughput_is_proportional_if_three_hosts_do_three_quarters_of_three_times_as_much(
    seconds: float, is_proportional: bool
) -> None:
    one = Measurement(1, 30, 30.0, 300, 3000, 600)
    three = Measurement(3, 90, seconds, 900, 9000, 1800)

    scaling = Scaling([one, three])

    assert scaling.is_proportional == is_proportional
    assert "100.0" in scaling.render()  # statements a match


def test_without_root_or_ip_it_is_said_loudly_that_no_hosts_can_be_made(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["hosts"])
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    assert command.main() == command.UNAVAILABLE
    assert capsys.readouterr().out == "*** NOT TESTED: several hosts: network namespaces need root ***\n"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert why_unavailable() == "the command ip is missing; install iproute2"


@pytest.fixture
def hosts() -> None:
    """Skip the test where no hosts can be made."""
    if reason := why_unavailable():
        pytest.skip(f"several hosts NOT RUN: {reason}")


@pytest.mark.usefixtures("hosts")
def test_a_failure_leaves_no_namespace_and_processes_of_a_host_have_its_network() -> None:
    def fail_on_hosts() -> None:
        with Lan(["one", "two"]) as lan:
            with lan["one"].enter_network():
                shown = subprocess.run(["ip", "-brief", "address"], capture_output=True, text=True, check=True).stdout
            assert lan["one"].address in shown
            assert f"{lan.address}/" not in shown
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        fail_on_hosts()

    assert f"referee-hosts-{os.getpid()}" not in _namespaces()


@pytest.mark.usefixtures("hosts")
def test_an_interrupted_campaign_removes_its_hosts() -> None:
    campaign = subprocess.Popen(
        [sys.executable, "-m", "tools.hosts", "--only", "calm"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    until(lambda: f"referee-hosts-{campaign.pid}-worker3" in _namespaces(), "hosts", tell=_namespaces)

    campaign.send_signal(signal.SIGTERM)
    said, _ = campaign.communicate(timeout=60)

    assert campaign.returncode == 128 + signal.SIGTERM, said
    assert f"-{campaign.pid}-" not in _namespaces()


@pytest.mark.usefixtures("hosts")
def test_hosts_of_a_killed_campaign_are_removed_by_the_next() -> None:
    program = "from tools.hosts.lan import Lan; lan = Lan(['one']); lan.__enter__(); input()"
    killed = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdin=subprocess.PIPE)
    until(lambda: f"referee-hosts-{killed.pid}-one" in _namespaces(), "a host", tell=_namespaces)
    killed.kill()
    killed.communicate()

    with Lan([]):
        assert f"-{killed.pid}-" not in _namespaces()


def _namespaces() -> str:
    return subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout


def test_a_shifted_clock_is_built_and_tried(tmp_path: Path) -> None:
    try:
        library = build_library(tmp_path)
    except NoShift as error:
        pytest.skip(f"shifted clocks NOT RUN: {error}")

    assert library.exists()


def test_the_versions_to_run_have_the_schemas_that_they_must(tmp_path: Path) -> None:
    def migrations(checkout: Path) -> set[str]:
        return {path.name for path in (checkout / "referee/db/migrations/versions").glob("[0-9]*.py")}

    try:
        previous = unpack_previous_schema(tmp_path / "previous")
    except NoOtherVersion as error:
        pytest.skip(f"other versions NOT RUN: {error}")
    assert set() < migrations(previous.checkout) < migrations(ROOT)

    try:
        oldest = unpack_oldest(tmp_path / "oldest")
    except NoOtherVersion:  # right after a change of the schema
        return
    assert migrations(oldest.checkout) == migrations(ROOT)
