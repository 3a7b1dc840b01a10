"""A runner with a real database and real HTTP bots: handshakes, matches, faults, and resuming after a stop."""

import pytest
from aiohttp import web
from sqlalchemy import select

from referee.bots import bots
from referee.ladders.tables import Rating
from referee.matches import matches
from referee.matches.logs.recording import MatchUpdate
from referee.matches.queue import claims
from referee.matches.tables import Fault
from tests.workers.conftest import PATIENT, SHORT, First, Scripted, World, hang_up, serving, until
from workers import match_runner


async def test_A13_a_stranger_that_does_not_know_the_secret_is_sent_nothing_but_the_challenge(world: World) -> None:
    paths: list[str] = []

    async def stranger(request: web.Request) -> web.StreamResponse:
        paths.append(request.path)
        return web.json_response({"proof": "0" * 64})

    async with serving(stranger) as url:
        world.enlist(url)
        await world.run()

    bot = world.bot(world.bot_ids[0])
    assert paths == ["/notify"]
    assert bot.status == "unverified"
    assert bot.handshake_report is not None
    assert bot.handshake_report["challenge"]["code"] == "wrong_proof"


@pytest.mark.parametrize(("game", "seats"), [("saint-poker", 4), ("pool-nap", 3)])
async def test_due_matches_are_played_rated_and_their_logs_verify(world: World, game: str, seats: int) -> None:
    async with world.houses("first", "random", "sound", "random"):
        ids = [world.arrange(game, world.bot_ids[:seats], options=SHORT) for _ in range(2)]
        assert (await world.run()).finished == 2

    for match_id in ids:
        report = world.verified(match_id)
        assert (report.ok, report.revealed, report.reason) == (True, True, "")
        assert world.status(match_id) == "finished"
        assert [len(nonce) for nonce in world.rows(match_id)[-1]["nonces"]] == [32] * seats
    assert world.differences() == []
    values = world.scalars(select(Rating.value))
    assert len(values) == seats
    assert sum(values) == seats * 1_500_000_000


@pytest.mark.parametrize(("delay_s", "stored"), [(1000.0, False), (0.0, True)])
async def test_an_answer_is_stored_sealed_only_while_others_to_the_same_question_take_their_time(
    world: World, monkeypatch: pytest.MonkeyPatch, updates: list[MatchUpdate], delay_s: float, stored: bool
) -> None:
    async def wait_for_the_other(request: web.Request) -> None:
        if stored:
            await until(lambda: any(update.sealed for update in updates))

    monkeypatch.setattr(match_runner, "SEALED_DELAY_S", delay_s)
    match_id = await world.play("first", Scripted(wait_for_the_other), limits=PATIENT)

    assert world.verified(match_id).ok
    assert any(update.sealed for update in updates) is stored


async def test_an_answer_that_became_a_row_when_its_time_was_over_is_not_stored_sealed(
    world: World, monkeypatch: pytest.MonkeyPatch, updates: list[MatchUpdate]
) -> None:
    """Otherwise it would stay in the table, and a later runner would play it as an answer to another question."""

    async def wait_too_long(table: match_runner._MatchSession) -> None:
        question = table.match.n
        await until(lambda: table.match.n != question)

    monkeypatch.setattr(match_runner._MatchSession, "_wait_for_last_answer", wait_too_long)
    match_id = await world.play("first", "first", "first", limits=PATIENT)

    assert world.verified(match_id).ok
    assert not any(update.sealed for update in updates)


async def test_K29_A7_a_bot_that_faults_loses_its_moves_not_the_match_and_is_paused_after_three(world: World) -> None:
    async def stale(request: web.Request) -> web.Response:
        return web.json_response({"decision": "another", "action": {}})

    async with world.houses("first", Scripted(stale)):
        ids = [world.arrange("saint-poker", world.bot_ids) for _ in range(3)]
        await world.run()

    evidence = world.scalars(select(Fault))
    assert [one.code for one in evidence] == ["stale_decision"] * 9
    assert all(one.request and one.reply and one.timing for one in evidence)
    for match_id in ids:
        assert [row["fault"] for row in world.rows(match_id) if row.get("fault")] == ["stale_decision"] * 3
        assert world.faults(match_id) == [0, 3]
        assert world.verified(match_id).ok
    well, sick = (world.bot(bot_id) for bot_id in world.bot_ids)
    assert (well.status, well.unreachable_streak) == ("verified", 0)
    assert (sick.status, sick.unreachable_streak) == ("paused", 3)
    assert "resume it" in (sick.status_reason or "")


