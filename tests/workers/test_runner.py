"""A runner with a real database and real HTTP bots: handshakes, matches, faults, and resuming after a stop."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from sqlalchemy import select

from referee.bots import bots
from referee.games import catalogue
from referee.house.players import find_player
from referee.house.server import House
from referee.ladders.tables import Rating
from referee.match.log import parse_row
from referee.match.time_limits import Limits
from referee.matches import matches
from referee.matches.logs.recording import MatchUpdate
from referee.matches.queue import claims
from referee.matches.tables import Fault, MatchSeat
from tests.workers.conftest import Scripted, World
from workers import match_runner
from workers.database_thread import DatabaseThread
from workers.runner import Runner

SHORT = {"rounds": 2}
PATIENT = Limits(60_000, 60_000)


@asynccontextmanager
async def serving(handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[str]:
    """Start an HTTP server that passes every path to the handler."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def test_a_registered_bot_is_challenged_and_introduced(world: World) -> None:
    async def story() -> None:
        async with world.houses("first"):
            pass

    asyncio.run(story())

    bot = world.bot(world.bot_ids[0])
    assert (bot.status, bot.games, bot.max_concurrent_requests) == ("verified", sorted(catalogue()), 100)
    assert bot.handshake_report is not None
    assert bot.handshake_report["ok"] is True


def test_A13_a_stranger_that_does_not_know_the_secret_is_sent_nothing_but_the_challenge(world: World) -> None:
    paths: list[str] = []

    async def stranger(request: web.Request) -> web.StreamResponse:
        paths.append(request.path)
        return web.json_response({"proof": "0" * 64})

    async def story() -> None:
        async with serving(stranger) as url:
            await asyncio.to_thread(world.enlist, url)
            await world.run()

    asyncio.run(story())

    bot = world.bot(world.bot_ids[0])
    assert paths == ["/notify"]
    assert bot.status == "unverified"
    assert bot.handshake_report is not None
    assert bot.handshake_report["challenge"]["code"] == "wrong_proof"


@pytest.mark.parametrize(("game", "seats"), [("saint-poker", 2), ("saint-poker", 4), ("pool-nap", 3)])
def test_due_matches_are_played_rated_and_their_logs_verify(world: World, game: str, seats: int) -> None:
    async def story() -> list[str]:
        async with world.houses("first", "random", "sound", "random"):
            ids = [world.arrange(game, world.bot_ids[:seats], options=SHORT) for _ in range(5)]
            tally = await world.run()
        assert tally.finished == 5
        return ids

    ids = asyncio.run(story())

    for match_id in ids:
        report = world.verified(match_id)
        assert (report.ok, report.revealed, report.reason) == (True, True, "")
        assert world.match(match_id).status == "finished"
    assert world.differences() == []
    with world.database.read() as session:
        values = session.scalars(select(Rating.value)).all()
    assert len(values) == seats
    assert sum(values) == seats * 1_500_000_000


@pytest.mark.parametrize(("delay_s", "stored"), [(1000.0, False), (0.0, True)])
def test_an_answer_is_stored_sealed_only_while_others_to_the_same_question_take_their_time(
    world: World, monkeypatch: pytest.MonkeyPatch, delay_s: float, stored: bool
) -> None:
    updates: list[MatchUpdate] = []
    record = DatabaseThread.record

    async def noted(thread: DatabaseThread, update: MatchUpdate) -> None:
        updates.append(update)
        await record(thread, update)
        if update.sealed:
            first_stored.set()

    async def wait_for_the_other(request: web.Request) -> None:
        if stored:
            await first_stored.wait()

    async def story() -> str:
        async with world.houses("first", Scripted(wait_for_the_other)):
            match_id = world.arrange("saint-poker", world.bot_ids, options=SHORT, limits=PATIENT)
            await world.run()
            return match_id

    monkeypatch.setattr(match_runner, "SEALED_DELAY_S", delay_s)
    monkeypatch.setattr(DatabaseThread, "record", noted)
    first_stored = asyncio.Event()
    match_id = asyncio.run(story())

    assert world.verified(match_id).ok
    assert any(update.sealed for update in updates) is stored


