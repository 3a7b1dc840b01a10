"""Terms, entries, seeds and preflight of a tournament over HTTP."""

from typing import Any

from tests.api.conftest import Person, Service, fields_of
from tests.api.tournaments import drafted, entered, opened, started
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
    tournament_id, _ = entered(service, organiser, 5, seats=3, format="swiss")

    shown = organiser.get(f"/tournaments/{tournament_id}").get_json()

    assert (shown["seats"], shown["min_seats"], shown["table_sizes"]) == (3, 2, [3, 2])
    assert "3 and 2 seats" in organiser.client.get(f"/tournaments/{tournament_id}").text
    assert "3 and 2 per table" in organiser.client.get("/tournaments").text


def test_entries_are_seeded_listed_and_paged(service: Service, owner: Person, organiser: Person, mine: str) -> None:
    tournament_id, bots = entered(service, organiser, 3, format="knockout", format_options={"seeding": "hand"})
    path = f"/tournaments/{tournament_id}"

    def set_seeds(seeds: Any, person: Person = organiser) -> Any:
        return person.ask("PUT", f"{path}/seeds", json={"seeds": seeds})

    presumed = owner.post(f"{path}/enter", {"bot": mine, "seed": 1})
    owner.ask("PATCH", "/accounts/me", {"If-Match": "*"}, json={"entry_consent": "everybody"})
    seeded = organiser.post(f"{path}/enter", {"bot": mine, "seed": 7})
    put = set_seeds({bots[0]: 2, bots[1]: 1, mine: None})
    first = owner.get(f"{path}/entries?limit=3").get_json()
    rest = owner.get(f"{path}/entries?limit=3&cursor={first['next']}").get_json()

    assert (presumed.status_code, seeded.get_json()["seed"], put.status_code) == (403, 7, 200)
    listed = [(one["bot"], one["seed"]) for one in first["items"] + rest["items"]]
    assert listed == [(bots[0], 2), (bots[1], 1), (bots[2], None), (mine, None)]
    assert (rest["next"], put.get_json()["entries"]["entered"]) == (None, 4)
    wrong = [{bots[0]: 1}, {f"bot_{'0' * 26}": 1}, {bots[0]: 0}, {bots[0]: "1"}, {"x": 1}, {}, []]
    assert [set_seeds(seeds).status_code for seeds in wrong] == [422] * 7  # 1 is the seed of another already
    assert set_seeds({bots[0]: 5}, owner).status_code == 403


def test_who_does_not_answer_before_the_start_is_absent(service: Service, owner: Person, organiser: Person) -> None:
    tournament_id, bots = entered(service, organiser, 3, substitute="house:3")
    path = f"/tournaments/{tournament_id}"

    asked = organiser.post(f"{path}/start").get_json()
    answer_handshakes(service.database, absent=bots[:1])
    go_on(service.database, tournament_id)
    begun = owner.get(path).get_json()
    ((absent,), (told,)) = (
        person.get(f"{path}/entries?preflight=absent").get_json()["items"] for person in (owner, organiser)
    )
    matches = organiser.get(f"{path}/matches").get_json()["items"]
    seats = [seat for match in matches for seat in match["seats"] if seat["entrant"] == bots[0]]

    assert (asked["entries"]["asked"], asked["preflight_until"] is None) == (3, False)
    assert (begun["entries"]["ready"], begun["entries"]["absent"], begun["entries"]["substitutes"]) == (2, 1, 1)
    assert begun["preflight_until"] is None
    assert (absent["bot"], absent["preflight_reason"]) == (bots[0], None)
    assert "unreachable" in told["preflight_reason"]
    assert [(seat["bot"], seat["rated"]) for seat in seats] == [(told["substitute"], False)] * 2  # meets both others


def test_a_cancelled_tournament_shows_its_draw_and_its_reason(service: Service, organiser: Person) -> None:
    cup = started(service, organiser, 2)

    refused = organiser.post(f"/tournaments/{cup}/cancel", {"reason": "a\nb"})
    cancelled = organiser.post(f"/tournaments/{cup}/cancel", {"reason": "no power"}).get_json()

    assert fields_of(refused) == {"reason"}
    assert (cancelled["status_reason"], len(cancelled["draw"])) == ("no power", 64)


def test_a_rated_tournament_takes_one_bot_of_each_owner(service: Service, organiser: Person, owner: Person) -> None:
    path = f"/tournaments/{opened(organiser)}"
    first, second = (service.verified_bot(owner) for _ in range(2))

    def enter(bot: dict[str, Any]) -> Any:
        return owner.post(f"{path}/enter", {"bot": bot["id"]}).get_json()

    assert (organiser.get(path).get_json()["bots_per_owner"], enter(first)["bot"]) == (1, first["id"])
    refused = enter(second)
    owner.post(f"{path}/withdraw", {"bot": first["id"]})

    assert refused["code"] == "quota_exceeded"
    assert first["name"] in refused["detail"]
    assert "Withdraw one first" in refused["detail"]
    assert enter(second)["bot"] == second["id"]
    assert enter(first)["code"] == "quota_exceeded"  # one that withdrew counts, too, when it returns


def test_terms_allow_more_bots(service: Service, organiser: Person, owner: Person) -> None:
    bots = [service.verified_bot(owner)["id"] for _ in range(3)]
    for terms, accepted in ({"bots_per_owner": 2}, 2), ({"rated": False}, 3):
        path = f"/tournaments/{opened(organiser, **terms)}/enter"
        assert [owner.post(path, {"bot": bot}).status_code for bot in bots].count(200) == accepted


def test_the_default_number_of_bots_per_owner_follows_whether_it_is_rated(organiser: Person) -> None:
    for terms, numbers in ({}, [1, 1000]), ({"bots_per_owner": 5}, [5, 5]):
        path = f"/tournaments/{drafted(organiser, **terms)}"
        made, changed = organiser.get(path), organiser.ask("PATCH", path, {"If-Match": "*"}, json={"rated": False})
        assert [answer.get_json()["bots_per_owner"] for answer in (made, changed)] == numbers
