"""Messages about results: made after the commit from what is stored, each once, whatever happens meanwhile."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select

from referee.bots.tables import Bot
from referee.workflows.ending import match_end
from referee_extras.notifications import inbox, result_messages, sender, webhooks
from referee_extras.notifications.notification_types import describe_notification
from referee_extras.notifications.states import WebhookState
from referee_extras.notifications.tables import Delivery, InboxEntry
from tests.database.world import World
from tests.matches.test_chain import match_to_end
from tests.surroundings import MASTER_KEY


def report(world: World) -> None:
    with world.database.write() as session:
        result_messages.report_results(session)


def owner_of(world: World, bot_id: str) -> str:
    with world.database.read() as session:
        return session.get_one(Bot, bot_id).owner_id


def entries(world: World, bot_id: str) -> list[InboxEntry]:
    with world.database.read() as session:
        return inbox.list_entries(session, owner_of(world, bot_id), limit=100).items


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
    result = world.play(world.bots(2), rated=False)
    report(world)

    with world.database.read() as session:
        names = [session.get_one(Bot, bot_id).name for bot_id in result.bots]
    winner, loser = names if result.placements[0] == 1 else reversed(names)
    for bot_id in result.bots:
        (entry,) = entries(world, bot_id)
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
    assert [[entry.payload["match"] for entry in entries(world, bot)] for bot in bots] == [newest_first, newest_first]


def test_a_message_has_the_rating_changes_and_names_that_are_stored(world: World) -> None:
    bots = world.bots(2)
    subscribe(world, bots[0])
    result = world.play(bots)
    report(world)

    (message,) = sent(world)

    changes = [seat["rating"]["change_micro"] for seat in message["seats"]]
    assert (message["match"], message["tournament"]) == (result.match_id, None)
    assert [seat["bot"] for seat in message["seats"]] == result.bots
    assert [seat["placement"] for seat in message["seats"]] == result.placements
    assert changes[0] == -changes[1] != 0


def test_each_result_is_reported_once_by_whoever_comes_first(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_messages, "BATCH", 2)
    bots = world.bots(2)
    subscribe(world, bots[0])
    played = [world.play(bots).match_id for _ in range(5)]
    with world.database.read() as session:
        assert sender.has_due(session)

    with ThreadPoolExecutor(4) as threads:
        for _ in range(4):
            list(threads.map(lambda _: report(world), range(4)))

    assert sorted(message["match"] for message in sent(world)) == sorted(played)
    with world.database.read() as session:
        assert not result_messages.has_unreported(session)


def test_what_a_crash_interrupts_is_reported_later(world: World) -> None:
    bots = world.bots(2)
    subscribe(world, bots[0])
    world.play(bots)

    with world.database.write() as session:
        result_messages.report_results(session)
        session.rollback()
    assert sent(world) == []

    report(world)
    assert len(sent(world)) == 1
