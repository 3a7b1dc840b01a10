"""What the doctor finds on its host: settings, keys, the disk, and what the network lets through."""

import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.db.engine import Database
from referee.master_keys import MasterKey
from referee.match.signing_keys import SigningKey
from referee.settings import Settings
from referee_extras.doctor import examination, local_checks, network_checks
from referee_extras.doctor.examination import Options
from referee_extras.doctor.network_checks import Target
from tests.database.world import World
from tests.extras.doctor.conftest import lines
from tests.surroundings import MASTER_KEY

GOOD = {
    "REFEREE_ENV": "production",
    "REFEREE_MASTER_KEY": MASTER_KEY.hex(),
    "REFEREE_PUBLIC_URL": "https://referee.example.org",
    "REFEREE_ALLOWED_HOSTS": "referee.example.org",
    "DATABASE_URL": "postgresql://referee@db/referee",
}
IN_ORDER = "ok settings: production; all names are known, and nothing contradicts"
Examine = Callable[..., list[str]]


@pytest.fixture
def examine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Examine:
    def run(**changes: str) -> list[str]:
        environment = GOOD | {"REFEREE_DATA": str(tmp_path)} | changes
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return lines(local_checks.check_settings(environment)[0])

    return run


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, IN_ORDER),
        ({"REFEREE_ACCEPTED_MASTER_KEYS": "ab" * 32}, IN_ORDER),
        (
            {"REFEREE_TRUSTED_PROXYS": "1"},
            "warning settings: REFEREE_TRUSTED_PROXYS is set, but no setting has this name",
        ),
        (
            {"REFEREE_ALLOWED_HOSTS": "other.example.org"},
            "failure settings: REFEREE_ALLOWED_HOSTS does not contain referee.example.org, the host of "
            "REFEREE_PUBLIC_URL",
        ),
        (
            {"REFEREE_PUBLIC_URL": "http://referee.example.org"},
            "warning settings: REFEREE_PUBLIC_URL is http://referee.example.org in production",
        ),
        (
            {"REFEREE_ALLOWED_HOSTS": ""},
            "warning settings: REFEREE_ALLOWED_HOSTS is empty in production: any Host header is served",
        ),
        ({"REFEREE_RATE_LIMITS": "false"}, "warning settings: REFEREE_RATE_LIMITS is off in production"),
        (
            {"REFEREE_ENV": "development"},
            "warning settings: REFEREE_ENV is development, but REFEREE_PUBLIC_URL is an https URL",
        ),
        (
            {"DATABASE_URL": "", "REDIS_URL": "redis://r/0"},
            "warning settings: DATABASE_URL is not set: SQLite serves the processes of one host only",
        ),
    ],
)
def test_settings_that_contradict_and_unknown_names_are_found(
    examine: Examine, changes: dict[str, str], line: str
) -> None:
    assert examine(**changes) == [line]


def test_a_misspelt_name_is_corrected() -> None:
    (finding,) = local_checks._find_unknown({"REFEREE_TRUSTED_PROXYS": "1"})

    assert finding.advice == "Did you mean REFEREE_TRUSTED_PROXIES?"


def test_an_invalid_value_ends_the_examination(examine: Examine) -> None:
    examine(DATABASE_URL="mysql://u:hunter2@db/x")
    *_, of_database = lines(list(examination.examine(GOOD, Options())))
    (of_settings,) = examine(REFEREE_RUNNER_SLOTS="many")

    address = "DATABASE_URL must be like postgresql://user@host/name or sqlite:////path/to/file"
    assert of_database == f"failure database: {address}"
    assert of_settings.startswith("failure settings:")
    assert "REFEREE_RUNNER_SLOTS" in of_settings
    assert not of_settings.endswith(".")


