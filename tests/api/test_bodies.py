"""Strict JSON bodies and their maximum length."""

import time

import pytest

from api.body import MAX_BYTES, parse
from api.errors import Problem
from tests.api.conftest import Person, Service, fields_of

HOSTILE = {
    "nothing": (b"", "body"),
    "no JSON": (b"{name}", "body"),
    "trailing text": (b"{} {}", "body"),
    "a byte order mark": (b"\xef\xbb\xbf{}", "body"),
    "bad UTF-8": (b'{"name":"\xff"}', "body"),
    "UTF-16": ('{"name":"x"}'.encode("utf-16"), "body"),
    "NaN": (b'{"name":NaN}', "name"),
    "Infinity": (b'{"a":[1,{"b":-Infinity}]}', "a[1].b"),
    "a float beyond all bounds": (b'{"name":1e999}', "name"),
    "a whole number beyond 2^53": (b'{"name":9007199254740993}', "name"),
    "a numeral of 5,000 digits": (b'{"name":' + b"9" * 5000 + b"}", "name"),
    "a key twice": (b'{"name":"a","name":"b"}', "name"),
    "a key twice further in": (b'{"a":{"url":1,"url":1}}', "url"),
    "a lone surrogate": (b'{"name":"\\ud800"}', "name"),
    "a lone surrogate in a key": (b'{"a":{"\\udfff":1}}', "a"),
    "NUL": (b'{"name":"a\\u0000b"}', "name"),
    "a raw control sign": (b'{"name":"a\x00b"}', "body"),
    "30,000 brackets": (b"[" * 30_000, "body"),
    "33 levels": (b"[" * 33 + b"]" * 33, "body"),
    "33 levels of objects": (b'{"a":' * 33 + b"1" + b"}" * 33, "body"),
    "a string that never ends": (b'{"name":"' + b'\\"' * 20_000, "body"),
    "a lone backslash at the end": (b'{"name":"\\', "body"),
}


@pytest.mark.parametrize(("body", "field"), HOSTILE.values(), ids=HOSTILE.keys())
def test_E2_hostile_json_is_refused_with_the_field_named(service: Service, body: bytes, field: str) -> None:
    answer = service.anonymous().post("/api/v1/accounts", data=body, content_type="application/json")

    assert answer.status_code == 400
    assert answer.get_json()["code"] == "malformed_json"
    assert fields_of(answer) == {field}


def test_what_is_just_allowed_is_read() -> None:
    assert parse(b"[" * 32 + b"]" * 32)
    assert parse(b"[9007199254740992, -9007199254740992, 1.5, 1e300]")
    assert parse('{"ü": "\\ud83d\\ude00 [[[[{{{{"}'.encode()) == {"ü": "\U0001f600 [[[[{{{{"}


def test_E19_the_scan_for_depth_is_linear() -> None:
    worst = [b'"\\' * (MAX_BYTES // 2), b'"' + b'\\"' * (MAX_BYTES // 2), b'["' * (MAX_BYTES // 2)]

    begin = time.process_time()
    for body in worst:
        with pytest.raises(Problem):
            parse(body)

    assert time.process_time() - begin < 0.5


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"5", b"null", b"true", b'[{"name":"x"}]'])
def test_E4_a_body_of_the_wrong_shape_is_a_422(service: Service, body: bytes) -> None:
    answer = service.anonymous().post("/api/v1/accounts", data=body, content_type="application/json")

    assert answer.status_code == 422
    assert answer.get_json()["code"] == "validation_failed"


@pytest.mark.parametrize(
    "media_type",
    [None, "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1", "application/xml"],
)
def test_E3_another_media_type_is_a_415(owner: Person, media_type: str | None) -> None:
    answer = owner.ask("POST", "/bots", data=b'{"name":"a bot","url":"https://a.example"}', content_type=media_type)

    assert answer.status_code == 415
    assert answer.get_json()["code"] == "unsupported_media_type"


def test_E3_a_packed_body_is_a_415(owner: Person) -> None:
    packed = {"Content-Encoding": "gzip"}

    assert owner.ask("POST", "/bots", packed, data=b"{}", content_type="application/json").status_code == 415


def test_json_with_its_charset_is_json(owner: Person) -> None:
    body = b'{"name":"laptop"}'

    answer = owner.ask("POST", "/accounts/me/tokens", data=body, content_type="application/json; charset=UTF-8")

    assert answer.status_code == 201


def test_E1_a_body_one_byte_too_long_is_a_413(owner: Person) -> None:
    body = b'{"name":"' + b"x" * (MAX_BYTES - 10) + b'"}'
    assert len(body) == MAX_BYTES + 1

    answer = owner.ask("POST", "/bots", data=body, content_type="application/json")

    assert answer.status_code == 413
    assert answer.get_json()["code"] == "body_too_large"


def test_E1_a_body_of_the_greatest_length_is_read(owner: Person) -> None:
    body = b'{"name":"' + b"x" * (MAX_BYTES - 11) + b'"}'

    assert owner.ask("POST", "/bots", data=body, content_type="application/json").status_code == 422