def test_an_answer_that_became_a_row_when_its_time_was_over_is_not_stored_sealed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would stay in the table, and a later runner would play it as an answer to another question."""
    updates: list[MatchUpdate] = []
    record = DatabaseThread.record

    async def noted(thread: DatabaseThread, update: MatchUpdate) -> None:
        updates.append(update)
        await record(thread, update)

    async def wait_too_long(table: match_runner._MatchSession) -> None:
        question = table.match.n
        await until(lambda: table.match.n != question)

    async def story() -> str:
        async with world.houses("first", "first", "first"):
            match_id = world.arrange("saint-poker", world.bot_ids, options=SHORT, limits=PATIENT)
            await world.run()
            return match_id

    monkeypatch.setattr(match_runner._MatchSession, "_wait_for_last_answer", wait_too_long)
    monkeypatch.setattr(DatabaseThread, "record", noted)
    match_id = asyncio.run(story())

    assert world.verified(match_id).ok
    assert not any(update.sealed for update in updates)


def test_D8_the_bots_nonces_enter_the_deal(world: World) -> None:
    async def story() -> str:
        async with world.houses("first", "first"):
            match_id = world.arrange("saint-poker", world.bot_ids, options=SHORT)
            await world.run()
            return match_id

    reveal = parse_row(world.lines(asyncio.run(story()))[-1])

    assert [len(nonce) for nonce in reveal["nonces"]] == [32, 32]


def test_B16_a_bot_that_hangs_holds_up_its_own_match_alone(world: World) -> None:
    holding = Holding()

    async def story() -> None:
        async with world.houses("first", "first", Scripted(holding)):
            stuck = world.arrange("saint-poker", [world.bot_ids[0], world.bot_ids[2]], limits=PATIENT)
            others = [world.arrange("saint-poker", world.bot_ids[:2], options=SHORT) for _ in range(6)]
            runner = Runner(world.settings, world.database)
            running = asyncio.create_task(runner.run())
            await until(lambda: bool(holding.asked) and all(world.match(one).status == "finished" for one in others))
            assert world.match(stuck).status == "running"
            runner.stop()
            await running
            assert world.match(stuck).status == "due"
            holding.released.set()

    asyncio.run(story())


def test_K29_a_bot_that_faults_loses_its_moves_not_the_match_and_its_owner_sees_why(world: World) -> None:
    async def stale(request: web.Request) -> web.Response:
        return web.json_response({"decision": "another", "action": {}})

    async def story() -> str:
        async with world.houses("first", Scripted(stale)):
            match_id = world.arrange("saint-poker", world.bot_ids, options=SHORT)
            await world.run()
            return match_id

    match_id = asyncio.run(story())

    faults = [row["fault"] for row in map(parse_row, world.lines(match_id)) if row.get("fault")]
    assert faults == ["stale_decision"] * 3
    with world.database.read() as session:
        evidence = session.scalars(select(Fault).order_by(Fault.id)).all()
        seats = matches.seats_of(session, [match_id])[match_id]
    assert [one.code for one in evidence] == ["stale_decision"] * 3
    assert all(one.request and one.reply and one.timing for one in evidence)
    assert [seat.faults for seat in seats] == [0, 3]
    assert world.verified(match_id).ok


def test_F9_C12_a_bot_that_hangs_up_in_mid_match_is_rated_by_its_placement(world: World) -> None:
    asked = 0

    async def hangs_up(request: web.Request) -> web.Response | None:
        nonlocal asked
        asked += 1
        if asked <= 3:
            return None
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async def story() -> str:
        async with world.houses("first", Scripted(hangs_up)):
            match_id = world.arrange("saint-poker", world.bot_ids)
            await world.run()
            return match_id

    stayed, left = seats_of(world, asyncio.run(story()))

    assert (stayed.faults, left.faults) == (0, 3)
    assert stayed.placement is not None
    assert left.placement is not None
    with world.database.read() as session:
        rated = {rating.bot_id: rating for rating in session.scalars(select(Rating))}
    ahead, behind = rated[stayed.bot_id].value, rated[left.bot_id].value
    assert [rated[seat.bot_id].games for seat in (stayed, left)] == [1, 1]
    assert (ahead > behind, ahead == behind) == (
        stayed.placement < left.placement,
        stayed.placement == left.placement,
    )
    assert world.differences() == []


def test_K5_a_runner_told_to_stop_gives_its_match_back_and_another_goes_on_from_the_record(world: World) -> None:
    async def story() -> str:
        async with world.houses("first", "random", latency_ms=5) as houses:
            match_id = world.arrange("pool-nap", world.bot_ids)
            runner = Runner(world.settings, world.database)
            running = asyncio.create_task(runner.run())
            await until(lambda: houses[1].decisions > 5)  # few of a match: the shortest have little more than 20
            runner.stop()
            await running
            stopped = world.match(match_id)
            assert (stopped.status, stopped.epoch) == ("due", 1)
            before = len(world.lines(match_id))
            assert before > 5
            await world.run()
            assert world.lines(match_id)[:before]
        return match_id

    match_id = asyncio.run(story())

    match = world.match(match_id)
    assert (match.status, match.epoch) == ("finished", 2)
    assert world.verified(match_id).ok


def test_C9_a_question_asked_again_after_a_stop_is_the_same_to_the_byte(world: World) -> None:
    holding = Holding()

    async def story() -> None:
        async with world.houses("first", Scripted(holding)):
            world.arrange("saint-poker", world.bot_ids, options=SHORT, limits=PATIENT)
            for times in (1, 2):
                runner = Runner(world.settings, world.database)
                running = asyncio.create_task(runner.run())
                await until(holding.was_asked(times))
                runner.stop()
                await running
            holding.released.set()

    asyncio.run(story())

    assert holding.asked[0] == holding.asked[1]


def test_F1_a_runner_whose_claim_was_taken_over_writes_nothing_more(world: World) -> None:
    async def story() -> str:
        async with world.houses("first", "random", latency_ms=5) as houses:
            match_id = world.arrange("pool-nap", world.bot_ids)
            runner = Runner(world.settings, world.database)
            running = asyncio.create_task(runner.run())
            await until(lambda: houses[1].decisions > 5)
            with world.database.write() as session:
                taken = matches.get_match(session, match_id)
                taken.epoch += 1
                rows = len(world.lines(match_id))
            await running
            assert len(world.lines(match_id)) <= rows + 2
            with world.database.write() as session:
                claims.release_claims(session, [claims.Claim(match_id, 2)])
            await world.run()
            return match_id

    match_id = asyncio.run(story())

    assert world.match(match_id).status == "finished"
    assert world.verified(match_id).ok
    assert world.differences() == []


def test_one_bot_never_gets_more_calls_at_once_than_it_declared(world: World) -> None:
    holding = Holding()

    async def story() -> None:
        async with world.houses("first", Scripted(holding)):
            with world.database.write() as session:
                bots.get_bot(session, world.bot_ids[1]).max_concurrent_requests = 2
            for _ in range(5):
                world.arrange("saint-poker", world.bot_ids, options=SHORT, limits=PATIENT)
            runner = Runner(world.settings, world.database)
            running = asyncio.create_task(runner.run())
            await until(lambda: len(holding.asked) == 2)
            holding.released.set()
            await running

    asyncio.run(story())

    assert holding.most_at_once == 2
    assert len({body for _, body in holding.asked}) == 5 * 8  # two rounds of river, selection and two pickups


def test_K32_a_secret_rotated_in_mid_match_signs_for_old_and_new(world: World) -> None:
    refused: list[int] = []

    async def story() -> str:
        async with world.houses("random", "first", latency_ms=2) as houses:
            match_id = world.arrange("pool-nap", world.bot_ids)
            running = asyncio.create_task(world.run())
            await until(lambda: houses[0].decisions > 5)
            with world.database.write() as session:
                rotated = bots.rotate_secret(session, world.bot_ids[0])
            houses[0].secret = world.secret_of(rotated)
            await until(lambda: houses[0].decisions > 10)
            await running
            refused.extend(seat.faults for seat in seats_of(world, match_id))
            after = world.arrange("saint-poker", world.bot_ids, options=SHORT)
            await world.run()
            refused.extend(seat.faults for seat in seats_of(world, after))
        return match_id

    asyncio.run(story())

    assert refused == [0, 0, 0, 0]


# -- helpers --


def seats_of(world: World, match_id: str) -> list[MatchSeat]:
    with world.database.read() as session:
        return matches.seats_of(session, [match_id])[match_id]


class Holding:
    """A handler that counts questions and delays them until released."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, bytes]] = []  # webhook-id and body
        self.released = asyncio.Event()
        self.most_at_once = self._at_once = 0

    def was_asked(self, times: int) -> Callable[[], bool]:
        return lambda: len(self.asked) == times

    async def __call__(self, request: web.Request) -> None:
        self.asked.append((request.headers["webhook-id"], await request.read()))
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        await self.released.wait()
        self._at_once -= 1


