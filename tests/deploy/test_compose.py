"""docker-compose.yml and the .env of `make env`: well-formed, and closed where it must be. Containers run elsewhere."""

import re
import shutil
import stat
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from referee.cli import main
from referee.ladders.official import load_official_ladders
from referee.settings import BadSettings, Settings, setting_defaults
from referee_extras.doctor import local_checks
from tests.deploy.compose import (
    APP_SERVICES,
    COMPOSE,
    EXAMPLE,
    ROOT,
    STORES,
    example,
    filled_in,
    networks,
    services,
    variables,
)

SECRETS = {"REFEREE_MASTER_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD"}
EMPTY = {"REFEREE_EGRESS_ALLOW", "COMPOSE_PROFILES"}
OF_COMPOSE = {"COMPOSE_PROFILES"}  # read by Compose itself
KNOWN = {f"REFEREE_{name.upper()}" for name in setting_defaults()} | {
    *("DATABASE_URL", "REDIS_URL", "REFEREE_DATA", "REFEREE_ACCEPTED_MASTER_KEYS")
}
FIXED = {  # settings that the operator does not choose in .env
    "data_dir": "a tmpfs: the containers keep nothing",
    "database_url": "made of POSTGRES_PASSWORD",
    "redis_url": "made of REDIS_PASSWORD",
    "private_bots": "the networks of the containers and their firewall close private ranges; see docs/class.md",
    "trusted_proxies": "the proxy of the file",
    "dns_canary": "the host of REFEREE_PUBLIC_URL; an empty value would switch it off",
}


@pytest.fixture
def running() -> dict[str, Any]:
    return services(filled_in())


SAME_DEFAULTS = {
    *("REFEREE_STREAMS", "REFEREE_STREAMS_PER_ADDRESS", "REFEREE_CONNECTION_TIMEOUT_S"),
    "REFEREE_REQUEST_TIMEOUT_S",
    "REFEREE_PRIVATE_TOURNAMENTS",
    *("REFEREE_BOTS_PER_OWNER", "REFEREE_BOTS_PER_HOST", "REFEREE_ADDRESS_REQUESTS"),
}


@pytest.mark.parametrize(
    "command",
    [("check_jsonschema", "--builtin-schema", "vendor.compose-spec"), ("yamllint", "--strict")],
    ids=["the specification", "tidiness"],
)
def test_the_file_passes(command: tuple[str, ...]) -> None:
    run = [sys.executable, "-m", *command, str(COMPOSE)]
    ran = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_variable_stands_in_the_example_and_the_other_way_round() -> None:
    assert set(variables()) == set(example()) - OF_COMPOSE


def test_the_doctor_knows_every_variable_of_the_example() -> None:
    assert list(local_checks._find_unknown(example())) == []


def test_every_setting_is_documented_in_the_example_and_passed_unless_it_is_fixed(running: dict[str, Any]) -> None:
    chosen = {f"REFEREE_{name.upper()}" for name in setting_defaults() if name not in FIXED}
    passed = {name for service in APP_SERVICES for name in running[service]["environment"]}

    assert chosen - set(example()) == set()
    assert chosen - passed == set()


def test_the_defaults_of_the_example_and_of_the_file_agree_with_the_settings() -> None:
    specs = {f"REFEREE_{name.upper()}": default for name, default in setting_defaults().items()}

    for name, (kind, default) in variables().items():
        if kind == ":-":
            assert default == example()[name], name
        if name in SAME_DEFAULTS:
            assert default == str(specs[name]), name


def test_an_operator_names_their_official_ladders_by_a_path_of_the_host() -> None:
    given = services(filled_in() | {"REFEREE_LADDERS": "/srv/ladders.toml"})

    for name in ("migrate", "scheduler"):  # the processes that read the file
        (mount,) = given[name]["volumes"]
        assert (mount["type"], mount["source"], mount["read_only"]) == ("bind", "/srv/ladders.toml", True)
        assert given[name]["environment"]["REFEREE_LADDERS"] == mount["target"]


