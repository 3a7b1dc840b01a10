"""Ids that reveal nothing, names that cannot be mistaken for each other."""

import hashlib
import re
import unicodedata

import pytest

from referee.db.ids import new_id
from referee.db.names import MAX_KEY_LENGTH, make_storable, name_key, validate_name, validate_title
from referee.errors import BadOption


def test_D6_ids_are_128_random_bits_behind_a_prefix() -> None:
    ids = {new_id("match") for _ in range(1000)}

    assert len(ids) == 1000
    assert all(re.fullmatch("mat_[0-9a-z]{26}", one) for one in ids)
    # Every place of the number but the first, which holds three bits, takes on all 32 digits.
    assert all(len({one[place] for one in ids}) == 32 for place in range(5, 30))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *(("Ann", "Ann"), ("Al", "Al"), ("R2-D2 v1.0_b", "R2-D2 v1.0_b"), ("Ａｎｎ", "Ann"), ("Жанна", "Жанна")),
        *(("ﬁsh", "fish"), ("O'Malley & Co", "O'Malley & Co"), ("C++ bot", "C++ bot"), ("x" * 32, "x" * 32)),
    ],
)
def test_E14_names_of_letters_digits_and_a_little_punctuation(text: str, name: str) -> None:
    assert validate_name(text) == name


BAD = (  # in names of any kind
    *("", "a", "x" * 10_000, "<b>", "a\0b", "a\nb", "a  b", " ab", "ab ", "-ab", "a\u202eb", "a\u200bb", "ab\ud800"),
    *("ab\U0001f600", "a|b", "a\\b", "a=b"),
)


@pytest.mark.parametrize(
    "text", [*BAD, "x" * 33, "<script>", "abc-", "javascript:x", "a/b", "a;b", "a\u0301\u0301\u0301bc"]
)
def test_E14_other_names_are_refused(text: str) -> None:
    with pytest.raises(BadOption, match="name"):
        validate_name(text)


@pytest.mark.parametrize(
    "text",
    ["Cup", "GP", "Winter cup 2026: Saint Poker (A) – round #2!", 'The "A" & [B]', "x" * 80, "Ада’s cup?", "#1+"],
)
def test_names_of_tournaments_have_the_usual_signs(text: str) -> None:
    assert validate_title(text) == text


@pytest.mark.parametrize("text", [*BAD, "x" * 81, "()", "##", "ab,"])
def test_E14_other_names_of_tournaments_are_refused(text: str) -> None:
    with pytest.raises(BadOption, match="name"):
        validate_title(text)


DEFAULT_IGNORABLE = (  # DerivedCoreProperties.txt of Unicode 15.1
    *((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)),
    *((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF)),
    *((0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)


@pytest.mark.parametrize("form", ["a{}bc", "{}abc", "{0}{0}{0}"])
def test_E14_what_draws_nothing_is_in_no_name(form: str) -> None:
    signs = [chr(point) for first, last in DEFAULT_IGNORABLE for point in range(first, last + 1)]

    def is_allowed(name: str) -> bool:
        try:
            return validate_name(name) != "abc"
        except BadOption:
            return False

    assert len(signs) > 4000
    assert [f"{ord(sign):x}" for sign in signs if is_allowed(form.format(sign))] == []


def test_the_keys_that_are_stored_are_those_that_are_computed() -> None:
    letters = [sign for sign in map(chr, range(0x110000)) if unicodedata.ucd_3_2_0.category(sign)[0] == "L"]
    letters = [sign for sign in letters if not "\uac00" <= sign <= "\ud7a3" and not "\u3400" <= sign <= "\u9fff"]

    keys = "\n".join(f"{sign} {name_key(sign)} {name_key(f'A{sign}')}" for sign in letters)

    # If it fails: a migration must recompute all keys. Letters of an old Unicode version, since newer versions of
    # Python know more; without most of those of Korean and Chinese, which resemble no others.
    assert hashlib.sha256(keys.encode()).hexdigest()[:16] == "a86454b3cb789346"


def test_no_name_has_a_key_that_is_kept_for_others() -> None:
    letters = [sign for sign in map(chr, range(0x110000)) if unicodedata.category(sign)[0] in "LN"]

    keys = [name_key(f"h{'e'.join(letters[start : start + 12])}") for start in range(0, len(letters), 12)]

    assert [key for key in keys if ":" in key or " " in key] == []  # keys of house bots, and spare keys
    assert sum(len(key) == MAX_KEY_LENGTH for key in keys) < 50  # the others were not cut


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Alpha", "ALPHA"),
        ("Alpha", "Аlpha"),  # a Cyrillic A
        ("bill", "bi11"),
        ("Bob 0", "bob O"),
        ("a b c", "a-b_c"),
        ("O'Neill", "O\N{MODIFIER LETTER APOSTROPHE}Neill"),
        ("café", "cafe"),
        ("corner", "comer"),
        ("ΑΒΕ", "ABE"),  # Greek capitals
        ("Ilse", "llse"),
        ("House sound", "Houꜱe soᴜnd"),  # small capitals
        ("House sound", "Hoʊse sound"),
        ("House", "\N{GREEK CAPITAL LETTER ETA}ouse"),
        ("House", "Ꮋouse"),  # Cherokee
        ("House", "ꓧouse"),  # Lisu
        ("House", "\N{GREEK CAPITAL LETTER ETA WITH TONOS}ouse"),
        ("HONEY", "ΗΟΝΕΥ"),  # Greek capitals, whose small letters look different
        ("Bill", "Bi\N{CYRILLIC SMALL LETTER PALOCHKA}l"),
        ("Bill", "Bi\N{CYRILLIC LETTER PALOCHKA}l"),
        ("Bill", "Bi\N{LATIN LETTER RETROFLEX CLICK}l"),
        ("Bob", "B\N{COPTIC SMALL LETTER O}b"),
        ("Bob", "\N{COPTIC CAPITAL LETTER VIDA}ob"),
        ("Bob", "Bo\N{LATIN SMALL LETTER TONE SIX}"),
        ("Bob", "Bo\N{LATIN SMALL LETTER BETA}"),
        ("Bob", "\N{CHEROKEE LETTER YV}ob"),
        ("Bob", "B\N{MYANMAR LETTER WA}b"),
        ("Zoo", "\N{GREEK CAPITAL LETTER ZETA}\N{GREEK SMALL LETTER OMICRON}\N{GREEK SMALL LETTER OMICRON}"),
        ("Niva", "Νι\N{GREEK SMALL LETTER NU}\N{GREEK SMALL LETTER ALPHA}"),
        ("Жанна", "ЖАННА"),
        ("Νίκος", "ΝΊΚΟΣ"),
        ("Ɓaba", "ɓaba"),
        ("abcdefghijklmnopqrstuvwyz", "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ"),
        ("Vva", "wa"),
    ],
)
def test_E14_names_that_look_alike_share_a_key(one: str, other: str) -> None:
    assert name_key(validate_name(one)) == name_key(validate_name(other))


def test_names_that_differ_have_keys_of_their_own() -> None:
    names = ["alpha", "beta", "gamma", "bot 2", "bot 3", "жук", "жар", "日本", "中国", "한국", "ไทย", "שלום"]

    assert len({name_key(name) for name in names}) == len(names)


def test_text_of_bots_is_made_fit_to_store() -> None:
    assert make_storable("a\0b\ud800c") == "a\N{REPLACEMENT CHARACTER}b?c"
