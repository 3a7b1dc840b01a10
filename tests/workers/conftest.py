"""A database for workers, with house bots served on loopback and registered like any other bots."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from referee.accounts import accounts
from referee.audit.database_audit import audit
from referee.bots import bots
from referee.bots.bots import Quotas
from referee.bots.tables import Bot
from referee.db.engine import Database
from referee.games import catalogue
from referee.house.players import find_player
from referee.house.server import House, serve
from referee.match.time_limits import Limits
from referee.match.verification import VerificationReport, verify
from referee.matches import matches
from referee.matches.deals import deal_groups
from referee.matches.logs import logs
from referee.matches.matches import MatchPlan
from referee.matches.scheduling import Deal, create_matches
from referee.matches.states import DealSharing
from referee.matches.tables import StoredMatch
from referee.protocol.signing import bot_secret
from referee.settings import Settings
from referee.version import RELEASE
from tests.database.world import certify, manifest_of
from tests.surroundings import MASTER_KEY, settings_for
from workers.runner import Runner
from workers.runner_counters import RunnerCounters


class Scripted(House):
    """A house bot that always plays the default. ``before`` sees the question first; if it returns
    something, that is the answer."""

    def __init__(self, before: Callable[[web.Request], Awaitable[web.Response | None]]) -> None:
        super().__init__("first", find_player("first"))
        self.before = before

    async def _decide(self, request: web.Request) -> web.Response:
        return await self.before(request) or await super()._decide(request)


@dataclass
class World:
    """The database, with helpers."""

    settings: Settings
    database: Database
    bot_ids: list[str] = field(default_factory=list)

    def enlist(self, url: str) -> Bot:
        """Create an owner with one bot at this address."""
        number = len(self.bot_ids) + 1
        with self.database.write() as session:
            owner = accounts.create_account(session, f"Owner {number}")
            bot = bots.register(session, owner.id, f"Bot {number}", url, quotas=Quotas(per_host=1_000, per_group=1_000))
        self.bot_ids.append(bot.id)
        return bot

    def certify(self, bot_id: str, version: str) -> None:
        """Record a check that passed in all games."""
        with self.database.write() as session:
            certify(session, bot_id, manifest_of(version, sorted(catalogue()), 100))

    def secret_of(self, bot: Bot) -> str:
        return bot_secret(MASTER_KEY, bot.id, bot.secret_generation)

    def arrange(self, game: str, bot_ids: Sequence[str], **plan: Any) -> str:
        with self.database.write() as session:
            wanted = MatchPlan(game, list(bot_ids), plan.pop("options", {}), plan.pop("limits", Limits()), **plan)
            return matches.create_match(session, wanted, master_key=MASTER_KEY).id

    def arrange_sharing(self, game: str, bot_ids: Sequence[str], options: Any) -> list[str]:
        """Create two matches of these bots that share their cards, with the seats exchanged."""
        with self.database.write() as session:
            deal = Deal("shared", DealSharing.DUPLICATE)
            seatings = (list(bot_ids), list(reversed(bot_ids)))
            plans = [MatchPlan(game, seating, options, Limits(), deal=deal) for seating in seatings]
            return create_matches(session, plans, master_key=MASTER_KEY)

    def give_to_one_owner(self, bot_ids: Sequence[str]) -> None:
        """Give these bots to the owner of the first."""
        with self.database.write() as session:
            owner_id = bots.get_bot(session, bot_ids[0]).owner_id
            for bot_id in bot_ids:
                bots.get_bot(session, bot_id).owner_id = owner_id

    def match(self, match_id: str) -> StoredMatch:
        with self.database.read() as session:
            return matches.get_match(session, match_id)

    def bot(self, bot_id: str) -> Bot:
        with self.database.read() as session:
            return bots.get_bot(session, bot_id)

    def lines(self, match_id: str) -> list[bytes]:
        with self.database.read() as session:
            return logs.log_lines(session, match_id)

    def verified(self, match_id: str) -> VerificationReport:
        return verify(self.lines(match_id))

    def group_state(self, match_id: str) -> str:
        with self.database.read() as session:
            return deal_groups.get_group(session, matches.get_match(session, match_id).group_id).state

    def differences(self) -> list[str]:
        """Return the findings of ``referee admin audit``."""
        with self.database.read() as session:
            return [str(difference) for difference in audit(session)]

    async def run(self, **changes: Any) -> RunnerCounters:
        """Run a runner until nothing is due."""
        return await Runner(replace(self.settings, **changes), self.database).run()

    @asynccontextmanager
    async def houses(
        self, *wanted: str | House, latency_ms: int = 0, version: str = RELEASE
    ) -> AsyncIterator[list[House]]:
        """Serve, register and verify house bots; their certificates of this ``version`` are old."""
        async with AsyncExitStack() as stack:
            served = []
            for one in wanted:
                if isinstance(one, House):
                    house = await one.start("127.0.0.1", 0)
                else:
                    house = await serve(one, latency_ms=latency_ms, seed=len(self.bot_ids))
                stack.push_async_callback(house.close)
                bot = await asyncio.to_thread(self.enlist, house.url)
                house.secret = self.secret_of(bot)
                await asyncio.to_thread(self.certify, bot.id, version)
                served.append(house)
            await self.run()
            yield served


@pytest.fixture
def world(tmp_path: Path, sqlite_url: str) -> Iterator[World]:
    settings = replace(settings_for(tmp_path), database_url=sqlite_url)
    database = Database.from_settings(settings)
    yield World(settings, database)
    database.dispose()
