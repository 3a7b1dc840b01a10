"""Terms, entries, seeds and preflight of a tournament over HTTP."""

from typing import Any

import pytest

from tests.api.conftest import Person, Service, fields_of
from tests.api.tournaments import entered, started
from tests.database.tournaments import answer_handshakes, go_on

TERMS = {
    "format": "swiss",
    "format_options": {"rounds": 3},
    "deal_sharing": "duplicate",
    "orders": "all",
    "trusted": True,
    "anonymous": False,
    "late_entry": True,
    "frozen_version": True,
    "bots_per_owner": 3,
    "substitute": "house:3",
    "starts_at": "2099-01-31T19:00:00+01:00",
}


def test_an_event_is_announced_and_edited_with_all_its_terms(organiser: Person) -> None:
    made = organiser.post("/tournaments", {"name": "A cup", "game": "saint-poker", "seats": 3, **TERMS})
    path = f"/tournaments/{made.get_json()['id']}"
    etag = organiser.get(path).headers["ETag"]
    changes = {"format": "knockout", "late_entry": False, "starts_at": None, "substitute": None}
    edited = organiser.ask("PATCH", path, {"If-Match": etag}, json=changes)

    shown = made.get_json()
    assert {name: shown[name] for name in TERMS} == {**TERMS, "starts_at": "2099-01-31T18:00:00.000Z"}
    assert (shown["draw"], shown["status_reason"], shown["progress"]["estimated_end"]) == (None, None, None)
    changed = edited.get_json()
    assert (changed["format"], changed["starts_at"], changed["substitute"]) == ("knockout", None, None)
    assert changed["format_options"]["seeding"] == "rating"
    assert changed["tie_breaks"] == ["bracket"]


def test_pages_and_api_name_both_sizes_of_tables(service: Service, organiser: Person) -> None:
    terms = {"seats": 3, "format": "swiss"}
    tournament_id, _ = entered(service, organiser, 5, **terms)

    shown = organiser.get(f"/tournaments/{tournament_id}").get_json()
    pages = [organiser.client.get(path).text for path in (f"/tournaments/{tournament_id}", "/tournaments")]

    assert (shown["seats"], shown["min_seats"], shown["table_sizes"]) == (3, 2, [3, 2])
    assert "3 and 2 seats" in pages[0]
    assert "3 and 2 per table" in pages[1]


def test_entries_are_seeded_listed_and_paged(service: Service, owner: Person, organiser: Person) -> None:
    tournament_id, bots = entered(service, organiser, 3, format="knockout", format_options={"seeding": "hand"})
    path = f"/tournaments/{tournament_id}"
    mine = service.verified_bot(owner)["id"]

    presumed = owner.post(f"{path}/enter", {"bot": mine, "seed": 1})
    owner.ask("PATCH", "/accounts/me", {"If-Match": "*"}, json={"entry_consent": "everybody"})
    seeded = organiser.post(f"{path}/enter", {"bot": mine, "seed": 7})
    put = organiser.ask("PUT", f"{path}/seeds", json={"seeds": {bots[0]: 2, bots[1]: 1, mine: None}})
    first = owner.get(f"{path}/entries?limit=3").get_json()
    rest = owner.get(f"{path}/entries?limit=3&cursor={first['next']}").get_json()

    def refused(seeds: Any, person: Person = organiser) -> int:
        return person.ask("PUT", f"{path}/seeds", json={"seeds": seeds}).status_code

    assert (presumed.status_code, seeded.get_json()["seed"], put.status_code) == (403, 7, 200)
    assert [(one["bot"], one["seed"]) for one in first["items"] + rest["items"]] == [
        (bots[0], 2),
        (bots[1], 1),
        (bots[2], None),
        (mine, None),
    ]
    assert (rest["next"], put.get_json()["entries"]["entered"]) == (None, 4)
    wrong = [{bots[0]: 1}, {f"bot_{'0' * 26}": 1}, {bots[0]: 0}, {bots[0]: "1"}, {"x": 1}, {}, []]
    assert [refused(seeds) for seeds in wrong] == [422] * 7  # 1 is the seed of another already
    assert refused({bots[0]: 5}, owner) == 403


