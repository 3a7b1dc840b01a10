"""Accounts and tokens."""

import hashlib
from datetime import timedelta

import pytest
from sqlalchemy import text as sql

from referee.accounts import accounts
from referee.errors import BadOption, NameTaken, NotFound
from tests.database.world import World


def test_E6_a_token_opens_its_account_until_the_account_revokes_it_and_only_its_hash_is_kept(world: World) -> None:
    owner, stranger = world.account(), world.account()
    token, text = world.write(accounts.create_token, owner, "laptop")
    with pytest.raises(NotFound):
        world.write(accounts.revoke_token, stranger, token.id)
    with world.database.read() as session:
        opened = accounts.find_token(session, text)
        kept = " ".join(str(value) for value in session.execute(sql("SELECT * FROM tokens")).one())
        assert [one.id for one in accounts.list_tokens(session, owner)] == [token.id]
    world.write(accounts.revoke_token, owner, token.id)
    assert world.read(accounts.find_token, text) is None

    assert opened is not None
    assert (opened[0].id, opened[1].id) == (token.id, owner)
    assert text[8:-4] not in kept
    assert (token.sha256, token.hint) == (hashlib.sha256(text.encode()).hexdigest(), f"{text[:8]}…{text[-4:]}")


@pytest.mark.parametrize("text", ["", "ref_", "ref_" + "0" * 49, "Bearer x", "x" * 1_000_000, "ref_é" + "0" * 48])
def test_E6_other_texts_are_no_tokens(text: str) -> None:
    assert not accounts.is_secret_text(text, accounts.TOKEN_PREFIX)


def test_a_slip_of_the_hand_is_seen_by_the_checksum() -> None:
    text = accounts.new_secret_text(accounts.TOKEN_PREFIX)
    slip = text[:20] + ("a" if text[20] != "a" else "b") + text[21:]

    assert accounts.is_secret_text(text, accounts.TOKEN_PREFIX)
    assert not accounts.is_secret_text(slip, accounts.TOKEN_PREFIX)
    assert not accounts.is_secret_text(text, "rcv_")


def test_the_last_use_is_noted_to_the_hour(world: World) -> None:
    with world.database.write() as session:
        token, _ = accounts.create_token(session, accounts.create_account(session, "Ann").id, "laptop")
        first, second = accounts.touch_token(session, token.id), accounts.touch_token(session, token.id)
        world.clock.moment += timedelta(minutes=59)
        third = accounts.touch_token(session, token.id)
        world.clock.moment += timedelta(minutes=1)
        fourth = accounts.touch_token(session, token.id)

    assert (first, second, third, fourth) == (True, False, False, True)


def test_names_that_look_alike_are_one_name_and_an_unknown_role_is_refused(world: World) -> None:
    world.write(accounts.create_account, "Alpha Team")

    with pytest.raises(NameTaken):
        world.write(accounts.create_account, "ALPHA-TEAM")
    with world.database.write() as session, pytest.raises(BadOption):
        accounts.create_account(session, "Nobody", "king")
    assert world.read(accounts.find_account, "alpha team").name == "Alpha Team"
