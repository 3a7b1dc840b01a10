"""Settings: the environment read once into a frozen value. Nothing else reads os.environ."""

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self

from environs import Env, EnvError, validate

from referee.errors import RefereeError

Environment = Literal["development", "production"]


class BadSettings(RefereeError):
    """The environment asks for something that cannot or must not be."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How this installation runs. Every field is an environment variable of the same name with ``REFEREE_``
    before it, in capitals; ``DATABASE_URL`` and ``REDIS_URL`` go by their usual names."""

    env: Environment
    data_dir: Path
    database_url: str
    redis_url: str | None  # None: the supervisor starts an embedded server
    master_key: bytes = field(repr=False)  # 32 bytes; bot secrets and sealed deal seeds derive from it
    egress_allow: str  # "127.0.0.1/32:1024-65535,…": addresses that may be called besides public ones
    allow_http: bool
    self_service: bool  # anybody may open an account
    runner_slots: int  # matches played at once by one runner
    public_url: str
    allowed_hosts: tuple[str, ...]  # Host headers served; empty: any
    trusted_proxies: int  # reverse proxies in front whose X-Forwarded-For is believed
    rate_limits: bool
    streams: int = 2000  # viewers of events at once, in one process of the API
    streams_per_address: int = 20
    connection_timeout_s: int = 30  # without a byte read or sent in the middle of a request or an answer

    @classmethod
    def load(cls) -> Self:
        """Reads the environment; raises ``BadSettings`` naming the variable that is wrong."""
        try:
            return cls._read(Env(eager=True, prefix="REFEREE_"))
        except (EnvError, ValueError) as error:
            raise BadSettings(str(error)) from error

    @classmethod
    def _read(cls, env: Env) -> Self:
        name: Environment = "production" if _is_production(env) else "development"
        production = name == "production"
        data_dir = Path(env.str("DATA", "referee-data")).expanduser().resolve()
        egress_allow = env.str("EGRESS_ALLOW", "")
        if production and egress_allow:
            raise BadSettings(
                "REFEREE_EGRESS_ALLOW opens private addresses to calls and is refused when REFEREE_ENV=production; "
                "unset it"
            )
        return cls(
            env=name,
            data_dir=data_dir,
            database_url=os.environ.get("DATABASE_URL") or f"sqlite:///{data_dir / 'referee.db'}",
            redis_url=os.environ.get("REDIS_URL") or None,
            master_key=_master_key(env.str("MASTER_KEY", ""), data_dir, production),
            egress_allow=egress_allow,
            allow_http=env.bool("ALLOW_HTTP", not production),
            self_service=env.bool("SELF_SERVICE", True),
            runner_slots=env.int("RUNNER_SLOTS", 100, validate=validate.Range(1, 1000)),
            public_url=env.str("PUBLIC_URL", "http://127.0.0.1:8000").rstrip("/"),
            allowed_hosts=tuple(env.list("ALLOWED_HOSTS", [])),
            trusted_proxies=env.int("TRUSTED_PROXIES", 0, validate=validate.Range(0, 5)),
            rate_limits=env.bool("RATE_LIMITS", True),
            streams=env.int("STREAMS", 2000, validate=validate.Range(0, 20_000)),
            streams_per_address=env.int("STREAMS_PER_ADDRESS", 20, validate=validate.Range(1, 20_000)),
            connection_timeout_s=env.int("CONNECTION_TIMEOUT_S", 30, validate=validate.Range(1, 3600)),
        )


def environment(**changes: str) -> dict[str, str]:
    """The environment of a child process: ours with these changes."""
    return dict(os.environ) | changes


def _is_production(env: Env) -> bool:
    known = validate.OneOf(["development", "production"])
    return bool(env.str("ENV", "development", validate=known) == "production")


def _master_key(text: str, data_dir: Path, production: bool) -> bytes:
    """The key given in hex, else the one kept in the data directory, made on first use (mode 0600)."""
    if text:
        key = bytes.fromhex(text)
        if len(key) != 32:
            raise BadSettings("REFEREE_MASTER_KEY must be 64 hex digits (32 bytes)")
        return key
    if production:
        raise BadSettings("REFEREE_MASTER_KEY is required when REFEREE_ENV=production: 64 hex digits (32 bytes)")
    path = data_dir / "master.key"
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        # Written whole beside its place, then linked: of two processes at their first start one key wins.
        draft = data_dir / f"master.key.{os.getpid()}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
        with suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return bytes.fromhex(path.read_text().strip())
