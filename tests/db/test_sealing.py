"""Secrets sealed at rest: which keys open them, and how changed bytes are detected."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.db.sealing import CannotUnseal, seal, unseal

OLD, NEW, FOREIGN = (bytes([number]) * 32 for number in (1, 2, 3))
CONTEXT = ("deal-seed", "grp_1")
SECRET = b"thirty-two bytes that nobody sees"


@given(st.binary(max_size=200), st.lists(st.text(max_size=10), max_size=3))
def test_what_is_sealed_opens_in_its_context(plain: bytes, context: list[str]) -> None:
    sealed = seal(plain, key_ring=[NEW], context=context)

    assert unseal(sealed, key_ring=[NEW], context=context) == plain
    assert len(sealed) == len(plain) + 33


def test_sealed_bytes_show_neither_the_secret_nor_that_two_secrets_are_equal() -> None:
    one, other = (seal(SECRET, key_ring=[NEW], context=CONTEXT) for _ in range(2))

    assert SECRET[:4] not in one
    assert NEW[:4] not in one
    assert not {one[offset : offset + 8] for offset in range(5, 60)} & {other[o : o + 8] for o in range(5, 60)}


def test_nothing_but_the_sealed_bytes_in_their_context_is_opened() -> None:
    sealed = seal(SECRET, key_ring=[NEW], context=CONTEXT)
    changed = [sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :] for at in range(len(sealed))]
    contexts = [(), ("deal-seed",), ("deal-seed", "grp_2"), ("deal-seedgrp_1",), ("deal-seed", "grp_1", "")]
    spoilt = [*changed, *(sealed[:length] for length in range(len(sealed))), sealed + b"\0"]

    for given_bytes, context in [*((text, CONTEXT) for text in spoilt), *((sealed, other) for other in contexts)]:
        with pytest.raises(CannotUnseal):
            unseal(given_bytes, key_ring=[NEW], context=context)


def test_the_newest_key_seals_and_every_key_of_the_ring_opens() -> None:
    before = seal(SECRET, key_ring=[OLD], context=CONTEXT)
    after = seal(SECRET, key_ring=[NEW, OLD], context=CONTEXT)

    assert unseal(before, key_ring=[NEW, OLD], context=CONTEXT) == SECRET
    assert unseal(after, key_ring=[NEW], context=CONTEXT) == SECRET
    with pytest.raises(CannotUnseal, match="not in the key ring"):
        unseal(after, key_ring=[OLD, FOREIGN], context=CONTEXT)


def test_the_form_of_sealed_bytes_stays() -> None:
    # Format 1, key id, nonce, ciphertext and tag, as sealed once with the key of 32 bytes 2.
    sealed = bytes.fromhex(
        "014950b5ce64d1ee36df6e53d7a367c07a0e6959553a40a1471ebd8757fcd5375e43ac942bc42bc5904c26c17ca00891b4a763f3df1cc345a7d51f5f82690f569d41"
    )

    assert unseal(sealed, key_ring=[NEW], context=CONTEXT) == SECRET
