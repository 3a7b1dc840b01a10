"""Read the environment once into frozen settings. No other module reads ``os.environ``."""

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, get_args
from urllib.parse import urlsplit

from environs import Env, EnvError, validate

from referee import plugs
from referee.errors import RefereeError
from referee.master_keys import KEY_BYTES, MasterKey, parse_key_file
from referee.private_ranges import EXAMPLE, parse_private_ranges

KEY_FILE = "master.key"  # in the data directory

Environment = Literal["development", "production"]
ForcedMoveWaits = Literal["all", "rated", "none"]
LogFormat = Literal["json", "text"]


class BadSettings(RefereeError):
    """Signal that an environment variable has an invalid or forbidden value."""


class ListenAddress(NamedTuple):
    """Hold an address to listen on. Port 0 takes a free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def _declare_number(default: int, low: int, high: int) -> Any:
    """Declare a setting that is a whole number within inclusive bounds."""
    return field(default=default, metadata={"min": low, "max": high})


@dataclass(frozen=True, slots=True)
class Settings:
    """Hold the configuration of an installation.

    Each field is read from the environment variable ``REFEREE_`` + its name in capitals, except ``data_dir``
    (``REFEREE_DATA``), ``database_url`` (``DATABASE_URL``) and ``redis_url`` (``REDIS_URL``).
    """

    env: Environment
    data_dir: Path
    database_url: str
    redis_url: str | None  # if None, the supervisor starts an embedded server
    master_key: bytes = field(repr=False)  # ``MasterKey``; bot secrets and sealed deal seeds derive from it
    egress_allow: str  # non-public addresses that may be called, like "127.0.0.1/32:1024-65535,…"
    allow_http: bool  # bots may have http URLs
    self_service: bool  # people may create accounts without an operator
    public_url: str
    allowed_hosts: tuple[str, ...]  # accepted Host headers; all if empty
    rate_limits: bool
    private_bots: str = ""  # ranges and ports on a private network that bots may have, like "10.20.0.0/24:8000-8010,…"
    runner_slots: int = _declare_number(100, 1, 1000)  # maximum number of concurrent matches of one runner
    trusted_proxies: int = _declare_number(0, 0, 5)  # number of reverse proxies whose X-Forwarded-For is trusted
    bots_per_owner: int = _declare_number(20, 1, 10_000)  # maximum number of bots of an account that are not retired
    bots_per_host: int = _declare_number(50, 1, 10_000)  # the same of all accounts at one host
    address_requests: int = _declare_number(1200, 60, 1_000_000)  # a minute from one address, without a valid token
    dns_canary: str = ""  # a host name whose look-up shows whether the resolver works; none if empty
    streams: int = _declare_number(2000, 0, 20_000)  # maximum number of concurrent event streams of one API process
    streams_per_address: int = _declare_number(100, 1, 20_000)
    ladders: Path | None = None  # the operator's list of official ladders, instead of the packaged one
    private_tournaments: int = _declare_number(3, 0, 20)  # unfinished ones of an account that is no organiser
    forced_move_waits: ForcedMoveWaits = "rated"  # matches in which forced moves take as long as answers
    request_timeout_s: int = _declare_number(60, 1, 3600)  # for a whole request, and the first part of a response
    connection_timeout_s: int = _declare_number(30, 1, 3600)  # without a byte during a request or response
    metrics: ListenAddress | None = None  # where the scheduler serves the metrics; nowhere if None
    log: LogFormat = "json"
    of_extras: Mapping[str, Any] = field(default_factory=dict, hash=False)  # by extra; see ``Extra.settings``

    @classmethod
    def load(cls) -> Self:
        """Read the environment. Raise ``BadSettings`` with the name of an invalid variable."""
        try:
            return cls._read(Env(eager=True, prefix="REFEREE_"))
        except (EnvError, ValueError, plugs.BrokenExtra) as error:
            raise BadSettings(str(error)) from error

    @classmethod
    def _read(cls, env: Env) -> Self:
        name: Environment = _one_of(env, "ENV", Environment, "development")
        production = name == "production"
        data_dir = Path(env.str("DATA", "referee-data")).expanduser().resolve()
        egress_allow = env.str("EGRESS_ALLOW", "")
        if production and egress_allow:
            raise BadSettings(
                "REFEREE_EGRESS_ALLOW permits calls to private addresses. It is not allowed with "
                "REFEREE_ENV=production; unset it."
            )
        public_url = env.str("PUBLIC_URL", "http://127.0.0.1:8000").rstrip("/")
        return cls(
            env=name,
            data_dir=data_dir,
            database_url=os.environ.get("DATABASE_URL") or f"sqlite:///{data_dir / 'referee.db'}",
            redis_url=os.environ.get("REDIS_URL") or None,
            master_key=_master_key(env, data_dir, production),
            egress_allow=egress_allow,
            allow_http=env.bool("ALLOW_HTTP", not production),
            self_service=(self_service := env.bool("SELF_SERVICE", True)),
            private_bots=_private_bots(env.str("PRIVATE_BOTS", ""), self_service),
            forced_move_waits=_one_of(env, "FORCED_MOVE_WAITS", ForcedMoveWaits, "rated"),
            public_url=public_url,
            dns_canary=env.str("DNS_CANARY", _public_name(public_url)),
            allowed_hosts=tuple(env.list("ALLOWED_HOSTS", [])),
            rate_limits=env.bool("RATE_LIMITS", True),
            ladders=Path(ladders).expanduser().resolve() if (ladders := env.str("LADDERS", "")) else None,
            log=_one_of(env, "LOG", LogFormat, "json"),
            metrics=_listen_address(env.str("METRICS", "127.0.0.1:9464")),
            **_read_numbers(env),
            of_extras={extra.name: plugs.load(extra.settings).load(env) for extra in plugs.extras() if extra.settings},
        )


def _read_numbers(env: Env) -> dict[str, Any]:
    found = {}
    for each in (each for each in fields(Settings) if each.metadata):
        default: Any = each.default
        found[each.name] = env.int(each.name.upper(), default, validate=validate.Range(**each.metadata))
    return found


def _one_of(env: Env, name: str, known: object, default: str) -> Any:
    """Read a variable whose values are those of the ``Literal`` type ``known``."""
    return env.str(name, default, validate=validate.OneOf(get_args(known)))


def setting_defaults() -> dict[str, Any]:
    """Return the defaults of all settings, those of extras included, by name."""
    found = {each.name: each.default for each in fields(Settings) if each.name != "of_extras"}
    for extra in plugs.extras():
        if extra.settings is not None:
            found |= plugs.load(extra.settings).defaults()
    return found


def _private_bots(text: str, self_service: bool) -> str:
    """Return the private ranges in canonical form. Raise ``BadSettings`` if one is bad, or strangers may register."""
    try:
        ranges = ",".join(map(str, parse_private_ranges(text)))
    except ValueError as error:
        raise BadSettings(f"REFEREE_PRIVATE_BOTS: {error}.") from error
    if ranges and self_service:
        raise BadSettings(
            f"REFEREE_PRIVATE_BOTS (such as {EXAMPLE}) needs REFEREE_SELF_SERVICE=false: with open registration, "
            "anybody could have the service call addresses on your network."
        )
    return ranges


def _listen_address(text: str) -> ListenAddress | None:
    """Return the address in ``text``, or None if it is empty. Raise ``BadSettings`` if it is malformed."""
    if not text:
        return None
    try:
        parts = urlsplit(f"//{text}")
        if parts.hostname and parts.port is not None and parts.netloc == text and "@" not in text:
            return ListenAddress(parts.hostname, parts.port)
    except ValueError:
        pass
    raise BadSettings("REFEREE_METRICS must be an address with a port, such as 127.0.0.1:9464, or empty.")


def log_format() -> LogFormat:
    """Return in which format processes log (``REFEREE_LOG``). An invalid value counts as ``json``.

    Logging begins before the other settings are read, so that errors in them can be logged; ``load`` refuses the value.
    """
    return "text" if os.environ.get("REFEREE_LOG") == "text" else "json"


def _public_name(url: str) -> str:
    """Return the host of a URL, or "" if it is an address or not a public name."""
    host = urlsplit(url).hostname or ""
    return host if "." in host and not host.rpartition(".")[2].isdigit() else ""


def shorten_resolver_timeouts() -> None:
    """Make the C library repeat a look-up after 1 s and give up after two attempts, unless ``RES_OPTIONS`` is set.

    By default, the library waits 5 s for the first reply. That is longer than we wait, so a lost packet would
    not be repeated, and a silent name would occupy its thread for 10 s.
    """
    os.environ.setdefault("RES_OPTIONS", "timeout:1 attempts:2")


def user_config_dir() -> Path:
    """Return the folder for the settings of this program's user: ``$XDG_CONFIG_HOME/referee`` or ``~/.config/referee``.

    A relative ``$XDG_CONFIG_HOME`` is ignored, as its specification demands.
    """
    given = Path(os.environ.get("XDG_CONFIG_HOME") or ".")
    return (given if given.is_absolute() else Path.home() / ".config") / "referee"


def environment(**changes: str) -> dict[str, str]:
    """Return the environment of this process with ``changes``, for a child process."""
    return dict(os.environ) | changes


def _master_key(env: Env, data_dir: Path, production: bool) -> MasterKey:
    """Return the keys that the variables have in hex, or else those in the data directory.

    The latter are created on first use, with mode 0600. Raise ``BadSettings`` if a key is malformed, or missing in
    production.
    """
    text = env.str("MASTER_KEY", "")
    listed = env.str("ACCEPTED_MASTER_KEYS", "none")
    texts = [] if listed.strip() in ("", "none") else listed.split(",")
    accepted = [_parse_key("ACCEPTED_MASTER_KEYS", each) for each in texts]
    if not text and production:
        raise BadSettings(
            "REFEREE_MASTER_KEY is required when REFEREE_ENV=production. It has 64 hex digits (32 bytes)."
        )
    stored = MasterKey(_parse_key("MASTER_KEY", text)) if text else _read_key_file(data_dir / KEY_FILE)
    try:
        return MasterKey(bytes(stored), [*stored.accepted, *accepted])
    except ValueError as error:
        raise BadSettings(f"REFEREE_ACCEPTED_MASTER_KEYS {error}.") from error


def _parse_key(name: str, text: str) -> bytes:
    try:
        key = bytes.fromhex(text.strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise BadSettings(f"REFEREE_{name} must be 64 hex digits (32 bytes).")
    return key


def _read_key_file(path: Path) -> MasterKey:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        # Write a temporary file and then link it, so that processes that start at the same time use the same key.
        draft = path.with_name(f"{KEY_FILE}.{os.getpid()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
        with suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    try:
        return parse_key_file(path.read_text())
    except ValueError as error:
        raise BadSettings(f"{path} {error}.") from error
