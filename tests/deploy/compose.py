"""docker-compose.yml as it is after variables are filled in, for the tests of the deployment."""

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "docker-compose.yml"
EXAMPLE = ROOT / ".env.example"
APP_SERVICES = ("api", "worker", "scheduler", "migrate")
STORES = ("redis", "postgres")

_VARIABLE = re.compile(r"\$\{([A-Z_]+)(:[?-])?([^}]*)\}")


def variables() -> dict[str, tuple[str, str]]:
    """The variables the file uses: how an absent one is met (":?" refused, ":-" replaced) and by what."""
    return {name: (kind, rest) for name, kind, rest in _VARIABLE.findall(COMPOSE.read_text())}


def example() -> dict[str, str]:
    """The variables of .env.example with their values."""
    lines = EXAMPLE.read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def services(given: dict[str, str]) -> dict[str, Any]:
    """The services with these variables; raises ``KeyError`` for one that must be set and is not."""

    def value(found: re.Match[str]) -> str:
        name, kind, rest = found.groups()
        if given.get(name):
            return given[name]
        if kind == ":-":
            return rest
        raise KeyError(name)

    def filled(node: Any) -> Any:
        """As Compose does it: the file is parsed first, so what is filled in stays text."""
        match node:
            case dict():
                return {key: filled(below) for key, below in node.items()}
            case list():
                return [filled(below) for below in node]
            case str():
                return _VARIABLE.sub(value, node)
        return node

    found: dict[str, Any] = filled(yaml.safe_load(COMPOSE.read_text()))["services"]
    return found


def networks() -> dict[str, Any]:
    declared: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())["networks"]
    return declared


def filled_in() -> dict[str, str]:
    """The example as an operator completes it."""
    secrets = {"REFEREE_MASTER_KEY": "ab" * 32, "POSTGRES_PASSWORD": "c" * 64, "REDIS_PASSWORD": "d" * 64}
    return example() | secrets
