"""The inbox: what is kept for whom, its limits, reading it over HTTP, and results, each told once."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import delete, select, update

from referee.accounts.tables import Account
from referee.bots import bots, handshakes
from referee.bots.checks import CheckOutcome
from referee.bots.tables import Bot
from referee.events import GuestsInvited
from referee.matches.tables import Result
from referee.protocol.messages import PROTOCOL
from referee.workflows.bots import check_claims, check_results, handshake_results
from referee.workflows.ending import match_end
from referee_extras.notifications import inbox, outbox, result_messages, sender, webhooks
from referee_extras.notifications.notification_types import describe_notification
from referee_extras.notifications.states import WebhookState
from referee_extras.notifications.tables import Delivery, InboxEntry, ReportedResults, Webhook
from tests.api.conftest import Person, Service
from tests.api.test_deletion import ADDRESS, MARK, OWNER_NAME, traces
from tests.database.world import World, manifest_of
from tests.extras.retention.pruning import prune
from tests.matches.test_chain import match_to_end
from tests.surroundings import MASTER_KEY


def entries(world: World, account_id: str) -> list[InboxEntry]:
    with world.database.read() as session:
        return inbox.list_entries(session, account_id, limit=100).items


def emit(world: World, account_id: str, event: str = "bot.unhealthy", **payload: Any) -> None:
    with world.database.write() as session:
        outbox.emit(session, event, [account_id], payload)


def owner_of(world: World, bot_id: str) -> str:
    with world.database.read() as session:
        return bots.get_bot(session, bot_id).owner_id


def test_E21_an_inbox_keeps_a_limited_number_of_the_newest_entries_and_old_ones_are_pruned(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "MAX_ENTRIES", 3)
    mine, other = world.account(), world.account()
    emit(world, other, name="old")
    for number in range(5):
        emit(world, mine, name=str(number))

    assert [entry.payload["name"] for entry in entries(world, mine)] == ["4", "3", "2"]
    world.clock.moment += timedelta(days=91)
    emit(world, other, name="new")
    assert prune(world, "notifications", days=90) == 4
    assert [entry.payload["name"] for entry in entries(world, other)] == ["new"]


def test_a_deleted_account_gets_no_entry(world: World) -> None:
    deleted, other = world.account(), world.account()
    with world.database.write() as session:
        session.get_one(Account, deleted).deleted_at = world.clock.utc_now()

    with world.database.write() as session:
        inbox.add_entries(session, "bot.unhealthy", [([deleted, other], {})])

    assert (len(entries(world, deleted)), len(entries(world, other))) == (0, 1)


def test_E8_invitations_of_guests_do_not_fill_an_inbox(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "MAX_INVITATIONS_PER_DAY", 3)
    guest, about = world.account(), {"name": "Guests only", "game": "saint-poker"}
    for number in (1, 1, 2, 3, 4):
        world.write(outbox.report_event, GuestsInvited(accounts=[guest], tournament=f"trn_{number:026d}", **about))

    told = [describe_notification(entry.event, entry.payload).text for entry in entries(world, guest)]
    assert told == ["Guests only invites your bots that play Saint Poker."] * 3


def test_E27_E31_webhooks_and_messages_with_the_name_of_an_owner_are_exported_and_then_erased(
    service: Service, admin: Person
) -> None:
    owner, rival = service.person(), service.person()
    owner.ask("PATCH", "/accounts/me", {"If-Match": "*"}, json={"name": OWNER_NAME})
    owner.post("/webhooks", {"url": ADDRESS, "events": ["match.finished"]})
    rival.post("/webhooks", {"url": "https://rival.example.org/", "events": ["invitation.received"]})
    service.verified_bot(owner)
    with service.database.write() as session:
        session.execute(update(Webhook).values(status=WebhookState.ACTIVE))
    draft = {"name": f"{MARK} cup", "game": "pool-nap", "seats": 2, "rated": False, "listed": False}
    path = f"/tournaments/{owner.post('/tournaments', draft).get_json()['id']}"
    owner.post(f"{path}/organisers", {"account": rival.id})
    before = traces(service.database)

    exported = json.loads(owner.get("/accounts/me/export").get_data())
    deleted = owner.post("/accounts/me/delete", {"name": OWNER_NAME})

    assert {"webhooks", "deliveries"} <= {name for name, rows in exported.items() if rows}
    assert {"webhooks.url", "deliveries.body", "inbox_entries.payload"} <= before
    assert (deleted.status_code, traces(service.database)) == (200, set())
    (entry,) = rival.get("/accounts/me/inbox").get_json()["items"]
    assert entry["text"].startswith(f"deleted account {owner.id[-8:]} asks ")


def check(world: World, bot_id: str, version: str, *passed: str) -> None:
    with world.database.write() as session:
        bots.request_handshake(session, bot_id, with_check=True)
        (handshake,) = handshakes.claim_due_handshakes(session)
        handshake_results.finish_handshake(session, bot_id, handshake.epoch, {"ok": True}, manifest_of(version))
        (claimed,) = check_claims.claim_due(session, 10)
        games = {"saint-poker": 1, "pool-nap": 1}
        outcome = CheckOutcome(version, games, {game: games[game] for game in passed}, PROTOCOL, {"verdict": ""})
        check_results.finish_check(session, claimed, outcome)


def test_a_failed_check_of_a_certified_bot_is_in_the_inbox_and_a_passed_one_is_not(world: World) -> None:
    bot_id = world.bot()
    owner = owner_of(world, bot_id)

    check(world, bot_id, "1.0", "saint-poker", "pool-nap")
    before = entries(world, owner)
    check(world, bot_id, "1.0", "saint-poker")
    check(world, bot_id, "1.0", "saint-poker")  # nothing more is lost

    assert before == []
    (entry,) = entries(world, owner)
    assert (entry.event, entry.payload["games"]) == ("certificate.lost", ["pool-nap"])
    assert "lost its certificate for Pool Nap" in describe_notification(entry.event, entry.payload).text


def complain(service: Service, account_id: str, number: int) -> None:
    with service.database.write() as session:
        payload = {"bot": f"bot_{'0' * 26}", "name": f"Bot {number}", "tournament": None, "reason": "deadline"}
        outbox.emit(session, "bot.unhealthy", [account_id], payload)


def test_an_inbox_is_paged_counted_and_marked(service: Service, owner: Person) -> None:
    for number in range(5):
        complain(service, owner.id, number)

    first = owner.get("/accounts/me/inbox?limit=2").get_json()
    second = owner.get(f"/accounts/me/inbox?limit=2&cursor={first['next']}").get_json()
    shown = [entry["text"] for entry in first["items"] + second["items"]]
    ids = {"ids": [entry["id"] for entry in first["items"]]}
    some = owner.post("/accounts/me/inbox/read", ids).get_json()
    unread, marked = (owner.get(f"/accounts/me/inbox?unread={text}").get_json()["items"] for text in ("true", "false"))
    rest = owner.ask("POST", "/accounts/me/inbox/read").get_json()

    assert shown == [f"Bot {number} did not answer: deadline" for number in (4, 3, 2, 1)]
    assert {entry["path"] for entry in first["items"]} == {f"/bots/bot_{'0' * 26}"}
    assert (some, len(unread), rest) == ({"unread": 3}, 3, {"unread": 0})
    assert [entry["id"] for entry in marked] == ids["ids"]
    assert owner.get("/accounts/me/inbox/unread").get_json() == {"unread": 0}


def test_E5_an_inbox_is_its_owners_alone(service: Service, owner: Person) -> None:
    complain(service, owner.id, 1)
    other = service.person()
    (entry,) = owner.get("/accounts/me/inbox").get_json()["items"]

    other.post("/accounts/me/inbox/read", {"ids": [entry["id"]]})

    assert other.get("/accounts/me/inbox").get_json()["items"] == []
    assert owner.get("/accounts/me/inbox/unread").get_json() == {"unread": 1}
    assert service.anonymous().get("/api/v1/accounts/me/inbox").status_code == 401


def report(world: World) -> None:
    with world.database.write() as session:
        result_messages.report_results(session)


def play_until_somebody_wins(world: World, **plan: Any) -> Result:
    """Play matches, each of two other bots, until one is not a draw. Return its result."""
    played = (world.play(world.bots(2), **plan) for _ in range(100))
    return next(result for result in played if result.placements[0] != result.placements[1])


def subscribe(world: World, bot_id: str) -> None:
    with world.database.write() as session:
        owner = session.get_one(Bot, bot_id).owner_id
        made = webhooks.create(session, owner, "https://hooks.example.org", ["match.finished"])
        made.status = WebhookState.ACTIVE


def sent(world: World) -> list[Any]:
    """Return the data of the messages about results, in the order of the results."""
    with world.database.read() as session:
        bodies = session.scalars(select(Delivery.body).where(Delivery.event == "match.finished")).all()
    return [json.loads(body)["data"] for body in bodies]


def test_the_result_of_a_match_that_an_account_arranged_is_in_the_inbox(world: World) -> None:
    result = play_until_somebody_wins(world, rated=False)
    report(world)

    with world.database.read() as session:
        names = [session.get_one(Bot, bot_id).name for bot_id in result.bots]
    winner, loser = names if result.placements[0] == 1 else reversed(names)
    for bot_id in result.bots:
        (entry,) = entries(world, owner_of(world, bot_id))
        described = describe_notification(entry.event, entry.payload)
        assert described.path == f"/matches/{result.match_id}"
        assert described.text == f"{winner} won a match of Saint Poker against {loser}."


def test_matches_that_end_together_are_listed_in_the_order_of_their_ends(world: World) -> None:
    bots = world.bots(2)
    ends = [match_to_end(world, bots) for _ in range(3)]
    with world.database.write() as session:
        match_end.finish_matches(session, ends, master_key=MASTER_KEY)

    report(world)

    newest_first = [end.tail.match_id for end in reversed(ends)]
    assert [[entry.payload["match"] for entry in entries(world, owner_of(world, bot))] for bot in bots] == [
        newest_first,
        newest_first,
    ]


def test_a_message_has_the_rating_changes_that_are_stored_and_what_a_crash_interrupts_is_reported_later(
    world: World,
) -> None:
    result = play_until_somebody_wins(world)
    subscribe(world, result.bots[0])

    with world.database.write() as session:
        result_messages.report_results(session)
        session.rollback()
    assert sent(world) == []
    report(world)

    (message,) = sent(world)
    changes = [seat["rating"]["change_micro"] for seat in message["seats"]]
    assert (message["match"], message["tournament"]) == (result.match_id, None)
    assert [seat["bot"] for seat in message["seats"]] == result.bots
    assert [seat["placement"] for seat in message["seats"]] == result.placements
    assert changes[0] == -changes[1] != 0


def test_results_of_before_the_first_use_of_notifications_are_not_reported(world: World) -> None:
    result = world.play(world.bots(2))
    baseline = import_module("referee_extras.notifications.migrations.1001_baseline")

    with world.database.write() as session:
        session.execute(delete(ReportedResults))
        with Operations.context(MigrationContext.configure(session.connection())):
            baseline.upgrade()
        assert session.scalars(select(ReportedResults.seq)).all() == [result.seq]


def test_each_result_is_reported_once_by_whoever_comes_first(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_messages, "BATCH", 2)
    bots = world.bots(2)
    subscribe(world, bots[0])
    played = [world.play(bots).match_id for _ in range(3)]
    with world.database.read() as session:
        assert sender.has_due(session)

    with ThreadPoolExecutor(4) as threads:
        for _ in range(2):
            list(threads.map(lambda _: report(world), range(4)))

    assert sorted(message["match"] for message in sent(world)) == sorted(played)
    with world.database.read() as session:
        assert not result_messages.has_unreported(session)
