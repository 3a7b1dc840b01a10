"""The parts of ``tools/compose`` that need no container engine, and what it says where there is none."""

import os
import re
import sys

import pytest
import yaml

from tools.compose import __main__ as command
from tools.compose import images, stack
from tools.compose.engine import CommandFailed, run, why_no_engine
from tools.compose.images import IMAGES, find_base_images
from tools.compose.steps import STEPS, StepNotTested


def test_without_an_engine_the_command_says_loudly_that_nothing_was_tested_and_what_is_lacking(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["compose"])
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("PATH", "/nowhere")

    assert command.main() == command.NO_ENGINE
    said = capsys.readouterr().out
    assert "*** NOT TESTED: no container was started, because no engine is available: " in said
    assert "needs root" in said
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert why_no_engine().startswith("dockerd, docker, ip, iptables, nft, unshare, debootstrap not found; install ")


def test_every_image_of_our_files_has_a_stand_in_that_of_postgres_in_its_version() -> None:
    kinds = {name.partition(":")[0] for name in find_base_images()}

    assert kinds == {path.name.partition(".")[0] for path in IMAGES.glob("*.Dockerfile")}
    assert kinds == set(images.VERSION_COMMANDS)
    (version,) = re.findall(r"postgres:(\d+)", " ".join(find_base_images()))
    assert f"/usr/lib/postgresql/{version}/bin" in (IMAGES / "postgres.Dockerfile").read_text()
    assert f"postgresql-{version}" in images.PACKAGES


def test_the_files_of_tls_are_where_the_docs_mount_them() -> None:
    docs = (stack.ROOT / "docs/operations.md").read_text()

    mounts = re.findall(rf"^ +- \S+:{stack.TLS_FOLDER}/(\S+):ro$", docs, re.MULTILINE)

    assert sorted(mounts) == ["fullchain.pem", "privkey.pem", "tls.conf"]
    assert f"include {stack.TLS_FOLDER}/*.conf;" in (stack.ROOT / "deploy/nginx.conf").read_text()
    assert f"{stack.TLS_FOLDER}/fullchain.pem" in (stack.ROOT / "deploy/tls.conf").read_text()


def test_version_1_of_compose_gets_the_file_without_the_option_that_it_refuses() -> None:
    text = (stack.ROOT / "docker-compose.yml").read_text()

    without = stack.UNKNOWN_TO_1.sub("", text)

    assert "create_host_path" in text
    assert "create_host_path" not in without
    mount = yaml.safe_load(without)["services"]["migrate"]["volumes"][0]
    assert (mount["type"], mount["read_only"]) == ("bind", True)


def test_a_failed_command_is_reported_with_the_end_of_its_output() -> None:
    with pytest.raises(CommandFailed, match="status 3\nbroken"):
        run(["sh", "-c", "echo broken; exit 3"], {})


def test_a_step_that_fails_ends_the_test_and_one_that_cannot_be_done_does_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def cannot() -> str:
        raise StepNotTested("no history")

    def fails() -> str:
        raise AssertionError("2 results instead of 3")

    outcomes = [command.report_step("step", step) for step in (lambda: "seen", cannot, fails)]

    said = capsys.readouterr().out
    assert outcomes == [True, True, False]
    assert "step: seen" in said
    assert "*** NOT TESTED: step: no history ***" in said
    assert "FAILED" in said
    assert "2 results instead of 3" in said


def test_everything_is_removed_at_the_end_and_an_unknown_step_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(STEPS)[-1] == "take everything down"
    assert command.parse_options(["--skip", "load the firewall"]).skip == ["load the firewall"]
    with pytest.raises(SystemExit):
        command.parse_options(["--skip", "nothing"])
    assert "load the firewall" in capsys.readouterr().err
