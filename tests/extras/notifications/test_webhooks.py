"""Webhooks and deliveries: subscribers, due times, claims, limits."""

import json
import tracemalloc
from dataclasses import dataclass
from datetime import timedelta

import pytest
from sqlalchemy import insert, select, update

from referee.errors import Conflict, NotFound, StaleEpoch
from referee.events import BotDeleted
from referee.workflows.unclaimed_work import list_unclaimed
from referee_extras.notifications import deliveries, outbox, personal_data, webhooks
from referee_extras.notifications.deliveries import DeliveryJob, DeliveryOutcome
from referee_extras.notifications.tables import Delivery, Webhook
from tests.database.world import World
from tests.extras.retention.pruning import prune
from tests.workflows.test_deletion_races import assert_refused, delete_account, load
from tests.workflows.test_deletion_races import postgres as postgres

URL = "https://hooks.example.org/mine"
WELL = DeliveryOutcome(200)
BADLY = DeliveryOutcome(500, "500, expected 2xx")


@dataclass
class Hooks:
    """An owner's webhooks, with helpers that each use one transaction."""

    world: World
    account_id: str

    def create(self, url: str = URL, *events: str) -> str:
        with self.world.database.write() as session:
            return webhooks.create(session, self.account_id, url, events or ["match.finished"]).id

    def active(self, url: str = URL, *events: str) -> str:
        webhook_id = self.create(url, *events)
        (parcel,) = self.claim()
        self.finish(parcel, WELL)
        return webhook_id

    def emit(self, count: int = 1, event: str = "match.finished") -> int:
        with self.world.database.write() as session:
            return sum(outbox.emit(session, event, [self.account_id], {"n": n}) for n in range(count))

    def claim(self, limit: int = 100) -> list[DeliveryJob]:
        with self.world.database.write() as session:
            assert deliveries.has_due(session) or not deliveries.claim_due(session, limit)
            return deliveries.claim_due(session, limit)

    def finish(self, parcel: DeliveryJob, outcome: DeliveryOutcome, jitter: float = 0.0) -> Delivery:
        with self.world.database.write() as session:
            return deliveries.finish(session, parcel.delivery_id, parcel.epoch, outcome, jitter=jitter)

    def fail(self, parcel: DeliveryJob, times: int) -> DeliveryJob:
        """Let this number of attempts fail, each when due; return the claim of the next."""
        for _ in range(times):
            self.world.clock.moment = self.finish(parcel, BADLY).due_at
            (parcel,) = self.claim()
        return parcel

    def webhook(self, webhook_id: str) -> Webhook:
        with self.world.database.read() as session:
            return webhooks.get_webhook(session, webhook_id)

    def delivery(self, delivery_id: str) -> Delivery:
        with self.world.database.read() as session:
            return session.get_one(Delivery, delivery_id)

    def lose_leases(self) -> None:
        self.world.clock.seconds += deliveries.LEASE_S + 1
        with self.world.database.write() as session:
            session.execute(update(Delivery).values(lease_until=Delivery.lease_until - deliveries.LEASE_S - 1))


@pytest.fixture
def hooks(world: World) -> Hooks:
    return Hooks(world, world.account())


