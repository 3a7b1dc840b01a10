"""Tournaments, their standings, and ladders."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import pytest

from tests.api.conftest import Person, Service, fields_of
from tests.api.tournaments import CUP, drafted, opened, started
from tests.database.world import World


def test_a_tournament_runs_from_draft_to_standings(service: Service, organiser: Person) -> None:
    tournament_id = started(service, organiser)
    world, path = World(service.database), f"/tournaments/{tournament_id}"

    before = organiser.get(path).get_json()
    for claim in world.claim(10):
        world.finish(claim)
    after = organiser.get(path).get_json()
    table = organiser.get(f"{path}/standings").get_json()["items"]
    played = organiser.get(f"{path}/matches").get_json()["items"]

    assert (before["status"], before["progress"]["done"], before["progress"]["total"]) == ("running", 0, 3)
    assert (after["progress"]["done"], after["progress"]["by_status"]) == (3, {"finished": 3})
    assert sum(Fraction(row["points_exact"]) for row in table) == 3  # a point a match
    assert [row["matches"] for row in table] == [2, 2, 2]
    assert [row["tie_breaks"][0] for row in table] == [
        {"name": "points", "value": row["points"], "exact": row["points_exact"]} for row in table
    ]
    assert [row["rank"] for row in table] == sorted(row["rank"] for row in table)
    assert {match["tournament_round"] for match in played} == {1, 2, 3}


def test_only_organisers_announce_and_only_the_announcer_runs_it(
    service: Service, owner: Person, organiser: Person, admin: Person
) -> None:
    other = service.person("organiser")
    tournament_id = opened(organiser)

    assert owner.post("/tournaments", CUP).status_code == 403
    for verb in ("open", "start", "pause", "resume", "cancel"):
        assert other.post(f"/tournaments/{tournament_id}/{verb}").status_code == 403
        assert owner.post(f"/tournaments/{tournament_id}/{verb}").status_code == 403
    assert admin.post(f"/tournaments/{tournament_id}/cancel").status_code == 200


@pytest.mark.parametrize("field", ["budget_ms", "limits"])
def test_a_field_at_the_wrong_place_is_refused_with_the_accepted_ones(organiser: Person, field: str) -> None:
    (error,) = organiser.post("/tournaments", {**CUP, field: 5000}).get_json()["errors"]

    assert error["field"] == field
    assert ('write it as {"time": {"budget_ms": …}}' in error["message"]) == (field == "budget_ms")
    accepted = error["message"].partition("Accepted: ")[2].rstrip(".").split(", ")
    assert {"name", "game", "seats", "time.budget_ms", "time.bank_ms"} <= set(accepted)


def test_E10_a_draft_is_edited_under_its_validator(organiser: Person) -> None:
    path = f"/tournaments/{drafted(organiser)}"
    etag = organiser.get(path).headers["ETag"]
    changes = {"name": "Second cup", "seats": 3, "options": {"rounds": 4}, "cycles": 2, "time": {"budget_ms": 300}}

    edited = organiser.ask("PATCH", path, {"If-Match": etag}, json=changes)
    stale = organiser.ask("PATCH", path, {"If-Match": etag}, json={"name": "Third cup"})
    for verb in ("open", "cancel"):
        organiser.post(f"{path}/{verb}")
    late = organiser.ask("PATCH", path, {"If-Match": "*"}, json={"name": "Third cup"})

    shown = edited.get_json()
    assert (edited.status_code, stale.status_code, late.status_code) == (200, 412, 409)
    assert (shown["name"], shown["seats"], shown["cycles"]) == ("Second cup", 3, 2)
    assert (shown["options"]["rounds"], shown["time"]["budget_ms"]) == (4, 300)


def test_E4_E23_every_wrong_field_of_a_tournament_is_named(organiser: Person) -> None:
    wrong = {
        "name": "x",
        "game": "whist",
        "seats": "2",
        "min_seats": 0,
        "cycles": 10**6,
        "bots_per_owner": 1001,
        "format": "league",
        "format_options": [],
        "deal_sharing": "some",
        "orders": "some",
        "substitute": "nobody",
        "trusted": 1,
        "starts_at": "9999-12-31T23:59:59-12:00",
        "entries_close_at": "2099-01-01T00:00:00",
        "round_minutes": 0,
        "round_times": [],
        "link": "javascript:alert(1)",
        "prizes": 5,
        "status": "running",
    }
    draft = f"/tournaments/{drafted(organiser)}"

    for answer in (organiser.post("/tournaments", wrong), organiser.ask("PATCH", draft, {"If-Match": "*"}, json=wrong)):
        assert (answer.status_code, fields_of(answer)) == (422, set(wrong))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"options": {"rounds": -1}}, "options.rounds"),
        ({"format_options": {"hero": 1}}, "format_options.hero"),
        ({"starts_at": "2001-01-01T00:00:00Z"}, "starts_at"),
    ],
    ids=str,
)
def test_E4_E23_terms_that_do_not_fit_are_refused_with_the_field_named(
    organiser: Person, change: dict[str, Any], field: str
) -> None:
    draft = f"/tournaments/{drafted(organiser)}"

    for answer in (
        organiser.post("/tournaments", {**CUP, **change}),
        organiser.ask("PATCH", draft, {"If-Match": "*"}, json=change),
    ):
        assert (answer.status_code, fields_of(answer)) == (422, {field})
    assert fields_of(organiser.ask("PATCH", draft, {"If-Match": "*"}, json={})) == {"body"}


def test_bots_enter_and_withdraw(service: Service, owner: Person, organiser: Person) -> None:
    tournament_id = drafted(organiser)
    bot = service.verified_bot(owner)["id"]
    body = {"bot": bot}

    early = owner.post(f"/tournaments/{tournament_id}/enter", body).status_code
    organiser.post(f"/tournaments/{tournament_id}/open")
    foreign = service.person().post(f"/tournaments/{tournament_id}/enter", body).status_code
    entered = owner.post(f"/tournaments/{tournament_id}/enter", body)
    twice = owner.post(f"/tournaments/{tournament_id}/enter", body).status_code
    gone = owner.post(f"/tournaments/{tournament_id}/withdraw", body)
    again = owner.post(f"/tournaments/{tournament_id}/enter", body).status_code

    assert (early, foreign, entered.status_code, twice) == (404, 403, 200, 409)
    assert (entered.get_json()["bot"], entered.get_json()["withdrawn_at"]) == (bot, None)
    assert gone.get_json()["withdrawn_at"] is not None
    assert again == 200


def test_E4_what_is_no_entrant_is_refused(service: Service, owner: Person, organiser: Person) -> None:
    tournament_id, never_entered = opened(organiser), service.verified_bot(owner)["id"]
    path = f"/tournaments/{tournament_id}"

    for verb, bot in (("enter", "bot_" + "0" * 26), ("enter", "x"), ("enter", 5), ("withdraw", never_entered)):
        answer = owner.post(f"{path}/{verb}", {"bot": bot})
        assert (answer.status_code, fields_of(answer)) == (422, {"bot"})
    assert owner.post(f"/tournaments/trn_{'0' * 26}/enter", {"bot": never_entered}).status_code == 404


def test_a_paused_tournament_begins_no_match(service: Service, organiser: Person) -> None:
    tournament_id, world = started(service, organiser), World(service.database)

    organiser.post(f"/tournaments/{tournament_id}/pause")
    while_paused = world.claim(10)
    organiser.post(f"/tournaments/{tournament_id}/resume")
    after = world.claim(10)

    assert while_paused == []
    assert len(after) == 3


def test_E10_of_two_starts_at_once_one_takes_effect(service: Service, organiser: Person) -> None:
    tournament_id = opened(organiser)
    for _ in range(3):
        owner = service.person()
        owner.post(f"/tournaments/{tournament_id}/enter", {"bot": service.verified_bot(owner)["id"]})

    def start(_: int) -> int:
        person = Person(service.anonymous(), organiser.id, organiser.token)
        return person.post(f"/tournaments/{tournament_id}/start").status_code

    with ThreadPoolExecutor(4) as threads:
        statuses = sorted(threads.map(start, range(4)))

    assert statuses == [200, 409, 409, 409]
    assert organiser.get(f"/tournaments/{tournament_id}").get_json()["progress"]["total"] == 3


def test_tournaments_are_listed_by_status(organiser: Person) -> None:
    first, second = drafted(organiser), opened(organiser, game="pool-nap", seats=3)

    def ids(query: str) -> list[str]:
        return [one["id"] for one in organiser.get(f"/tournaments?{query}").get_json()["items"]]

    assert ids("") == [second, first]
    assert ids("status=open") == ids("game=pool-nap") == [second]
