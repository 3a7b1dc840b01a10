"""Lists: one envelope, pages by signed cursors."""

import base64

import pytest

from tests.api.conftest import API, Person, Service, fields_of

LISTS = ["/games", "/bots", "/matches", "/ladders", "/tournaments"]


@pytest.mark.parametrize("path", LISTS)
def test_every_list_has_the_same_envelope(service: Service, path: str) -> None:
    answer = service.anonymous().get(API + path).get_json()

    assert answer.keys() == {"items", "next"}


def test_E11_pages_follow_one_another_without_gap_or_overlap(service: Service, owner: Person) -> None:
    made = [service.verified_bot(owner)["id"] for _ in range(5)]

    found: list[str] = []
    cursor, pages = "", 0
    while cursor is not None and pages < 10:
        page = owner.get(f"/bots?limit=2{cursor and f'&cursor={cursor}'}").get_json()
        found += [bot["id"] for bot in page["items"]]
        cursor, pages = page["next"], pages + 1
        if pages == 1:
            service.verified_bot(service.person())  # what comes later does not move the pages

    assert found == made[::-1]
    assert pages == 3


@pytest.mark.parametrize(
    "limit", ["0", "-1", "101", "1000000000", "1e2", "2.0", "x", "", " 5", "5%0a", "٥", "0x5", "9" * 100, "true"]
)
def test_E11_a_limit_out_of_bounds_is_refused(owner: Person, limit: str) -> None:
    answer = owner.get(f"/bots?limit={limit}")

    assert answer.status_code == 422
    assert fields_of(answer) == {"limit"}


@pytest.mark.parametrize("parameter", ["offset", "page", "sort", "token", "LIMIT"])
def test_E11_an_unknown_parameter_is_refused(owner: Person, parameter: str) -> None:
    answer = owner.get(f"/bots?{parameter}=1")

    assert answer.status_code == 422
    assert fields_of(answer) == {parameter}


def test_E11_a_forged_or_foreign_cursor_is_refused(service: Service, owner: Person) -> None:
    for _ in range(2):
        service.verified_bot(owner)
    cursor = owner.get("/bots?limit=1").get_json()["next"]
    plain = base64.urlsafe_b64encode(b'["2026-01-01T00:00:00+00:00","x"]').decode()
    signature = cursor.rpartition(".")[2]
    forged = ["", "x", ".", "a.b", plain, f"{plain}.{signature}", f"{cursor}x", "%00", "x" * 501, cursor[:-1]]

    for attempt in forged:
        assert fields_of(owner.get(f"/bots?limit=1&cursor={attempt}")) == {"cursor"}, attempt
    assert owner.get(f"/bots?limit=1&cursor={cursor}").status_code == 200
    assert owner.get(f"/bots?limit=1&status=verified&cursor={cursor}").status_code == 422
    assert owner.get(f"/matches?limit=1&cursor={cursor}").status_code == 422
    assert owner.get(f"/tournaments?limit=1&cursor={cursor}").status_code == 422


def test_E11_a_cursor_of_one_ladder_does_not_fit_another(service: Service, owner: Person) -> None:
    service.played(owner, service.person())
    service.played(owner, service.person(), service.person())
    first, second = (ladder["id"] for ladder in owner.get("/ladders").get_json()["items"])

    page = owner.get(f"/ladders/{first}?limit=1").get_json()
    rest = owner.get(f"/ladders/{first}?limit=1&cursor={page['next']}").get_json()

    assert len({row["bot"] for row in page["items"] + rest["items"]}) == 2
    assert owner.get(f"/ladders/{second}?limit=1&cursor={page['next']}").status_code == 422
