"""Lists: one envelope, pages by signed cursors."""

import base64

from tests.api.conftest import API, Person, Service, fields_of


def test_every_list_has_the_same_envelope(service: Service) -> None:
    for path in ("/games", "/bots", "/matches", "/ladders", "/tournaments"):
        assert service.anonymous().get(API + path).get_json().keys() == {"items", "next"}, path


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

    assert (found, pages) == (made[::-1], 3)


def test_E11_a_limit_out_of_bounds_is_refused(owner: Person) -> None:
    for limit in ("0", "-1", "101", "1e2", "2.0", "x", "", " 5", "5%0a", "٥", "0x5", "9" * 100):
        answer = owner.get(f"/bots?limit={limit}")
        assert (answer.status_code, fields_of(answer)) == (422, {"limit"}), limit
    assert owner.get("/bots?limit=100").status_code == 200


def test_E11_a_forged_or_foreign_cursor_is_refused(service: Service, owner: Person) -> None:
    service.played(owner, service.person())
    service.played(owner, service.person(), service.person())
    first, second = (ladder["id"] for ladder in owner.get("/ladders").get_json()["items"])
    cursor = owner.get("/bots?limit=1").get_json()["next"]
    plain = base64.urlsafe_b64encode(b'["2026-01-01T00:00:00+00:00","x"]').decode()
    forged = ["", "x", ".", "a.b", plain, f"{plain}.{cursor.rpartition('.')[2]}", f"{cursor}x", "%00", "x" * 501]

    for attempt in [*forged, cursor[:-1]]:
        assert fields_of(owner.get(f"/bots?limit=1&cursor={attempt}")) == {"cursor"}, attempt
    assert owner.get(f"/bots?limit=2&cursor={cursor}").status_code == 200
    of_ladder = owner.get(f"/ladders/{first}?limit=1").get_json()["next"]
    assert owner.get(f"/ladders/{first}?limit=1&cursor={of_ladder}").status_code == 200
    for other in ("bots?status=verified&", "matches?", "tournaments?"):
        assert fields_of(owner.get(f"/{other}limit=1&cursor={cursor}")) == {"cursor"}
    assert fields_of(owner.get(f"/ladders/{second}?limit=1&cursor={of_ladder}")) == {"cursor"}
