"""`make env`: a .env of one's own, with which the services accept their settings and nobody else reaches them."""

import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from referee.settings import Settings
from tests.deploy.compose import APP_SERVICES, ROOT, services

SECRETS = ("REFEREE_MASTER_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the program reads, without a history."""
    for name in ("deploy/make_env.py", "referee/version.py", ".env.example"):
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, target)
    return tmp_path


def run(checkout: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(checkout / "deploy/make_env.py")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def values(checkout: Path) -> dict[str, str]:
    lines = (checkout / ".env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def test_the_services_accept_what_it_writes(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(checkout).returncode == 0

    found = services(values(checkout))
    for name in APP_SERVICES:
        with monkeypatch.context() as patch:
            for variable, value in found[name]["environment"].items():
                patch.setenv(variable, value)
            settings = Settings.load()
            assert (settings.env, settings.allow_http) == ("development", True)
            assert settings.egress_allow
    assert all(port.startswith("127.0.0.1:") for port in found["proxy"]["ports"])
    assert found["api"]["image"] == "referee:0.2.0.dev0-unknown"


def test_its_secrets_are_random_and_the_owner_alone_reads_them(checkout: Path) -> None:
    run(checkout)
    first = values(checkout)
    assert stat.S_IMODE((checkout / ".env").stat().st_mode) == 0o600
    (checkout / ".env").unlink()
    run(checkout)
    second = values(checkout)

    assert len({one[name] for one in (first, second) for name in SECRETS}) == 2 * len(SECRETS)
    assert all(len(first[name]) == 64 for name in SECRETS)


def test_it_changes_no_file_that_exists(checkout: Path) -> None:
    (checkout / ".env").write_text("REFEREE_MASTER_KEY=mine\n")

    ran = run(checkout)

    assert (ran.returncode, ran.stdout) == (1, "")
    assert "There is a .env already" in ran.stderr
    assert (checkout / ".env").read_text() == "REFEREE_MASTER_KEY=mine\n"
