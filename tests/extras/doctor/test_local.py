"""What the doctor finds on its host: settings, keys, the disk, and what the network lets through."""

import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from referee.db.engine import Database
from referee.master_keys import MasterKey
from referee.match.signing_keys import SigningKey
from referee.settings import Settings
from referee_extras.doctor import examination, local_checks, network_checks
from referee_extras.doctor.examination import Options
from referee_extras.doctor.network_checks import Target
from tests.database.world import World
from tests.deploy.compose import example
from tests.extras.doctor.conftest import lines
from tests.surroundings import MASTER_KEY

GOOD = {
    "REFEREE_ENV": "production",
    "REFEREE_MASTER_KEY": MASTER_KEY.hex(),
    "REFEREE_PUBLIC_URL": "https://referee.example.org",
    "REFEREE_ALLOWED_HOSTS": "referee.example.org",
    "DATABASE_URL": "postgresql://referee@db/referee",
}


@pytest.fixture
def examine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[str]]:
    def run(**changes: str) -> list[str]:
        environment = GOOD | {"REFEREE_DATA": str(tmp_path)} | changes
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return lines(local_checks.check_settings(environment)[0])

    return run


def test_good_settings_are_in_order(examine: Callable[..., list[str]]) -> None:
    assert examine() == ["ok settings: production; all names are known, and nothing contradicts"]


def test_no_variable_of_the_example_for_compose_is_an_unknown_name() -> None:
    assert list(local_checks._find_unknown(example())) == []


def test_a_master_key_that_is_accepted_during_a_rotation_is_no_unknown_name(examine: Callable[..., list[str]]) -> None:
    assert examine(REFEREE_ACCEPTED_MASTER_KEYS="ab" * 32) == examine()