async def test_F9_C12_a_bot_that_hangs_up_in_mid_match_is_rated_by_its_placement(world: World) -> None:
    asked = 0

    async def hangs_up(request: web.Request) -> web.Response | None:
        nonlocal asked
        asked += 1
        return None if asked <= 3 else hang_up(request)

    match_id = await world.play("first", Scripted(hangs_up), options={})

    stayed, left = world.seats(match_id)
    assert (stayed.faults, left.faults) == (0, 3)
    assert stayed.placement is not None
    assert left.placement is not None
    rated = {rating.bot_id: rating for rating in world.scalars(select(Rating))}
    ahead, behind = rated[stayed.bot_id].value, rated[left.bot_id].value
    assert [rated[seat.bot_id].games for seat in (stayed, left)] == [1, 1]
    assert (ahead > behind, ahead == behind) == (stayed.placement < left.placement, stayed.placement == left.placement)
    assert world.differences() == []


async def test_K5_a_runner_told_to_stop_gives_its_match_back_and_another_goes_on_from_the_record(world: World) -> None:
    async with world.houses("first", "random", latency_ms=5) as houses:
        match_id = world.arrange("pool-nap", world.bot_ids)
        async with world.running():
            await until(lambda: houses[1].decisions > 5)  # few of a match: the shortest have little more than 20
        stopped, before = world.match(match_id), world.lines(match_id)
        assert (stopped.status, stopped.epoch) == ("due", 1)
        assert len(before) > 5
        await world.run()

    match = world.match(match_id)
    assert (match.status, match.epoch) == ("finished", 2)
    assert world.lines(match_id)[: len(before)] == before
    assert world.verified(match_id).ok


async def test_F1_a_runner_whose_claim_was_taken_over_writes_nothing_more(world: World) -> None:
    async with world.houses("first", "random", latency_ms=5) as houses:
        match_id = world.arrange("pool-nap", world.bot_ids)
        async with world.running(to_the_end=True):
            await until(lambda: houses[1].decisions > 5)
            with world.database.write() as session:
                matches.get_match(session, match_id).epoch += 1
                rows = len(world.lines(match_id))
        assert len(world.lines(match_id)) <= rows + 2
        world.write(claims.release_claims, [claims.Claim(match_id, 2)])
        await world.run()

    assert world.status(match_id) == "finished"
    assert world.verified(match_id).ok
    assert world.differences() == []


async def test_K32_a_secret_rotated_in_mid_match_signs_for_old_and_new(world: World) -> None:
    async with world.houses("random", "first", latency_ms=2) as houses:
        match_id = world.arrange("pool-nap", world.bot_ids)
        async with world.running(to_the_end=True):
            await until(lambda: houses[0].decisions > 5)
            houses[0].secret = world.secret_of(world.write(bots.rotate_secret, world.bot_ids[0]))
            await until(lambda: houses[0].decisions > 10)
        after = world.arrange("saint-poker", world.bot_ids, options=SHORT)
        await world.run()

    assert world.faults(match_id) + world.faults(after) == [0, 0, 0, 0]


class Noted(First):
    """A house bot that notes the ports from which it is called."""

    def __init__(self) -> None:
        super().__init__()
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


async def test_each_seat_has_one_connection_for_nonces_questions_and_notices(world: World) -> None:
    bots_of_the_match = [Noted(), Noted()]

    match_id = await world.play(*bots_of_the_match, game="pool-nap")

    assert world.status(match_id) == "finished"
    assert [(len(bot.ports), bot.notices) for bot in bots_of_the_match] == [(1, 5), (1, 5)]
