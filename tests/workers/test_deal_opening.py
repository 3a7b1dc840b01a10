"""Openings of deal groups by a runner, with bots that keep, break or withhold their promises."""

import asyncio
from typing import Any

import pytest
from aiohttp import web
from sqlalchemy import select

from referee.botclient import client
from referee.botclient.reply import Reply
from referee.match.canonical import Json
from referee.match.signature import head_after
from referee.matches.lists import fault_reports
from referee.matches.logs import chain
from referee.matches.tables import DealGroup, FailedNonce, StoredMatch
from referee.workflows.voids import match_cancellation
from tests.protocol.schemas import check
from tests.surroundings import MASTER_KEY
from tests.workers.conftest import SHORT, First, World


class Promising(First):
    """A house bot that answers some steps of an opening with ``answers``, by number, and keeps what it is sent."""

    def __init__(self, answers: dict[int, Json] | None = None) -> None:
        super().__init__()
        self.answers = answers or {}
        self.steps: list[tuple[str, int]] = []
        self.shown: list[Json] = []
        self.ends: list[Json] = []  # notices that deal groups are over

    async def _notify(self, request: web.Request) -> web.Response:
        notice = await request.json()
        if notice["type"] == "group_start":
            self.steps.append((notice["group"]["id"], notice["step"]))
            self.shown.append(notice["group"])
            if notice["step"] in self.answers:
                return web.json_response(self.answers[notice["step"]])
        if notice["type"] == "group_end":
            self.ends.append(check("group_end_request", await request.read()))
        return await super()._notify(request)


def failures(world: World) -> list[tuple[Any, ...]]:
    with world.database.read() as session:
        columns = (FailedNonce.bot_id, FailedNonce.code, FailedNonce.detail)
        return [tuple(row) for row in session.execute(select(*columns).order_by(FailedNonce.id))]


async def test_D8_bots_that_keep_their_promises_see_all_nonces_before_the_deal(world: World) -> None:
    bots = [Promising(), Promising(), Promising({1: {}})]

    match_id = await world.play(*bots)

    reveal = world.rows(match_id)[-1]
    assert [step for _, step in bots[0].steps] == [1, 2, 3]
    assert [step for _, step in bots[2].steps] == [1], "a bot without a nonce is not asked for it"
    assert bots[0].shown[2]["nonces"] == bots[1].shown[2]["nonces"] == reveal["nonces"]
    assert [bool(nonce) for nonce in reveal["nonces"]] == [True, True, False]
    assert (reveal["accepted"], reveal["openings"]) == ([True, True, None], [])
    report = world.verified(match_id)
    assert report.ok
    assert report.origin is not None
    assert (report.origin.nonces, report.origin.openings) == (2, 1)


@pytest.mark.parametrize(
    ("answers", "code", "detail"),
    [
        ({2: {}}, "nonce_withheld", "nonce must be 1 to 64 letters"),
        ({2: {"nonce": "another"}}, "nonce_withheld", "does not fit its hash"),
        ({3: {"accepted": False}}, "nonces_refused", "answered false"),
    ],
)
async def test_D8_a_bot_that_breaks_its_promise_ends_the_opening_and_is_not_asked_again(
    world: World, answers: dict[int, Json], code: str, detail: str
) -> None:
    honest, broken = Promising(), Promising(answers)

    match_id = await world.play(honest, broken)

    reveal, header = world.rows(match_id)[-1], world.rows(match_id)[0]
    (ended,) = reveal["openings"]
    assert ended["failures"] == {world.bot_ids[1]: code}
    assert [group for group, _ in honest.steps] == [ended["id"]] * max(answers) + [header["group"]["id"]] * 3
    assert {group for group, _ in broken.steps} == {ended["id"]}
    assert reveal["nonces"][1] == reveal["nonce_hashes"][1] == ""
    assert reveal["nonces"][0] != ended["nonces"][0], "each opening has nonces of its own"
    report = world.verified(match_id)
    assert report.ok
    assert report.origin is not None
    assert (report.origin.nonces, report.origin.openings, report.origin.failures) == (1, 2, {code: 1})
    assert world.differences() == []
    ((bot_id, stored_code, stored_detail),) = failures(world)
    assert (bot_id, stored_code) == (world.bot_ids[1], code)
    assert detail in stored_detail
    with world.database.read() as session:
        assert fault_reports.list_codes(session, match_id) == set(), "never among the faults of a match"
        group = session.get_one(DealGroup, world.match(match_id).group_id)
    assert (group.opening_number, group.left_out, group.entries) == (2, [world.bot_ids[1]], world.bot_ids)