def test_a_misspelt_name_is_found_with_a_suggestion(
    examine: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert examine(REFEREE_TRUSTED_PROXYS="1") == [
        "warning settings: REFEREE_TRUSTED_PROXYS is set, but no setting has this name"
    ]
    (finding,) = local_checks._find_unknown({"REFEREE_TRUSTED_PROXYS": "1"})
    assert finding.advice == "Did you mean REFEREE_TRUSTED_PROXIES?"


def test_an_invalid_value_ends_the_examination(examine: Callable[..., list[str]]) -> None:
    (line,) = examine(REFEREE_RUNNER_SLOTS="many")
    assert line.startswith("failure settings:")
    assert "REFEREE_RUNNER_SLOTS" in line
    assert not line.endswith(".")


def test_an_invalid_address_of_the_database_is_a_finding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in (GOOD | {"REFEREE_DATA": str(tmp_path), "DATABASE_URL": "mysql://u:hunter2@db/x"}).items():
        monkeypatch.setenv(name, value)
    *_, line = lines(list(examination.examine(GOOD, Options())))
    assert line == (
        "failure database: DATABASE_URL must be like postgresql://user@host/name or sqlite:////path/to/file"
    )


@pytest.mark.parametrize(
    ("changes", "line"),
    [
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
def test_settings_that_contradict_are_found(
    examine: Callable[..., list[str]], changes: dict[str, str], line: str
) -> None:
    assert examine(**changes) == [line]


def test_a_private_key_that_signed_the_last_log_is_in_order(settings: Settings, database: Database) -> None:
    key = settings.data_dir / "master.key"
    key.write_text(MASTER_KEY.hex())
    key.chmod(0o600)
    world = World(database)
    id = SigningKey.derive(MASTER_KEY).public.id
    assert lines(local_checks.check_keys(settings, {}, database)) == [
        f"ok keys: the master key is private; it signs with key {id}; no log has been signed yet"
    ]

    world.play([world.bot() for _ in range(2)])

    assert lines(local_checks.check_keys(settings, {}, database)) == [
        f"ok keys: the master key is private; it signs with key {id}; the last log was signed with it"
    ]
    other = replace(settings, master_key=bytes(32))
    assert lines(local_checks.check_keys(other, {}, database)) == [
        f"failure keys: this master key signs with key {SigningKey.derive(bytes(32)).public.id}, but the last log was "
        f"signed with {id}"
    ]


def test_K34_after_a_rotation_the_last_log_may_be_signed_with_an_accepted_key(
    settings: Settings, database: Database
) -> None:
    environment = {"REFEREE_MASTER_KEY": bytes(32).hex()}
    world = World(database)
    world.play([world.bot() for _ in range(2)])
    old, new = (SigningKey.derive(key).public.id for key in (MASTER_KEY, bytes(32)))

    rotated = replace(settings, master_key=MasterKey(bytes(32), [MASTER_KEY]))

    assert lines(local_checks.check_keys(rotated, environment, database)) == [
        f"ok keys: the master key is private; it signs with key {new}; the last log was signed with the accepted key "
        f"{old}"
    ]


def test_a_key_that_others_may_read_is_found(settings: Settings, database: Database) -> None:
    key = settings.data_dir / "master.key"
    key.write_text(MASTER_KEY.hex())
    key.chmod(0o644)
    assert lines(local_checks.check_keys(settings, {}, database)) == [
        f"failure keys: {key} has mode 0644: other users of this host may read the master key"
    ]


def test_a_disk_with_room_is_in_order(tmp_path: Path) -> None:
    (line,) = lines(local_checks.check_disk([tmp_path], 5 << 30))
    assert line == f"ok disk: {tmp_path} can be written to and has 5.0 GiB free"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("free", "line"), [(1 << 30, "warning disk: {} has 1.0 GiB free"), (9 << 20, "failure disk: {} has 9 MiB free")]
)
def test_a_disk_that_is_almost_full_is_found(tmp_path: Path, free: int, line: str) -> None:
    assert lines(local_checks.check_disk([tmp_path], free)) == [line.format(tmp_path)]


def test_a_folder_that_cannot_be_written_to_is_found(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    assert lines(local_checks.check_disk([missing])) == [
        f"failure disk: {missing} cannot be written to: No such file or directory"
    ]


def nowhere(_target: Target) -> bool:
    return False


def test_without_a_metadata_service_the_network_is_in_order(settings: Settings) -> None:
    canary = replace(settings, dns_canary="referee.example.org", public_url="https://referee.example.org")
    reached: list[Target] = []

    def connect(target: Target) -> bool:
        reached.append(target)
        return target[0] == "referee.example.org"

    assert lines(network_checks.check_egress(canary, connect=connect)) == [
        "ok internet: referee.example.org was looked up and reached"
    ]
    assert ("169.254.169.254", 80) in reached


def test_a_metadata_service_that_answers_is_found(settings: Settings) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as metadata:
        target = ("127.0.0.1", metadata.getsockname()[1])
        found = lines(network_checks.check_egress(settings, metadata=[target]))
    assert found[0] == "failure egress: the metadata service of the cloud answers at 127.0.0.1"


@pytest.mark.parametrize(
    ("allow", "line"),
    [
        (
            "169.254.0.0/16:1-65535",
            "failure egress: REFEREE_EGRESS_ALLOW lets bots have the address 169.254.169.254 of the metadata service",
        ),
        (
            "127.0.0.1/32:1024-65535",
            "warning egress: REFEREE_EGRESS_ALLOW lets bots have private addresses: 127.0.0.1/32:1024-65535",
        ),
    ],
)
def test_a_policy_with_private_addresses_is_found(settings: Settings, allow: str, line: str) -> None:
    found = network_checks.check_egress(replace(settings, egress_allow=allow), connect=nowhere)
    assert lines(found)[0] == line


def test_a_host_without_internet_is_found(settings: Settings) -> None:
    canary = replace(settings, dns_canary="referee.example.org")
    assert lines(network_checks.check_egress(canary, connect=nowhere)) == [
        "failure internet: referee.example.org cannot be looked up or reached on port 443"
    ]
    assert lines(network_checks.check_egress(settings, connect=nowhere)) == [
        "skipped internet: not checked: no public name is known"
    ]


def test_a_firewall_is_noticed_by_what_it_rejects() -> None:
    assert lines(network_checks.check_firewall()) == ["warning firewall: this user may connect to private addresses"]
    assert lines(network_checks.check_firewall(nowhere)) == [
        "ok firewall: a firewall rejects private addresses for this user"
    ]
