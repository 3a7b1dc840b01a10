"""A record in a temporary folder with verified bots in it, for benchmarks of what needs one."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from referee.accounts import accounts
from referee.bots import bots, certificates, handshakes
from referee.db.engine import Database
from referee.db.upgrading import upgrade
from referee.games import catalogue
from referee.match.time_limits import Limits
from referee.matches import matches
from referee.protocol.messages import Manifest
from referee.settings import Settings, environment
from referee.workflows import handshake_results

MASTER_KEY: Final = bytes(range(32))
EGRESS: Final = "127.0.0.1/32:1024-65535"


@dataclass(frozen=True)
class World:
    """The record and how it is filled."""

    settings: Settings
    database: Database

    def enlist(self, url: str, count: int) -> list[str]:
        """So many verified bots below this URL, each of an owner of its own; they are not called."""
        ids = []
        for number in range(count):
            with self.database.write() as session:
                owner = accounts.create_account(session, f"Owner {number}")
                bot = bots.register(session, owner.id, f"Bot {number}", f"{url}/{number}")
                (check,) = handshakes.claim_due_checks(session)
                manifest = Manifest("bot", "1.0", tuple(sorted(catalogue())), 100)
                certificates.issue_certificate(
                    session, bot.id, manifest.version, certificates.current_rules_versions(manifest.games)
                )
                handshake_results.finish_check(session, bot.id, check.epoch, {"ok": True}, manifest)
            ids.append(bot.id)
        return ids

    def arrange(self, game: str, bot_ids: Sequence[str], count: int, **plan: Any) -> list[str]:
        """So many due matches."""
        made = []
        with self.database.write() as session:
            for _ in range(count):
                wanted = matches.MatchPlan(game, list(bot_ids), plan.get("options", {}), plan.get("limits", Limits()))
                made.append(matches.create_match(session, wanted, master_key=MASTER_KEY).id)
        return made

    def environment(self, **changes: str) -> dict[str, str]:
        """For processes of the service that work on this record."""
        return environment(
            REFEREE_ENV="development",
            REFEREE_DATA=str(self.settings.data_dir),
            REFEREE_MASTER_KEY=MASTER_KEY.hex(),
            REFEREE_EGRESS_ALLOW=EGRESS,
            DATABASE_URL=self.settings.database_url,
            **changes,
        )


@contextmanager
def world(**changes: Any) -> Iterator[World]:
    """A fresh record with its schema; ``changes`` are to the settings."""
    with TemporaryDirectory(prefix="referee-bench-") as folder:
        os.environ |= {"REFEREE_DATA": folder, "REFEREE_MASTER_KEY": MASTER_KEY.hex(), "REFEREE_EGRESS_ALLOW": EGRESS}
        usual = Settings.load()
        own = {"database_url": f"sqlite:///{Path(folder) / 'referee.db'}", "redis_url": None, "rate_limits": False}
        settings = replace(usual, **(own | changes))
        database = Database.from_settings(settings)
        upgrade(database)
        try:
            yield World(settings, database)
        finally:
            database.dispose()
