"""The settings of a service under test: everything in one folder, bots on loopback allowed."""

from pathlib import Path

from referee.settings import Settings

MASTER_KEY = bytes(range(32))


def settings_for(folder: Path) -> Settings:
    """A development service on SQLite in ``folder``, without Redis."""
    return Settings(
        env="development",
        data_dir=folder,
        database_url=f"sqlite:///{folder / 'referee.db'}",
        redis_url=None,
        master_key=MASTER_KEY,
        egress_allow="127.0.0.1/32:1024-65535",
        allow_http=True,
        self_service=True,
        runner_slots=100,
        public_url="http://127.0.0.1:8000",
        allowed_hosts=(),
        trusted_proxies=0,
        rate_limits=True,
    )