def test_K34_the_master_key_is_private_and_it_or_an_accepted_one_signed_the_last_log(
    settings: Settings, database: Database
) -> None:
    key, by_environment = settings.data_dir / "master.key", {"REFEREE_MASTER_KEY": bytes(32).hex()}
    key.write_text(MASTER_KEY.hex())
    key.chmod(0o600)
    old, new = (SigningKey.derive(each).public.id for each in (MASTER_KEY, bytes(32)))
    private = "ok keys: the master key is private; it signs with key"

    def check(environment: dict[str, str] | None = None, master_key: bytes = MASTER_KEY) -> str:
        own = replace(settings, master_key=master_key)
        (line,) = lines(local_checks.check_keys(own, environment or {}, database))
        return line

    assert check() == f"{private} {old}; no log has been signed yet"
    world = World(database)
    world.play(world.bots(2))
    assert check() == f"{private} {old}; the last log was signed with it"
    said = f"failure keys: this master key signs with key {new}, but the last log was signed with {old}"
    assert check(master_key=bytes(32)) == said
    rotated = check(by_environment, MasterKey(bytes(32), [MASTER_KEY]))
    assert rotated == f"{private} {new}; the last log was signed with the accepted key {old}"

    key.chmod(0o644)
    assert check() == f"failure keys: {key} has mode 0644: other users of this host may read the master key"


@pytest.mark.parametrize(
    ("folder", "free", "line"),
    [
        ("", 5 << 30, "ok disk: {} can be written to and has 5.0 GiB free"),
        ("", 1 << 30, "warning disk: {} has 1.0 GiB free"),
        ("", 9 << 20, "failure disk: {} has 9 MiB free"),
        ("none", None, "failure disk: {} cannot be written to: No such file or directory"),
    ],
)
def test_the_room_on_a_disk_is_judged(tmp_path: Path, folder: str, free: int | None, line: str) -> None:
    assert lines(local_checks.check_disk([tmp_path / folder], free)) == [line.format(tmp_path / folder)]
    assert list(tmp_path.iterdir()) == []


def nowhere(_target: Target) -> bool:
    return False


def test_a_metadata_service_that_answers_is_found(settings: Settings) -> None:
    canary = replace(settings, dns_canary="referee.example.org", public_url="https://referee.example.org:8443")
    reached: list[Target] = []

    def connect(target: Target) -> bool:
        reached.append(target)
        return target[0] == "referee.example.org"

    with closing(socket.create_server(("127.0.0.1", 0))) as metadata:
        target = ("127.0.0.1", metadata.getsockname()[1])
        found, *_ = lines(network_checks.check_egress(settings, metadata=[target]))

    assert found == "failure egress: the metadata service of the cloud answers at 127.0.0.1"
    reachable = "ok internet: referee.example.org was looked up and reached"
    assert lines(network_checks.check_egress(canary, connect=connect)) == [reachable]
    assert reached[:3] == [("169.254.169.254", 80), ("100.100.100.200", 80), ("fd00:ec2::254", 80)]
    assert reached[3:] == [("referee.example.org", 8443)]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"egress_allow": "169.254.0.0/16:1-65535"},
            "failure egress: REFEREE_EGRESS_ALLOW lets bots have the address 169.254.169.254 of the metadata service",
        ),
        (
            {"egress_allow": "127.0.0.1/32:1024-65535"},
            "warning egress: REFEREE_EGRESS_ALLOW lets bots have private addresses: 127.0.0.1/32:1024-65535",
        ),
        (
            {"dns_canary": "referee.example.org"},
            "failure internet: referee.example.org cannot be looked up or reached on port 443",
        ),
        ({}, "skipped internet: not checked: no public name is known"),
    ],
)
def test_a_policy_with_private_addresses_and_a_host_without_internet_are_found(
    settings: Settings, changes: dict[str, Any], line: str
) -> None:
    assert lines(network_checks.check_egress(replace(settings, **changes), connect=nowhere))[0] == line


def test_a_firewall_is_noticed_by_what_it_rejects() -> None:
    found = lines([network_checks.check_firewall(), network_checks.check_firewall(nowhere)])

    assert found == [
        "warning firewall: this user may connect to private addresses",
        "ok firewall: a firewall rejects private addresses for this user",
    ]