async def test_D8_an_opening_waits_while_this_host_cannot_call(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    notify, unmade = client.notify, [Reply(fault="uplink_down", detail="too many open files")]

    async def fail_once(*call: Any) -> Reply:
        return unmade.pop() if unmade else await notify(*call)

    monkeypatch.setattr(client, "notify", fail_once)

    match_id = await world.play(Promising(), Promising())

    reveal = world.rows(match_id)[-1]
    assert (unmade, reveal["openings"], reveal["accepted"]) == ([], [], [True, True])


async def test_D8_bots_that_fail_one_after_the_other_end_as_many_openings(world: World) -> None:
    bots = [Promising(), Promising({2: {}}), Promising({3: {"accepted": False}})]

    match_id = await world.play(*bots)

    reveal = world.rows(match_id)[-1]
    _, second, third = world.bot_ids
    assert [opening["failures"] for opening in reveal["openings"]] == [
        {second: "nonce_withheld"},
        {third: "nonces_refused"},
    ]
    assert world.verified(match_id).ok
    assert world.differences() == []
    with world.database.read() as session:
        ended = session.scalars(select(DealGroup).where(DealGroup.superseded_by.is_not(None))).all()
        current = session.get_one(StoredMatch, match_id).group_id
    assert {group.superseded_by for group in ended} == {current}
    assert {group.state for group in ended} == {"revealed"}


async def test_D8_matches_that_share_their_cards_move_to_the_new_group_together(world: World) -> None:
    async with world.houses(Promising(), Promising({2: {}})):
        match_ids = world.arrange_sharing("saint-poker", world.bot_ids, options=SHORT)
        assert (await world.run()).finished == 2

    reveals = [world.rows(match_id)[-1] for match_id in match_ids]
    assert reveals[0]["openings"] == reveals[1]["openings"] != []
    assert reveals[0]["seed"] == reveals[1]["seed"]
    assert all(world.verified(match_id).ok for match_id in match_ids)
    assert world.differences() == []


async def test_D11_an_opening_that_ends_while_its_match_is_cancelled_leaves_nothing_open(world: World) -> None:
    canceller = Cancelling(world)
    async with world.houses(Promising(), canceller):
        canceller.match_id = world.arrange("saint-poker", world.bot_ids, options=SHORT)
        assert (await world.run()).finished == 0

    match, group = world.one(select(StoredMatch)), world.one(select(DealGroup))
    assert (match.status, group.state, group.superseded_by) == ("cancelled", "revealed", None)


class Cancelling(Promising):
    """A bot that withholds its nonce, during whose second step the match is cancelled."""

    def __init__(self, world: World) -> None:
        super().__init__({2: {}})
        self.world, self.match_id = world, ""

    async def _notify(self, request: web.Request) -> web.Response:
        notice = await request.json()
        if notice.get("step") == 2:
            cancel = match_cancellation.cancel_match
            await asyncio.to_thread(self.world.write, cancel, self.match_id, master_key=MASTER_KEY)
        return await super()._notify(request)


async def test_F14_bots_receive_the_head_of_the_chain_after_the_logs_of_their_match(world: World) -> None:
    bots = [Promising(), Promising()]

    async with world.houses(*bots):
        for _ in range(2):
            world.arrange("pool-nap", world.bot_ids, options=SHORT)
            await world.run()

    heads = [head_after(entry).to_json() for entry in world.read(chain.list_checked_entries, 0, 10)]
    assert [head["number"] for head in heads] == [1, 2]
    for bot in bots:
        assert [end["head"] for end in bot.ends] == heads
