"""Very many bots that never answer, in the matches of several organisers, beside one match that goes on."""

import asyncio

from sqlalchemy import func, select

from referee.bots import bots, handshakes
from referee.matches.states import MatchState
from referee.matches.tables import Fault, StoredMatch
from referee.workflows.bots import handshake_results
from tests.database.world import certify, manifest_of
from tests.workers.conftest import World
from tests.workers.test_address_caps import Victim
from tests.workers.test_runner import PATIENT, SHORT, until
from workers.runner import Runner

SILENT_BOTS = 150
ORGANISERS = 5


def verified(world: World, urls: list[str]) -> list[str]:
    """Register bots that nobody asked for their manifests."""
    bot_ids = [world.enlist(url).id for url in urls]
    manifest = manifest_of(most=8)
    with world.database.write() as session:
        for handshake in handshakes.claim_due_handshakes(session, len(urls)):
            certify(session, handshake.bot_id, manifest)
            handshake_results.finish_handshake(session, handshake.bot_id, handshake.epoch, {"ok": True}, manifest)
    return bot_ids


def running(world: World) -> int:
    with world.database.read() as session:
        count = select(func.count()).where(StoredMatch.status == MatchState.RUNNING)
        return session.scalars(count).one()


def test_K30_a_match_goes_on_beside_150_bots_that_never_answer(world: World) -> None:
    silent = Victim()

    async def story() -> str:
        async with world.houses("first", "first"), silent.serving(SILENT_BOTS // 3):
            fair = world.bot_ids[:2]
            bot_ids = await asyncio.to_thread(verified, world, silent.urls * 3)
            owners = [world.bot(bot_id).owner_id for bot_id in bot_ids[:ORGANISERS]]
            for number, pair in enumerate(zip(bot_ids[::2], bot_ids[1::2], strict=True)):
                await asyncio.to_thread(arrange, list(pair), owners[number % ORGANISERS])
            runner = Runner(world.settings, world.database)
            task = asyncio.create_task(runner.run())
            await until(lambda: running(world) == SILENT_BOTS // 2 and silent.held >= SILENT_BOTS // 2, 120)

            match_id = world.arrange("saint-poker", fair, options=SHORT)
            await until(lambda: world.match(match_id).status == MatchState.FINISHED, 60)

            assert running(world) == SILENT_BOTS // 2
            assert silent.held >= SILENT_BOTS // 2
            runner.stop()
            await task
            return match_id

    def arrange(pair: list[str], owner_id: str) -> None:
        world.arrange("saint-poker", pair, limits=PATIENT, created_by=owner_id)

    match_id = asyncio.run(story())

    with world.database.read() as session:
        assert session.scalars(select(Fault).where(Fault.match_id == match_id)).all() == []
        assert bots.get_bot(session, world.bot_ids[0]).unreachable_streak == 0