def test_who_does_not_answer_before_the_start_is_absent(service: Service, owner: Person, organiser: Person) -> None:
    tournament_id, bots = entered(service, organiser, 3, substitute="house:3")
    path = f"/tournaments/{tournament_id}"

    asked = organiser.post(f"{path}/start").get_json()
    answer_handshakes(service.database, absent=bots[:1])
    go_on(service.database, tournament_id)
    begun = owner.get(path).get_json()
    absent = owner.get(f"{path}/entries?preflight=absent").get_json()["items"]
    (told,) = organiser.get(f"{path}/entries?preflight=absent").get_json()["items"]
    seats = [
        seat
        for match in organiser.get(f"{path}/matches").get_json()["items"]
        for seat in match["seats"]
        if seat["entrant"] == bots[0]
    ]

    assert (asked["entries"]["asked"], asked["preflight_until"] is None) == (3, False)
    assert (begun["entries"]["ready"], begun["entries"]["absent"], begun["entries"]["substitutes"]) == (2, 1, 1)
    assert begun["preflight_until"] is None
    assert [(one["bot"], one["preflight_reason"]) for one in absent] == [(bots[0], None)]
    assert "unreachable" in told["preflight_reason"]
    assert [(seat["bot"], seat["rated"]) for seat in seats] == [(told["substitute"], False)] * 2  # meets both others


def test_a_cancelled_tournament_shows_its_draw_and_its_reason(service: Service, organiser: Person) -> None:
    cup = started(service, organiser, 2)

    refused = organiser.post(f"/tournaments/{cup}/cancel", {"reason": "a\nb"})
    cancelled = organiser.post(f"/tournaments/{cup}/cancel", {"reason": "no power"}).get_json()

    assert fields_of(refused) == {"reason"}
    assert (cancelled["status_reason"], len(cancelled["draw"])) == ("no power", 64)


def test_a_rated_tournament_takes_one_bot_of_each_owner(service: Service, organiser: Person, owner: Person) -> None:
    tournament_id, _ = entered(service, organiser, 0)
    first, second = (service.verified_bot(owner) for _ in range(2))
    path = f"/tournaments/{tournament_id}"
    assert organiser.get(path).get_json()["bots_per_owner"] == 1
    assert owner.post(f"{path}/enter", {"bot": first["id"]}).status_code == 200

    refused = owner.post(f"{path}/enter", {"bot": second["id"]})

    assert refused.get_json()["code"] == "quota_exceeded"
    assert first["name"] in refused.get_json()["detail"]
    assert "Withdraw one first" in refused.get_json()["detail"]
    owner.post(f"{path}/withdraw", {"bot": first["id"]})
    assert owner.post(f"{path}/enter", {"bot": second["id"]}).status_code == 200
    again = owner.post(f"{path}/enter", {"bot": first["id"]})  # one that withdrew counts, too, when it returns
    assert again.get_json()["code"] == "quota_exceeded"


@pytest.mark.parametrize(("terms", "accepted"), [({"bots_per_owner": 2}, 2), ({"rated": False}, 3)], ids=str)
def test_more_bots_of_an_owner_enter_where_the_terms_allow_it(
    service: Service, organiser: Person, owner: Person, terms: dict[str, Any], accepted: int
) -> None:
    tournament_id, _ = entered(service, organiser, 0, **terms)
    bots = [service.verified_bot(owner)["id"] for _ in range(3)]

    answers = [owner.post(f"/tournaments/{tournament_id}/enter", {"bot": bot}) for bot in bots]

    assert [answer.status_code == 200 for answer in answers].count(True) == accepted


def test_the_default_number_of_bots_per_owner_follows_whether_it_is_rated(organiser: Person) -> None:
    shown = []
    for terms in ({}, {"bots_per_owner": 5}):
        made = organiser.post("/tournaments", {"name": "A cup", "game": "saint-poker", "seats": 2, **terms}).get_json()
        path = f"/tournaments/{made['id']}"
        match = {"If-Match": organiser.get(path).headers["ETag"]}
        changed = organiser.ask("PATCH", path, match, json={"rated": False}).get_json()
        shown.append((made["bots_per_owner"], changed["bots_per_owner"]))
    assert shown == [(1, 1000), (5, 5)]
