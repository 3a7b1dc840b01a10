"""Repeated requests."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from referee.accounts import accounts
from referee.accounts.tables import Account
from referee.db import idempotency
from referee.db.idempotency import IdempotencyMismatch, StoredResponse
from referee.errors import Conflict
from tests.database.world import World


def request(world: World, body: str, name: str) -> StoredResponse:
    """Handle a request that creates an account, once."""
    with world.database.write() as session:
        stored = idempotency.begin(session, "acc_1", "key", body)
        if stored is not None:
            return stored
        account = accounts.create_account(session, name)
        idempotency.finish(session, "acc_1", "key", 201, account.id.encode())
        return StoredResponse(201, account.id.encode())


def number_of_accounts(world: World) -> int:
    return world.one(select(func.count()).select_from(Account))


def test_E9_K6_the_key_lives_and_dies_with_the_effect(world: World) -> None:
    with suppress(LookupError), world.database.write() as session:
        idempotency.begin(session, "acc_1", "key", "body")
        accounts.create_account(session, "Ann Owner")
        raise LookupError

    assert number_of_accounts(world) == 0
    assert request(world, "body", "Ann Owner").status == 201


def test_E10_many_at_once_have_one_effect(world: World) -> None:
    with ThreadPoolExecutor(6) as threads:
        answers = set(threads.map(lambda number: request(world, "body", f"Owner {number}"), range(6)))

    assert (len(answers), number_of_accounts(world)) == (1, 1)


def test_a_key_without_an_answer_is_a_conflict(world: World) -> None:
    world.write(idempotency.begin, "acc_1", "key", "body")

    with pytest.raises(Conflict), world.database.write() as session:
        idempotency.begin(session, "acc_1", "key", "body")


def test_E9_answers_are_kept_for_a_day(world: World) -> None:
    request(world, "body", "Ann Owner")
    with world.undoing() as session:  # keys belong to their accounts
        assert idempotency.begin(session, "acc_2", "key", "other body") is None
    world.clock.moment += timedelta(hours=23)
    assert world.write(idempotency.delete_expired) == 0
    with pytest.raises(IdempotencyMismatch):
        request(world, "other body", "Ben Owner")
    world.clock.moment += timedelta(hours=2)

    assert request(world, "other body", "Ben Owner").status == 201
    world.clock.moment += timedelta(hours=25)
    with world.database.write() as session:
        assert idempotency.has_expired(session)
        assert idempotency.delete_expired(session) == 1
        assert not idempotency.has_expired(session)
