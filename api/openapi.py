"""Print the OpenAPI document: ``python -m api.openapi > openapi.yaml``. The output depends only on the code."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from api.app import create_app
from referee.settings import Settings

ORDER = ("openapi", "info", "servers", "tags", "paths", "components")


def document() -> dict[str, Any]:
    """Return the OpenAPI document, without using a database, Redis or the environment."""
    with TemporaryDirectory() as folder:
        described: dict[str, Any] = create_app(example_settings(Path(folder))).extensions["referee.document"]()
        return described


def example_settings(folder: Path) -> Settings:
    """Return settings of a service that nobody uses, with its database in ``folder``."""
    return Settings(
        env="development",
        data_dir=folder,
        database_url=f"sqlite:///{folder / 'none.db'}",
        redis_url=None,
        master_key=bytes(32),
        egress_allow="",
        allow_http=False,
        self_service=True,
        runner_slots=1,
        public_url="http://127.0.0.1",
        allowed_hosts=(),
        trusted_proxies=0,
        rate_limits=False,
    )


def as_yaml() -> str:
    described = document()
    ordered = {name: described[name] for name in ORDER}
    return yaml.dump(ordered, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=110)


if __name__ == "__main__":
    sys.stdout.write(as_yaml())
