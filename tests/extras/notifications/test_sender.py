"""Deliveries over real HTTP: signed, retried, failed; none delays another, none is lost."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from referee.accounts import accounts
from referee.botclient.address_guard import Policy
from referee.db.engine import Database
from referee.protocol.signing import webhook_secret, webhook_secrets
from referee.settings import Settings
from referee_extras.notifications import deliveries, outbox, webhooks
from referee_extras.notifications.sender import WebhookSender
from referee_extras.notifications.states import WebhookKind
from referee_extras.notifications.tables import Delivery, Webhook
from tests.database.world import FakeClock
from tests.surroundings import MASTER_KEY, settings_for
from workers.database_thread import DatabaseThread
from workers.runner import Runner

SECRETS_OF = partial(webhook_secrets, MASTER_KEY)
SHORT_MS = 300  # for receivers that never answer


@dataclass
class Receiver:
    """An owner's endpoint. It sends ``answers`` one after the other, then always 204; None means no answer."""

    url: str = ""
    answers: list[int | None] = field(default_factory=list)
    got: list[tuple[Any, bytes]] = field(default_factory=list)  # headers and body of each request
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.got.append((request.headers, await request.read()))
        self.asked.set()
        answer = self.answers.pop(0) if self.answers else 204
        if answer is None:
            await asyncio.Event().wait()
        return web.Response(status=answer or 0, text="a word", headers={"Location": self.url + "/elsewhere"})

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.got]


@asynccontextmanager
async def receivers(*answers: Sequence[int | None], host: str = "127.0.0.1") -> AsyncIterator[list[Receiver]]:
    async with AsyncExitStack() as stack:
        made = []
        for some in answers:
            receiver = Receiver(answers=list(some))
            app = web.Application()
            app.router.add_route("*", "/{path:.*}", receiver.handle)
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.TCPSite(runner, host, 0).start()
            receiver.url = f"http://{host}:{runner.addresses[0][1]}/hook"
            made.append(receiver)
        yield made


@dataclass
class World:
    """A database with one owner and their webhooks."""

    settings: Settings
    database: Database
    clock: FakeClock
    account_id: str

    def webhook(self, url: str, *, active: bool = True, kind: WebhookKind = WebhookKind.SIGNED) -> str:
        with self.database.write() as session:
            made = webhooks.create(session, self.account_id, url, ["match.finished"], kind=kind)
            if active:
                (ping,) = deliveries.claim_due(session, 1)
                deliveries.finish(session, ping.delivery_id, ping.epoch, deliveries.DeliveryOutcome(200), jitter=0.0)
            return made.id

    def emit(self) -> None:
        with self.database.write() as session:
            assert outbox.emit(session, "match.finished", [self.account_id], {"match": "mat_1"})

    def courier(self, **options: Any) -> WebhookSender:
        return WebhookSender(
            DatabaseThread(self.database, master_key=MASTER_KEY),
            Policy.from_settings(self.settings),
            SECRETS_OF,
            **options,
        )

    async def deliver(self, **options: Any) -> int:
        """Send what is due now; return how many deliveries succeeded."""
        courier = self.courier(**options)
        await courier.start_due()
        await courier.wait()
        return courier.delivered

    def state(self, webhook_id: str) -> Webhook:
        with self.database.read() as session:
            return webhooks.get_webhook(session, webhook_id)

    def last(self, webhook_id: str) -> Delivery:
        with self.database.read() as session:
            return deliveries.list_deliveries(session, webhook_id).items[0]


@pytest.fixture
def world(tmp_path: Path, sqlite_url: str) -> Iterator[World]:
    settings = settings_for(tmp_path)
    clock = FakeClock()
    database = Database(sqlite_url, clock=clock)
    with database.write() as session:
        owner = accounts.create_account(session, "Owner 1")
    yield World(settings, database, clock, owner.id)
    database.dispose()


def signed_by(secret: str, headers: Any, body: bytes) -> bool:
    """Verify a signature as the Standard Webhooks specification describes."""
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body.decode()}"
    key = base64.b64decode(secret[len("whsec_") :])
    digest = base64.b64encode(hmac.new(key, content.encode(), hashlib.sha256).digest()).decode()
    return f"v1,{digest}" in headers["webhook-signature"].split(" ")


