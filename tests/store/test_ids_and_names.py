"""Ids that say nothing, names that cannot be mistaken for one another."""

import pytest

from referee.errors import BadOption
from referee.store.ids import PATTERN, new_id
from referee.store.names import checked_name, name_key, printable


def test_D6_ids_are_128_random_bits_behind_a_prefix() -> None:
    ids = {new_id("match") for _ in range(1000)}

    assert len(ids) == 1000
    assert all(one.startswith("mat_") and PATTERN.fullmatch(one) for one in ids)
    # Every place of the number but the first, which holds three bits, takes on all 32 digits.
    assert all(len({one[place] for one in ids}) == 32 for place in range(5, 30))


@pytest.mark.parametrize("text", ["", "mat_", "mat_" + "a" * 25, "MAT_" + "a" * 26, "mat_" + "a" * 25 + "\n", "../x"])
def test_E20_other_texts_are_no_ids(text: str) -> None:
    assert PATTERN.fullmatch(text) is None


@pytest.mark.parametrize(
    ("text", "name"),
    [("Ann", "Ann"), ("R2-D2 v1.0_b", "R2-D2 v1.0_b"), ("Ａｎｎ", "Ann"), ("Жанна", "Жанна"), ("ﬁsh", "fish")],
)
def test_E14_names_of_letters_digits_and_a_little_punctuation(text: str, name: str) -> None:
    assert checked_name(text) == name


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "ab",
            "x" * 33,
            "x" * 10_000,
            "<script>",
            '"><img onerror>',
            "a\0b",
            "a\nb",
            "a  b",
            " abc",
            "abc ",
            "-abc",
        ),
        *(
            "ab\u202ec",
            "ab\u200bc",
            "abc\U0001f600",
            "javascript:x",
            "a/b",
            "a;b",
            "abc\ud800",
            "a\u0301\u0301\u0301bc",
        ),
    ],
)
def test_E14_other_names_are_refused(text: str) -> None:
    with pytest.raises(BadOption, match="name"):
        checked_name(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Alpha", "ALPHA"),
        ("Alpha", "Аlpha"),  # a Cyrillic A
        ("bill", "bi11"),
        ("Bob 0", "bob O"),
        ("a b c", "a-b_c"),
        ("café", "cafe"),
        ("corner", "comer"),
        ("ΑΒΕ", "ABE"),  # Greek capitals
        ("Ilse", "llse"),
        ("House sound", "Houꜱe soᴜnd"),  # small capitals
        ("House sound", "Hoʊse sound"),
        ("House", "\N{GREEK CAPITAL LETTER ETA}ouse"),
        ("House", "Ꮋouse"),  # Cherokee
        ("House", "ꓧouse"),  # Lisu
    ],
)
def test_E14_names_that_look_alike_share_a_key(one: str, other: str) -> None:
    assert name_key(checked_name(one)) == name_key(checked_name(other))


def test_names_that_differ_have_keys_of_their_own() -> None:
    names = ["alpha", "beta", "gamma", "bot 2", "bot 3", "жук", "жар"]

    assert len({name_key(name) for name in names}) == len(names)


def test_text_of_bots_is_made_fit_to_store() -> None:
    assert printable("a\0b\ud800c") == "a\N{REPLACEMENT CHARACTER}b?c"
