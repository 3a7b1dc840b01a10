"""The inbox: what is kept for whom, reading it, and its limits."""

from datetime import timedelta
from typing import Any

import pytest

from referee.accounts.tables import Account
from referee.bots import bots, handshakes
from referee.bots.checks import CheckOutcome
from referee.protocol.messages import PROTOCOL
from referee.workflows.bots import check_claims, check_results, handshake_results
from referee_extras.notifications import inbox, outbox, result_messages
from referee_extras.notifications.notification_types import TYPES, describe_notification
from referee_extras.notifications.tables import InboxEntry
from tests.database.tournaments import answer_handshakes, entered, go_on, start
from tests.database.world import World, manifest_of
from tests.extras.retention.pruning import prune


def entries(world: World, account_id: str, **how: Any) -> list[InboxEntry]:
    with world.database.read() as session:
        return inbox.list_entries(session, account_id, limit=100, **how).items


def emit(world: World, account_id: str, event: str = "bot.unhealthy", **payload: Any) -> None:
    with world.database.write() as session:
        outbox.emit(session, event, [account_id], payload)


def owner_of(world: World, bot_id: str) -> str:
    with world.database.read() as session:
        return bots.get_bot(session, bot_id).owner_id


def test_what_webhooks_report_is_in_the_inbox_without_a_webhook(world: World) -> None:
    organiser = world.account("organiser")
    tournament_id, (absent, present, third) = entered(world, 3, created_by=organiser)
    start(world, tournament_id)
    answer_handshakes(world.database, absent=[absent])
    go_on(world.database, tournament_id)
    (claim,) = world.claim(9)
    world.finish(claim)
    go_on(world.database, tournament_id)
    with world.database.write() as session:
        result_messages.report_results(session)

    events = {bot: [entry.event for entry in entries(world, owner_of(world, bot))] for bot in (absent, present, third)}

    assert events == {
        absent: ["tournament.finished", "bot.unhealthy"],
        present: ["tournament.finished"],  # its match belongs to the tournament
        third: ["tournament.finished"],
    }
    assert [entry.event for entry in entries(world, organiser)] == ["tournament.finished"]


def test_a_deleted_account_gets_no_entry(world: World) -> None:
    deleted, other = world.account(), world.account()
    with world.database.write() as session:
        session.get_one(Account, deleted).deleted_at = world.clock.utc_now()

    with world.database.write() as session:
        added = inbox.add_entries(session, "bot.unhealthy", [([deleted, other], {})])

    assert (added, len(entries(world, deleted)), len(entries(world, other))) == (1, 0, 1)


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


def test_entries_are_read_marked_and_counted_only_for_their_account(world: World) -> None:
    mine, other = world.account(), world.account()
    for number in range(3):
        emit(world, mine, name=str(number))
    emit(world, other)
    (newest, *_) = entries(world, mine)
    (foreign,) = entries(world, other)

    with world.database.write() as session:
        marked = inbox.mark_read(session, mine, [newest.id, foreign.id, "inb_unknown"])
        unread = inbox.count_unread(session, mine), inbox.count_unread(session, other)
        rest = inbox.mark_read(session, mine), inbox.mark_read(session, mine)

    assert (marked, unread, rest) == (1, (2, 1), (2, 0))
    assert [entry.payload["name"] for entry in entries(world, mine)] == ["2", "1", "0"]
    assert entries(world, mine, unread=True) == []
    assert len(entries(world, mine, unread=False)) == 3


def test_E21_an_inbox_keeps_a_limited_number_of_the_newest_entries(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "MAX_ENTRIES", 3)
    mine, other = world.account(), world.account()
    emit(world, other)
    for number in range(5):
        emit(world, mine, name=str(number))

    assert [entry.payload["name"] for entry in entries(world, mine)] == ["4", "3", "2"]
    assert len(entries(world, other)) == 1


def test_old_entries_are_pruned(world: World) -> None:
    account = world.account()
    emit(world, account, name="old")
    world.clock.moment += timedelta(days=91)
    emit(world, account, name="new")

    assert prune(world, "notifications", days=90) == 1

    assert [entry.payload["name"] for entry in entries(world, account)] == ["new"]


@pytest.mark.parametrize("event", list(TYPES))
def test_every_notification_has_a_sentence_even_without_members(event: str) -> None:
    described = describe_notification(event, {})

    assert described.text
    assert described.path.startswith("/")