async def until(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Wait for a condition; fail after a time limit.

    It returns a bool: a list that was empty when the condition was evaluated may be filled before it is looked at.
    """
    async with asyncio.timeout(seconds):
        while not await asyncio.to_thread(condition):  # noqa: ASYNC110  # what is waited for is in other processes too
            await asyncio.sleep(0.01)


class Noted(House):
    """A house bot that notes the ports from which it is called."""

    def __init__(self) -> None:
        super().__init__("first", find_player("first"))
        self.ports: set[int] = set()
        self.notices = 0

    async def _decide(self, request: web.Request) -> web.Response:
        self._note(request)
        return await super()._decide(request)

    async def _notify(self, request: web.Request) -> web.Response:
        self._note(request)
        self.notices += 1
        return await super()._notify(request)

    def _note(self, request: web.Request) -> None:
        assert request.transport is not None
        self.ports.add(request.transport.get_extra_info("peername")[1])


def test_each_seat_has_one_connection_for_nonces_questions_and_notices(world: World) -> None:
    bots_of_the_match = [Noted(), Noted()]

    async def story() -> str:
        async with world.houses(*bots_of_the_match):
            for bot in bots_of_the_match:  # forget the handshakes
                bot.ports, bot.notices = set(), 0
            match_id = world.arrange("pool-nap", world.bot_ids, options=SHORT)
            await world.run()
            return match_id

    match_id = asyncio.run(story())

    assert world.match(match_id).status == "finished"
    assert [(len(bot.ports), bot.notices) for bot in bots_of_the_match] == [(1, 5), (1, 5)]
