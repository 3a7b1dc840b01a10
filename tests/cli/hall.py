"""A service with bots in it, for the commands that talk to one: with all its processes, or its API alone."""

import json
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import Result

from referee.accounts import accounts
from referee.accounts.entry_consent import EntryConsent
from referee.accounts.tables import Account
from referee.bots import bots as store_bots
from referee.cli.service.api_client import Api
from referee.db.engine import Database
from referee.games import catalogue
from referee.runtime.data_dir import DataDir
from referee.version import RELEASE
from tests.api.in_thread import api_in_thread
from tests.botclient.odd import house, served
from tests.cli.running import Service, comes_true, family, says, service
from tests.database.world import certify, manifest_of

CAST = {"Ada sound": "sound", "Blaise sound": "sound", "Carl random": "random", "Dora random": "random"}
GONE_S = 30.0
LOOPBACK = "127.0.0.1/32:1024-65535"


@dataclass
class Hall:
    """The URL of a service, its organiser's token, and verified bots, each of an owner of its own."""

    url: str
    token: str
    owner: str  # token of the first bot's owner
    bots: dict[str, str]  # ids by name

    def says(self, *arguments: str, token: str | None = None, status: int = 0) -> Result:
        """Runs ``referee tournament …`` as the organiser and expects this exit status."""
        environment = {"REFEREE_URL": self.url, "REFEREE_TOKEN": self.token if token is None else token}
        return says(environment, "tournament", *arguments, status=status)

    def as_owner(self, *arguments: str) -> str:
        """Run ``referee …`` as the owner of the first bot, and return what it prints."""
        return says({"REFEREE_URL": self.url, "REFEREE_TOKEN": self.owner}, *arguments).stdout

    def json(self, *arguments: str, token: str | None = None, status: int = 0) -> Any:
        """The document that it prints with ``--json``."""
        return json.loads(self.says(*arguments, "--json", token=token, status=status).stdout)


@dataclass
class RunningHall(Hall):
    """A hall that plays. The owner of a bot is called after it."""

    up: Service
    tokens: dict[str, str]  # of owners by the names of their bots
    secrets: dict[str, str]  # by the names of the bots

    def as_author(self, name: str) -> dict[str, str]:
        """Return the environment that lets commands use the service as a new account."""
        with Api(self.url) as anybody:
            token = str(anybody.post("/accounts", {"name": name})["token"]["token"])
        return {"REFEREE_URL": self.url, "REFEREE_TOKEN": token}


@contextmanager
def api_hall(folder: Path) -> Iterator[Hall]:
    """Yield a hall without runners: nothing is played, and nobody is asked."""
    with api_in_thread(folder) as (url, world):
        tokens: list[str] = []
        bots: dict[str, str] = {}
        for role in ("organiser", *["owner"] * len(CAST)):
            account = world.account(role)
            with world.database.write() as session:
                session.get_one(Account, account).entry_consent = EntryConsent.EVERYBODY
                tokens.append(accounts.create_token(session, account, "first")[1])
            if role == "owner":
                name = [*CAST][len(bots)]
                bots[name] = world.bot(account, manifest_of(RELEASE, sorted(catalogue())), name)
        yield Hall(url, tokens[0], tokens[1], bots)


@contextmanager
def hall(folder: Path) -> Iterator[RunningHall]:
    """Yield a hall. Before its start, other users can read the directory; at its end, the supervisor is killed."""
    data_dir = DataDir(folder / "data")
    data_dir.path.mkdir()
    data_dir.path.chmod(0o755)
    data_dir.log("old").write_text("of an earlier version")
    data_dir.log("old").chmod(0o644)
    ladders = folder / "ladders.toml"
    ladders.write_text("[[ladder]]\ngame = 'pool-nap'\nseats = 10\ndaily_matches = 48\n")  # more seats than bots
    changes = {"REFEREE_EGRESS_ALLOW": LOOPBACK, "REFEREE_LADDERS": str(ladders)}
    with service(data_dir.path, "--workers", "1", **changes) as up, ExitStack() as stack:
        organiser = says({"REFEREE_DATA": str(up.folder)}, "admin", "create", "Organiser").stdout.strip()
        tokens: dict[str, str] = {}
        bots: dict[str, str] = {}
        secrets: dict[str, str] = {}
        with Api(up.url) as anybody:
            for name, player in CAST.items():
                bot = house(player)
                tokens[name] = str(anybody.post("/accounts", {"name": f"Owner of {name}"})["token"]["token"])
                with Api(up.url, tokens[name]) as owner:
                    owner.patch("/accounts/me", {"entry_consent": "everybody"})
                    registered = owner.post("/bots", {"name": name, "url": stack.enter_context(served(bot))})
                    bots[name], secrets[name] = registered["id"], registered["secret"]
                    bot.secret = secrets[name]
                    owner.patch(f"/bots/{bots[name]}/ladders", {"play": "off"})
        _certify(up.folder, list(bots.values()))
        yield RunningHall(up.url, organiser, tokens["Ada sound"], bots, up, tokens, secrets)
        up.stop(signal.SIGKILL)
        assert comes_true(lambda: not family(up.folder), GONE_S), family(up.folder)


def _certify(folder: Path, bot_ids: list[str]) -> None:
    """Certify the bots without a check, which is tested elsewhere, and wait for handshakes, since they know their
    secrets now."""
    database = Database(f"sqlite:///{folder / 'referee.db'}")
    with database.write() as session:
        for bot_id in bot_ids:
            certify(session, bot_id, manifest_of(RELEASE, sorted(catalogue()), 100))

    def are_verified() -> bool:
        with database.write() as session:
            unverified = [bot_id for bot_id in bot_ids if store_bots.get_bot(session, bot_id).status != "verified"]
            for bot_id in unverified:
                store_bots.request_handshake(session, bot_id)  # the first one may have come before the secret
        return not unverified

    assert comes_true(are_verified)
    database.dispose()