def test_names_are_replaced_in_many_messages_without_holding_all_of_them(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(personal_data, "_READ_AT_ONCE", 10)
    webhook_id, bot_id = hooks.active(), f"bot_{'0' * 26}"
    hooks.emit()
    data = {"text": "x" * 20_000, "seats": [{"bot": bot_id, "name": "Al"}]}
    body = json.dumps({"type": "match.finished", "data": data}).encode()
    with hooks.world.database.write() as session:
        (made,) = session.scalars(select(Delivery).where(Delivery.event == "match.finished"))
        same = {column.key: getattr(made, column.key) for column in Delivery.__table__.columns}
        session.execute(insert(Delivery), [{**same, "id": f"dlv_{n:026}", "body": body} for n in range(200)])

    with hooks.world.database.write() as session:
        tracemalloc.start()
        personal_data.replace_bot_name(session, BotDeleted(bot=bot_id, name="deleted bot", kept=[]))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    with hooks.world.database.read() as session:
        bodies = session.scalars(select(Delivery.body).where(Delivery.webhook_id == webhook_id, Delivery.id < "dlv_1"))
        names = [json.loads(text)["data"]["seats"][0]["name"] for text in bodies if b"seats" in text]
    assert names == ["deleted bot"] * 200
    assert peak < 200 * len(body) / 2


def test_those_are_told_who_asked_once_their_address_has_answered_a_ping(hooks: Hooks) -> None:
    webhook_id = hooks.create(URL, "bot.unhealthy", "match.finished")
    stranger = Hooks(hooks.world, hooks.world.account())
    assert hooks.emit() == 0  # nobody has verified the address
    (ping,) = hooks.claim()
    delivered = hooks.finish(ping, WELL)
    stranger.active()

    assert json.loads(ping.body)["type"] == "ping"
    assert (delivered.status, delivered.attempts, delivered.response_status) == ("delivered", 1, 200)
    assert hooks.webhook(webhook_id).status == "active"
    assert hooks.emit(event="tournament.started") == 0
    with hooks.world.database.write() as session:
        assert outbox.emit(session, "match.finished", [hooks.account_id, stranger.account_id], {}) == 2
        session.rollback()
    assert hooks.claim() == []
    assert hooks.emit(event="bot.unhealthy") == 1
    (parcel,) = hooks.claim()
    body = json.loads(parcel.body)
    assert body == {"type": "bot.unhealthy", "timestamp": body["timestamp"], "data": {"n": 0}}
    assert body["timestamp"].endswith("Z")
    with hooks.world.database.write() as session, pytest.raises(ValueError, match="16384 bytes"):
        outbox.emit(session, "match.finished", [hooks.account_id], {"much": "x" * 16_384})


def test_a_delivery_is_tried_nine_times_ever_later_then_has_failed(hooks: Hooks) -> None:
    webhook_id = hooks.active()
    hooks.emit()
    (parcel,) = hooks.claim()

    waits = []
    for _ in range(deliveries.ATTEMPTS - 1):
        before = hooks.world.clock.moment
        delivery = hooks.finish(parcel, BADLY, jitter=1.0)
        assert (delivery.status, delivery.response_status, delivery.last_error) == ("due", 500, "500, expected 2xx")
        assert hooks.claim() == []  # not before its time
        waits.append(round((delivery.due_at - before).total_seconds()))
        hooks.world.clock.moment = delivery.due_at
        (again,) = hooks.claim()
        assert (again.delivery_id, again.body) == (parcel.delivery_id, parcel.body)
        parcel = again
        with hooks.world.database.write() as session:  # as if another message had been delivered meanwhile
            session.execute(update(Webhook).values(failing_since=None))
    last = hooks.finish(parcel, BADLY)

    assert waits == [6, 36, 144, 720, 4320, 12960, 25920, 103680]  # a fifth more than the table, at most
    assert (last.status, last.attempts) == ("failed", 9)
    assert hooks.webhook(webhook_id).status == "active"


def test_a_webhook_is_disabled_after_a_day_of_failing_and_enabled_by_a_new_ping(hooks: Hooks) -> None:
    webhook_id = hooks.active()
    hooks.emit()
    last = hooks.fail(hooks.claim()[0], 8)  # the ninth attempt comes after 34 hours, the eighth came after 10
    assert hooks.webhook(webhook_id).status == "active"
    hooks.emit()

    hooks.finish(last, BADLY)
    webhook = hooks.webhook(webhook_id)
    assert (webhook.status, webhook.failing_since) == ("disabled", None)
    assert "every delivery failed for a day" in str(webhook.status_reason)
    with hooks.world.database.write() as session:
        with pytest.raises(Conflict, match="Enable it first"):
            webhooks.ping(session, webhook_id)
        with pytest.raises(Conflict, match="only to active webhooks"):
            deliveries.redeliver(session, last.delivery_id, account_id=hooks.account_id)
    with hooks.world.database.read() as session:
        second, first, _ = deliveries.list_deliveries(session, webhook_id).items
    assert [first.id, first.status, second.status] == [last.delivery_id, "failed", "failed"]
    assert (second.attempts, second.last_error) == (0, "the webhook was disabled")

    with hooks.world.database.write() as session:
        webhooks.edit(session, webhook_id, revision=webhook.revision, enabled=True)
    (ping,) = hooks.claim()
    hooks.finish(ping, WELL)
    with hooks.world.database.write() as session:
        with pytest.raises(NotFound):
            deliveries.redeliver(session, second.id, account_id="acc_of_somebody_else")
        deliveries.redeliver(session, second.id, account_id=hooks.account_id)
        with pytest.raises(Conflict, match="already due"):
            deliveries.redeliver(session, second.id, account_id=hooks.account_id)
    (again,) = hooks.claim()
    assert (again.delivery_id, again.body) == (second.id, second.body)
    assert hooks.finish(again, WELL).attempts == 1


def test_a_success_ends_a_time_of_failing(hooks: Hooks) -> None:
    webhook_id = hooks.active()
    hooks.emit(2)
    first, second = hooks.claim()
    failed = hooks.finish(first, BADLY)
    hooks.world.clock.moment += timedelta(hours=23)
    hooks.finish(second, WELL)
    hooks.world.clock.moment += timedelta(hours=23)

    assert failed.status == "due"
    (again,) = hooks.claim()
    hooks.finish(again, BADLY)
    assert hooks.webhook(webhook_id).status == "active"


def test_410_disables_at_once_and_an_unproven_address_is_not_called_for_days(hooks: Hooks) -> None:
    unproven = hooks.create()
    (ping,) = hooks.claim()
    last = hooks.fail(ping, deliveries.VERIFICATION_ATTEMPTS - 1)
    assert hooks.finish(last, BADLY).status == "failed"
    assert hooks.webhook(unproven).status == "unverified"
    assert hooks.webhook(unproven).status_reason == "the ping failed: 500, expected 2xx"

    gone = hooks.active()
    hooks.emit()
    (parcel,) = hooks.claim()
    assert hooks.finish(parcel, DeliveryOutcome(410, "410, expected 2xx")).status == "failed"
    assert (hooks.webhook(gone).status, hooks.webhook(gone).status_reason) == ("disabled", "it answered 410 Gone")


def test_a_lost_claim_is_an_attempt_with_the_same_id_and_one_given_back_or_failed_by_us_is_none(hooks: Hooks) -> None:
    hooks.active()
    hooks.emit()
    (lost,) = hooks.claim()
    assert hooks.claim() == []  # claimed
    hooks.lose_leases()
    (again,) = hooks.claim()
    assert (again.delivery_id, again.body, again.epoch) == (lost.delivery_id, lost.body, lost.epoch + 1)
    with pytest.raises(StaleEpoch):
        hooks.finish(lost, WELL)
    with hooks.world.database.write() as session:
        assert deliveries.release_claims(session, [again]) == 1
    assert hooks.delivery(lost.delivery_id).attempts == 1

    (parcel,) = hooks.claim()
    ours = hooks.finish(parcel, DeliveryOutcome(None, "uplink_down: on our side", is_our_outage=True))
    assert (ours.status, ours.attempts, hooks.webhook(parcel.webhook_id).failing_since) == ("due", 1, None)
    hooks.world.clock.moment = ours.due_at
    for _ in range(deliveries.ATTEMPTS - 1):
        assert len(hooks.claim()) == 1
        hooks.lose_leases()
    assert hooks.claim() == []
    assert hooks.delivery(parcel.delivery_id).status == "failed"


def test_E27_an_account_gets_no_webhook_while_it_is_deleted(postgres: World) -> None:
    owner = postgres.account()

    assert_refused(
        postgres,
        lambda session: webhooks.create(session, owner, URL, ["match.finished"]),
        load(owner),
        lambda session: delete_account(session, owner),
    )


def test_messages_that_nobody_claims_are_unclaimed_work(hooks: Hooks) -> None:
    hooks.create()  # sends a ping
    due = hooks.world.read(list_unclaimed)
    hooks.claim()

    assert (due, hooks.world.read(list_unclaimed)) == (["messages"], [])


def test_one_address_gets_four_at_once_one_while_it_fails_and_holds_nobody_up(hooks: Hooks) -> None:
    slow = hooks.active()
    other = Hooks(hooks.world, hooks.world.account())
    other.active("https://other.example.org:8443/x")
    hooks.emit(130)  # more than one query reads
    other.emit(2)

    held = hooks.claim()
    assert [parcel.webhook_id for parcel in held].count(slow) == deliveries.PER_TARGET
    assert len(held) == deliveries.PER_TARGET + 2
    for parcel in held[:4]:
        hooks.finish(parcel, BADLY)
    assert len(hooks.claim()) == deliveries.PER_FAILING_TARGET


def test_an_account_with_many_names_for_a_receiver_that_stalls_gets_eight_calls_at_once(hooks: Hooks) -> None:
    for number in range(5):
        hooks.active(f"https://name{number}.example.org")
    other = Hooks(hooks.world, hooks.world.account())
    well = other.active("https://well.example.org")
    hooks.emit(4)
    other.emit()

    told = [parcel.webhook_id for parcel in hooks.claim(limit=32)]

    assert len(told) == deliveries.PER_ACCOUNT + 1
    assert well in told
    assert hooks.claim() == []


def test_those_that_fail_never_get_all_the_room(hooks: Hooks) -> None:
    failing = {hooks.active(f"https://hooks{n}.example.org") for n in range(3)}
    hooks.emit()
    for parcel in hooks.claim():
        due_at = hooks.finish(parcel, BADLY).due_at
    well = hooks.active("https://well.example.org")
    hooks.world.clock.moment = due_at
    hooks.emit()

    told = [parcel.webhook_id for parcel in hooks.claim(limit=4)]

    assert len(set(told)) == len(told) == 3
    assert well in told
    assert len(failing & set(told)) == 2


def test_a_webhook_that_takes_fewer_messages_than_there_are_is_disabled(hooks: Hooks) -> None:
    slow = hooks.active()
    hooks.emit(deliveries.PER_TARGET + 1)
    first, second, *_ = hooks.claim()
    hooks.finish(first, WELL)
    assert hooks.webhook(slow).status == "active"

    columns = [column for column in Delivery.__table__.columns if column.name != "id"]
    waiting = select(*columns).where(Delivery.status == "due", Delivery.attempts == 0)
    with hooks.world.database.write() as session:
        row = dict(session.execute(waiting).one()._mapping)
        many = [{**row, "id": f"dlv_{number}"} for number in range(deliveries.MAX_QUEUE_LENGTH)]
        session.execute(insert(Delivery), many)
    hooks.finish(second, WELL)

    assert hooks.webhook(slow).status == "disabled"
    assert str(hooks.webhook(slow).status_reason).startswith("10,000 messages were waiting")
    assert hooks.delivery("dlv_1").status == "failed"  # kept, and can be sent again
    assert hooks.claim() == []


def test_a_moved_webhook_is_proven_anew_and_what_was_due_goes_to_the_new_address(hooks: Hooks) -> None:
    webhook_id = hooks.active()
    hooks.emit()
    (old,) = hooks.claim()
    revision = hooks.webhook(webhook_id).revision
    with hooks.world.database.write() as session:
        moved = webhooks.edit(session, webhook_id, revision=revision, url="https://new.example.org/")
        assert (moved.status, moved.status_reason) == ("unverified", "the address changed")
    with pytest.raises(Conflict), hooks.world.database.write() as session:
        webhooks.edit(session, webhook_id, revision=revision, events=["bot.unhealthy"])

    with pytest.raises(StaleEpoch):
        hooks.finish(old, WELL)
    (ping,) = hooks.claim()
    assert hooks.claim() == []
    hooks.finish(ping, WELL)
    (again,) = hooks.claim()
    assert (again.delivery_id, again.url) == (old.delivery_id, "https://new.example.org/")


def test_a_rotated_secret_signs_beside_the_one_before_for_a_day_and_a_deleted_webhook_takes_its_messages_along(
    hooks: Hooks,
) -> None:
    webhook_id = hooks.active()
    with hooks.world.database.write() as session:
        webhooks.rotate_secret(session, webhook_id)
    hooks.emit(2)
    first, second = hooks.claim()
    with hooks.world.database.write() as session:
        deliveries.release_claims(session, [second])
    hooks.world.clock.moment += timedelta(hours=25)
    (second,) = hooks.claim()
    assert [job.secret_generations for job in (first, second)] == [(2, 1), (2,)]

    with hooks.world.database.write() as session:
        webhooks.remove(session, webhook_id)
    with pytest.raises(StaleEpoch):
        hooks.finish(second, WELL)


def test_old_deliveries_that_are_over_are_pruned(hooks: Hooks) -> None:
    hooks.active()
    hooks.emit()
    hooks.finish(hooks.claim()[0], WELL)

    assert prune(hooks.world, "deliveries", days=30) == 0
    hooks.emit()
    hooks.world.clock.moment += timedelta(days=31)
    assert prune(hooks.world, "deliveries", days=30) == 2
    with hooks.world.database.read() as session:
        assert session.scalars(select(Delivery.status)).all() == ["due"]