def test_the_packaged_official_ladders_are_mounted_by_default() -> None:
    given = filled_in()
    del given["REFEREE_LADDERS"]

    (mount,) = services(given)["scheduler"]["volumes"]

    assert load_official_ladders(ROOT / mount["source"]) == load_official_ladders()


def test_the_example_holds_no_secret_and_the_real_file_is_not_committed() -> None:
    assert {name for name, value in example().items() if not value} == SECRETS | EMPTY
    assert ".env" in (ROOT / ".gitignore").read_text().split()
    assert {name for name, (kind, _) in variables().items() if kind == ":?"} >= SECRETS


@pytest.mark.parametrize("name", sorted(SECRETS))
def test_nothing_starts_without_a_secret(name: str) -> None:
    given = filled_in()
    del given[name]

    with pytest.raises(KeyError, match=name):
        services(given)


@pytest.mark.parametrize("name", APP_SERVICES)
def test_the_environment_of_a_service_makes_production_settings(
    name: str, running: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = running[name]["environment"]
    assert set(environment) <= KNOWN
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)

    settings = Settings.load()

    assert settings.env == "production"
    assert settings.database_url.startswith("postgresql://")
    assert settings.redis_url is not None
    assert not settings.allow_http
    assert not settings.egress_allow


def test_production_settings_need_the_master_key(running: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in running["api"]["environment"].items():
        monkeypatch.setenv(variable, value)
    monkeypatch.delenv("REFEREE_MASTER_KEY")

    with pytest.raises(BadSettings, match="REFEREE_MASTER_KEY is required"):
        Settings.load()


def test_every_command_exists(running: dict[str, Any]) -> None:
    assert running["worker"]["command"] == ["python", "-m", "workers.worker"]
    assert running["scheduler"]["command"] == ["python", "-m", "workers.scheduler"]
    assert find_spec("workers.worker")
    assert find_spec("workers.scheduler")
    program, *words = running["migrate"]["command"]
    assert program == "referee"
    assert CliRunner().invoke(main, [*words, "--help"]).exit_code == 0


def test_only_the_proxy_is_published_by_default_to_this_machine_and_the_api_trusts_it(running: dict[str, Any]) -> None:
    assert [name for name, service in running.items() if "ports" in service] == ["proxy"]
    assert example()["REFEREE_LISTEN"].startswith("127.0.0.1:")
    assert variables()["REFEREE_LISTEN"][1].startswith("127.0.0.1:")
    assert running["api"]["environment"]["REFEREE_TRUSTED_PROXIES"] == "1"


def test_only_workers_and_the_proxy_have_a_route_out(running: dict[str, Any]) -> None:
    closed = {name for name, network in networks().items() if network.get("internal")}

    open_to = {name: set(service["networks"]) - closed for name, service in running.items()}

    sample = open_to.pop("sample-bot")  # on no service for strangers
    assert {name: ways for name, ways in open_to.items() if ways} == {"proxy": {"front"}, "worker": {"egress"}}
    assert sample == {"egress"}
    assert running["sample-bot"]["profiles"] == ["sample"]
    assert set(running["sample-bot"]["environment"]) == {"HOME", "REFEREE_URL"}  # no secret
    assert not example()["COMPOSE_PROFILES"]


def test_the_stores_are_reached_by_their_users_alone(running: dict[str, Any]) -> None:
    for store in STORES:
        assert running[store]["networks"] == ["data"]
    assert {name for name, service in running.items() if "data" in service["networks"]} == {*APP_SERVICES, *STORES}


def test_everything_that_runs_on_has_time_to_end(running: dict[str, Any]) -> None:
    lasting = {name for name in running if name != "migrate"}

    assert {name for name in lasting if "stop_grace_period" in running[name]} == lasting
    assert {name for name in lasting if running[name]["restart"] == "unless-stopped"} == lasting


def test_what_others_wait_for_can_tell_its_health(running: dict[str, Any]) -> None:
    for service in running.values():
        assert service["image"].partition(":")[2] not in ("", "latest")
        for awaited, condition in service.get("depends_on", {}).items():
            if condition["condition"] == "service_healthy":
                assert running[awaited]["healthcheck"]["test"]
            else:
                assert (awaited, condition["condition"]) == ("migrate", "service_completed_successfully")
    assert all("migrate" in running[name]["depends_on"] for name in ("api", "worker", "scheduler"))


def test_containers_can_change_little(running: dict[str, Any]) -> None:
    for name in (*APP_SERVICES, "proxy", "redis"):
        service = running[name]
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert "cap_add" not in service
        assert service["security_opt"] == ["no-new-privileges:true"]


def test_no_container_but_that_of_postgres_begins_as_root(running: dict[str, Any]) -> None:
    given = {name: service["user"].partition(":")[0] for name, service in running.items() if "user" in service}

    own = {*APP_SERVICES, "sample-bot"}  # our image has its own user, see Dockerfile
    assert set(running) - set(given) - own == {"postgres"}
    assert "0" not in given.values()
    assert "root" not in given.values()
    assert given["redis"] == "999"  # the user of the image; no other user could write to the volume


def test_no_container_can_take_the_memory_of_the_others(running: dict[str, Any]) -> None:
    units = {"m": 2**20, "g": 2**30}
    limits = {
        name: int(service["mem_limit"][:-1]) * units[service["mem_limit"][-1]] for name, service in running.items()
    }

    maxmemory = re.search(r"--maxmemory (\d+)mb", running["redis"]["command"][-1])
    assert maxmemory is not None
    assert limits["redis"] > 2 * int(maxmemory[1]) * units["m"]  # a copy for rewriting its file
    assert all(limit >= 512 * units["m"] for limit in limits.values())


def test_redis_keeps_what_it_is_told_and_asks_for_a_password(running: dict[str, Any]) -> None:
    command = running["redis"]["command"][-1]

    assert "--appendonly yes --appendfsync everysec" in command
    assert '--requirepass "$$REDISCLI_AUTH"' in command


def test_the_example_is_a_file_that_a_shell_reads() -> None:
    ran = subprocess.run(
        ["sh", "-c", f". {EXAMPLE}; echo $REFEREE_WORKERS"], capture_output=True, text=True, check=True
    )

    assert ran.stdout.strip() == example()["REFEREE_WORKERS"]


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


def test_make_env_writes_what_the_services_accept_with_random_secrets_that_the_owner_alone_reads(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(checkout).returncode == 0

    first = values(checkout)
    found = services(first)
    for name in APP_SERVICES:
        with monkeypatch.context() as patch:
            for variable, value in found[name]["environment"].items():
                patch.setenv(variable, value)
            settings = Settings.load()
            assert (settings.env, settings.allow_http) == ("development", True)
            assert settings.egress_allow
    assert all(port.startswith("127.0.0.1:") for port in found["proxy"]["ports"])
    assert found["api"]["image"] == "referee:0.2.0.dev0-unknown"
    assert stat.S_IMODE((checkout / ".env").stat().st_mode) == 0o600
    (checkout / ".env").unlink()
    run(checkout)
    second = values(checkout)
    assert len({one[name] for one in (first, second) for name in SECRETS}) == 2 * len(SECRETS)
    assert all(len(first[name]) == 64 for name in SECRETS)


def test_make_env_changes_no_file_that_exists(checkout: Path) -> None:
    (checkout / ".env").write_text("REFEREE_MASTER_KEY=mine\n")

    ran = run(checkout)

    assert (ran.returncode, ran.stdout) == (1, "")
    assert "There is a .env already" in ran.stderr
    assert (checkout / ".env").read_text() == "REFEREE_MASTER_KEY=mine\n"