def test_a_ping_proves_an_address_and_a_message_is_sent_until_it_arrives(world: World) -> None:
    async def story() -> None:
        async with receivers([200, 500]) as (receiver,):
            webhook_id = world.webhook(receiver.url, active=False)
            await Runner(world.settings, world.database).run()  # a runner does it concurrently with its matches
            assert world.state(webhook_id).status == "active"
            world.emit()
            with world.database.write() as session:
                webhooks.rotate_secret(session, webhook_id)
            assert await world.deliver() == 0
            failed = world.last(webhook_id)
            assert await world.deliver() == 0  # not before its time
            world.clock.moment = failed.due_at
            assert await world.deliver() == 1

            (ping, _), (first, body), (second, again) = receiver.got
            assert ping["webhook-id"] != first["webhook-id"] == second["webhook-id"]
            assert body == again
            assert json.loads(body)["data"] == {"match": "mat_1"}
            old, new = (webhook_secret(MASTER_KEY, webhook_id, generation) for generation in (1, 2))
            assert signed_by(old, ping, receiver.got[0][1])
            assert not signed_by(new, ping, receiver.got[0][1])
            assert all(signed_by(secret, headers, body) for secret in (old, new) for headers in (first, second))
            assert (failed.response_status, failed.last_error) == (500, "500, expected 2xx")
            arrived = world.last(webhook_id)
            assert (arrived.status, arrived.attempts, arrived.response_status) == ("delivered", 2, 204)

    asyncio.run(story())


def test_silence_redirects_refusals_and_forbidden_addresses_fail_and_hold_nobody_up(world: World) -> None:
    async def story() -> None:
        async with (
            receivers([None], [302], [410], []) as (silent, moved, gone, well),
            receivers([], host="127.0.0.2") as (forbidden,),
        ):
            ids = {one.url: world.webhook(one.url) for one in (silent, moved, gone, well, forbidden)}
            world.emit()
            assert await world.deliver(deadline_ms=SHORT_MS) == 1

            tried = {one.url: world.last(ids[one.url]) for one in (silent, moved, gone, well, forbidden)}
            assert tried[well.url].status == "delivered"
            assert (tried[silent.url].response_status, tried[silent.url].last_error) == (
                None,
                "deadline: no complete answer in time",
            )
            moved_error = str(tried[moved.url].last_error)
            assert moved_error.startswith("redirect_refused: redirects to ")
            assert moved_error.endswith("/elsewhere' (302)")
            assert str(tried[forbidden.url].last_error).startswith("egress_denied: ")
            assert [len(one.got) for one in (silent, moved, gone, well, forbidden)] == [1, 1, 1, 1, 0]
            assert tried[gone.url].status == "failed"
            states = [world.state(ids[one.url]).status for one in (silent, moved, gone, well, forbidden)]
            assert states == ["active", "active", "disabled", "active", "active"]

    asyncio.run(story())


def test_a_claim_that_had_to_look_long_is_followed_by_a_rest(world: World) -> None:
    times = iter([10.0, 10.5, 10.5, 15.4, 15.6, 15.6])  # asked and answered, at the end of it; asked; asked, answered

    async def story() -> None:
        async with receivers([], []) as (one, other):
            world.webhook(one.url, active=False)
            courier = world.courier(seconds=lambda: next(times))
            await courier.start_due()
            await courier.wait()
            world.webhook(other.url, active=False)

            await courier.start_due()
            assert not courier.is_busy
            await courier.start_due()
            await courier.wait()
            assert len(one.got) == len(other.got) == 1

    asyncio.run(story())


def test_a_message_whose_sender_is_lost_is_sent_again_with_the_same_id(world: World) -> None:
    async def story() -> None:
        async with receivers([None, None]) as (receiver,):
            webhook_id = world.webhook(receiver.url)
            world.emit()
            with world.database.write() as session:
                (lost,) = deliveries.claim_due(session, 9)  # by a process that dies before sending
            assert await world.deliver() == 0
            world.clock.seconds += deliveries.LEASE_S + 1

            courier = world.courier()
            await courier.start_due()
            await receiver.asked.wait()
            await courier.stop(grace_s=0.01)  # after sending, before the answer
            assert await world.deliver(deadline_ms=SHORT_MS) == 0  # released, so due immediately; no answer again
            world.clock.moment = world.last(webhook_id).due_at
            assert await world.deliver() == 1

            assert receiver.ids == [lost.delivery_id] * 3
            assert world.last(webhook_id).attempts == 3  # the released claim is not an attempt

    asyncio.run(story())


def test_a_chat_service_gets_its_own_format_retried_like_any_other(world: World) -> None:
    async def scenario() -> tuple[Receiver, str, list[int]]:
        async with receivers([500]) as (receiver,):
            webhook_id = world.webhook(receiver.url, kind=WebhookKind.SLACK)
            world.emit()
            first = await world.deliver(public_url="https://r.example")
            world.clock.moment = world.last(webhook_id).due_at
            return receiver, webhook_id, [first, await world.deliver(public_url="https://r.example")]

    receiver, webhook_id, delivered = asyncio.run(scenario())

    assert (delivered, world.last(webhook_id).attempts) == ([0, 1], 2)
    assert receiver.ids[0] == receiver.ids[1]
    for headers, body in receiver.got:
        text = "A match of has its result.\nhttps://r.example/matches/mat_1"
        assert json.loads(body) == {"text": text, "mrkdwn": False}
        assert headers["Content-Type"] == "application/json"
        assert "webhook-signature" not in headers
