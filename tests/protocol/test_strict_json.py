"""The strict JSON reader: what it accepts, what it refuses, and the path it reports."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.protocol.strict_json import MAX_KEY_LENGTH, MAX_PATH_LENGTH, InvalidJson, JsonLimits, Kind, read

LIMITS = JsonLimits(max_depth=3, min_integer=-10, max_integer=10)
WIDE = JsonLimits(max_depth=32, min_integer=-(2**63), max_integer=2**64 - 1)

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], min_codepoint=1)), inner)
    ),
    max_leaves=10,
)


def refusal(body: bytes, limits: JsonLimits = LIMITS) -> tuple[Kind, str]:
    """Return the kind of the refusal and the path it names."""
    with pytest.raises(InvalidJson) as caught:
        read(body, limits)
    return caught.value.kind, caught.value.path


@given(PLAIN, st.booleans())
def test_a_document_within_the_limits_is_read_as_the_standard_library_reads_it(value: object, ascii_only: bool) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only).encode()

    assert read(body, WIDE) == json.loads(body)


@given(st.binary(max_size=60) | st.text('[]{}",:\\u0d8 1-eE.NaIn', max_size=40).map(str.encode))
def test_any_other_bytes_are_refused_with_the_one_error(body: bytes) -> None:
    try:
        value = read(body, WIDE)
    except InvalidJson:
        return
    assert value == json.loads(body)


def test_malformed_text_is_refused_with_its_position() -> None:
    for body, reason in (
        (b"", "not JSON: Expecting value at character 0"),
        (b'{"a":tru}', "not JSON: Expecting value at character 5"),
        (b"1 2", "not JSON: Extra data at character 2"),
        (b'"\xff"', "not UTF-8 at byte 1"),
        (b'\xef\xbb\xbf"a"', "not JSON: Expecting value at character 0"),
    ):
        with pytest.raises(InvalidJson) as caught:
            read(body, LIMITS)
        assert (caught.value.kind, caught.value.reason, caught.value.path) == ("syntax", reason, "")


def test_nesting_is_limited_and_counted_outside_strings_alone() -> None:
    assert read(b'[[["[[[[{{{{"]]]', LIMITS) == [[["[[[[{{{{"]]]
    assert read(b'["\\"[[[[", [], [], [], {"a": []}]', LIMITS) == ['"[[[[', [], [], [], {"a": []}]
    assert refusal(b'[[[{"a":1}]]]') == ("depth", "")
    assert refusal(b"[" * 100_000) == ("depth", "")


def test_integers_have_bounds_that_belong_to_the_range() -> None:
    assert read(b"[-10, 10, 0, -0]", LIMITS) == [-10, 10, 0, 0]
    assert refusal(b'{"a":[1,{"b":11}]}') == ("number", "a[1].b")
    assert refusal(b"-11") == ("number", "")
    assert refusal(b"[" + b"9" * 100_000 + b"]") == ("number", "[0]")


def test_an_integer_at_the_limit_of_64_bits_is_exact() -> None:
    assert read(b"[18446744073709551615, -9223372036854775808]", WIDE) == [2**64 - 1, -(2**63)]
    assert refusal(b"18446744073709551616", WIDE) == ("number", "")


def test_negative_zero_can_be_refused() -> None:
    strict = JsonLimits(max_depth=3, min_integer=-10, max_integer=10, refuse_negative_zero=True)

    assert refusal(b'{"a":-0}', strict) == ("number", "a")
    assert read(b"[0, -1, -0.0]", strict) == [0, -1, -0.0]


def test_floats_are_finite_and_the_first_of_several_bad_numbers_is_named() -> None:
    for number in ("1e999", "-1e999", "NaN", "Infinity", "-Infinity"):
        assert refusal(f'{{"a":[{number}]}}'.encode()) == ("number", "a[0]")
    assert read(b"[1e300, -0.5]", LIMITS) == [1e300, -0.5]
    assert refusal(b'{"a":1e999,"b":NaN}') == ("number", "a")


def test_a_key_stands_once_in_its_object() -> None:
    assert read(b'[{"a":1},{"a":2}]', LIMITS) == [{"a": 1}, {"a": 2}]
    assert refusal(b'{"x":{"a":1,"b":2,"\\u0061":3}}') == ("duplicate_key", "a")


def test_texts_and_keys_contain_neither_nul_nor_lone_surrogates() -> None:
    for text in ("\\u0000", "a\\ud800", "\\udfff", "\\udc00\\ud800"):
        assert refusal(f'{{"a":[0,"{text}"]}}'.encode()) == ("text", "a[1]")
        assert refusal(f'{{"a":{{"{text}":0}}}}'.encode()) == ("text", "a")
    assert read(b'"\\ud83d\\ude00 \\\\u0000"', LIMITS) == "\U0001f600 \\u0000"


def test_a_member_may_be_exempt_from_the_check_of_texts_and_from_no_other() -> None:
    body = b'{"error":["\\ud800"],"a":1}'

    assert read(body, LIMITS, any_text_in={"error"}) == {"error": ["\ud800"], "a": 1}
    for refused in (b'{"a":{"error":"\\ud800"}}', b'["\\ud800"]', b'{"error":1e999}'):
        with pytest.raises(InvalidJson):
            read(refused, LIMITS, any_text_in={"error"})


def test_an_error_stays_short_and_printable_whatever_the_document_says() -> None:
    key = "\u202e\x1b[31m" + "k" * 10_000

    kind, path = refusal(json.dumps({key: [{key: 11}]}).encode())

    assert kind == "number"
    assert path.isascii()
    assert path.isprintable()
    assert len(path) <= MAX_PATH_LENGTH
    assert refusal(json.dumps({key: 11}).encode())[1] == "\\u202e\\x1b[31m" + "k" * (MAX_KEY_LENGTH - 14)


def test_the_message_says_where_what_and_what_would_be_accepted() -> None:
    with pytest.raises(InvalidJson, match=r"^a\[0\]: 11 is not an integer from -10 to 10$"):
        read(b'{"a":[11]}', LIMITS)
