"""Strict JSON bodies and their maximum length."""

from api.body import MAX_BYTES
from tests.api.conftest import Person, Service, fields_of

HOSTILE = {
    "nothing": (b"", "body"),
    "no JSON": (b"{name}", "body"),
    "a byte order mark": (b"\xef\xbb\xbf{}", "body"),
    "bad UTF-8": (b'{"name":"\xff"}', "body"),
    "Infinity": (b'{"a":[1,{"b":-Infinity}]}', "a[1].b"),
    "a whole number beyond 2^53": (b'{"name":9007199254740993}', "name"),
    "a whole number below -2^53": (b'{"name":-9007199254740993}', "name"),
    "a key twice further in": (b'{"a":{"url":1,"url":1}}', "url"),
    "a lone surrogate": (b'{"name":"\\ud800"}', "name"),
    "NUL": (b'{"name":"a\\u0000b"}', "name"),
    "33 levels of objects": (b'{"a":' * 33 + b"1" + b"}" * 33, "body"),
    "a string that never ends": (b'{"name":"' + b'\\"' * 20_000, "body"),
}


def test_E2_E19_hostile_json_is_refused_with_the_field_named(service: Service) -> None:
    for name, (body, field) in HOSTILE.items():
        answer = service.anonymous().post("/api/v1/accounts", data=body, content_type="application/json")

        found = answer.status_code, answer.get_json()["code"], fields_of(answer)
        assert found == (400, "malformed_json", {field}), name


def test_E4_a_body_of_the_wrong_shape_is_a_422(service: Service) -> None:
    for body in (b"[]", b'"text"', b"5", b"null", b'{"name":9007199254740992}', b"[" * 32 + b"]" * 32):
        answer = service.anonymous().post("/api/v1/accounts", data=body, content_type="application/json")

        assert (answer.status_code, answer.get_json()["code"]) == (422, "validation_failed"), body


def test_E3_only_json_in_utf_8_that_is_not_packed_is_read(owner: Person) -> None:
    for media_type, packing, status in (
        *((None, "identity", 415), ("text/plain", "identity", 415), ("application/json; charset=latin-1", "", 415)),
        *(("application/json", "gzip", 415), ("application/json; charset=UTF-8", "identity", 201)),
        ("application/json", "Identity", 201),
    ):
        headers = {"Content-Encoding": packing}
        answer = owner.ask("POST", "/accounts/me/tokens", headers, data=b'{"name":"laptop"}', content_type=media_type)

        assert answer.status_code == status, (media_type, packing)
        assert status == 201 or answer.get_json()["code"] == "unsupported_media_type"


def test_E1_a_body_of_the_greatest_length_is_read_and_no_longer_one(owner: Person) -> None:
    for length, found in (MAX_BYTES, (422, "validation_failed")), (MAX_BYTES + 1, (413, "body_too_large")):
        body = b'{"name":"%s"}' % (b"x" * (length - 11))
        answer = owner.ask("POST", "/bots", data=body, content_type="application/json")

        assert (answer.status_code, answer.get_json()["code"]) == found
