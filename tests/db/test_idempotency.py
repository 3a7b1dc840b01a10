"""Repeated requests."""

import threading
from datetime import timedelta

import pytest
from sqlalchemy import select

from referee.accounts import accounts
from referee.accounts.tables import Account
from referee.db import idempotency
from referee.db.idempotency import IdempotencyMismatch, StoredResponse
from referee.errors import Conflict
from tests.database.world import World


def request(world: World, key: str, body: str, name: str) -> StoredResponse:
    """Handle a request that creates an account, once."""
    with world.database.write() as session:
        stored = idempotency.begin(session, "acc_1", key, body)
        if stored is not None:
            return stored
        account = accounts.create_account(session, name)
        idempotency.finish(session, "acc_1", key, 201, account.id.encode())
        return StoredResponse(201, account.id.encode())


def number_of_accounts(world: World) -> int:
    with world.database.read() as session:
        return len(session.scalars(select(Account)).all())


def test_E9_the_same_request_gets_the_same_answer_and_one_effect(world: World) -> None:
    first = request(world, "key", "body", "Ann Owner")
    second = request(world, "key", "body", "Ann Owner")

    assert first == second
    assert number_of_accounts(world) == 1


def test_E9_another_body_under_the_same_key_is_refused(world: World) -> None:
    request(world, "key", "body", "Ann Owner")

    with pytest.raises(IdempotencyMismatch):
        request(world, "key", "other body", "Ben Owner")
    assert number_of_accounts(world) == 1


def test_E9_keys_belong_to_their_accounts(world: World) -> None:
    with world.database.write() as session:
        assert idempotency.begin(session, "acc_1", "key", "body") is None
        assert idempotency.begin(session, "acc_2", "key", "body") is None


def test_E9_K6_the_key_lives_and_dies_with_the_effect(world: World) -> None:
    class Killed(Exception):
        pass

    def half() -> None:
        with world.database.write() as session:
            idempotency.begin(session, "acc_1", "key", "body")
            accounts.create_account(session, "Ann Owner")
            raise Killed

    with pytest.raises(Killed):
        half()

    assert number_of_accounts(world) == 0
    assert request(world, "key", "body", "Ann Owner").status == 201


def test_E10_many_at_once_have_one_effect(world: World) -> None:
    answers: list[StoredResponse] = []

    def one(number: int) -> None:
        answers.append(request(world, "key", "body", f"Owner {number}"))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert len(answers) == 6
    assert len(set(answers)) == 1
    assert number_of_accounts(world) == 1


def test_a_key_without_an_answer_is_a_conflict(world: World) -> None:
    with world.database.write() as session:
        idempotency.begin(session, "acc_1", "key", "body")

    with pytest.raises(Conflict), world.database.write() as session:
        idempotency.begin(session, "acc_1", "key", "body")


def test_E9_answers_are_kept_for_a_day(world: World) -> None:
    request(world, "key", "body", "Ann Owner")
    world.clock.moment += timedelta(hours=23)
    with world.database.write() as session:
        assert idempotency.delete_expired(session) == 0
    world.clock.moment += timedelta(hours=2)

    assert request(world, "key", "other body", "Ben Owner").status == 201
    world.clock.moment += timedelta(hours=25)
    with world.database.write() as session:
        assert idempotency.has_expired(session)
        assert idempotency.delete_expired(session) == 1
        assert not idempotency.has_expired(session)
