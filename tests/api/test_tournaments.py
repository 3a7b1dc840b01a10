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
    organiser.post(f"{path}/pause")
    assert world.claim(10) == []
    organiser.post(f"{path}/resume")
    for claim in world.claim(10):
        world.finish(claim)
    after = organiser.get(path).get_json()
    table = organiser.get(f"{path}/standings").get_json()["items"]
    played = organiser.get(f"{path}/matches").get_json()["items"]

    assert (before["status"], before["progress"]["done"], before["progress"]["total"]) == ("running", 0, 3)
    assert (after["progress"]["done"], after["progress"]["by_status"]) == (3, {"finished": 3})
    assert sum(Fraction(row["points_exact"]) for row in table) == 3  # a point a match
    assert [row["matches"] for row in table] == [2, 2, 2]
    for row in table:
        assert row["tie_breaks"][0] == {"name": "points", "value": row["points"], "exact": row["points_exact"]}
    assert [row["rank"] for row in table] == sorted(row["rank"] for row in table)
    assert {match["tournament_round"] for match in played} == {1, 2, 3}


def test_only_its_organiser_runs_it(service: Service, owner: Person, organiser: Person, admin: Person) -> None:
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

    assert refusals(organiser, wrong) == [(422, set(wrong))] * 2


@pytest.mark.parametrize(
    "change", [{"options.rounds": -1}, {"format_options.hero": 1}, {"starts_at": "2001-01-01T00:00:00Z"}]
)
def test_E4_E23_terms_that_do_not_fit_are_refused(organiser: Person, change: dict[str, Any]) -> None:
    ((field, value),) = change.items()
    part, _, name = field.partition(".")

    assert refusals(organiser, {part: {name: value} if name else value}) == [(422, {field})] * 2
    draft = f"/tournaments/{drafted(organiser)}"
    assert fields_of(organiser.ask("PATCH", draft, {"If-Match": "*"}, json={})) == {"body"}


def refusals(organiser: Person, terms: dict[str, Any]) -> list[tuple[int, set[str]]]:
    """Return statuses and named fields for a new tournament with these terms and for a draft changed to them."""
    draft = f"/tournaments/{drafted(organiser)}"
    answers = (
        organiser.post("/tournaments", {**CUP, **terms}),
        organiser.ask("PATCH", draft, {"If-Match": "*"}, json=terms),
    )
    return [(answer.status_code, fields_of(answer)) for answer in answers]


def test_E4_bots_enter_and_withdraw_and_what_is_no_entrant_is_refused(
    service: Service, owner: Person, organiser: Person, mine: str
) -> None:
    path, body = f"/tournaments/{drafted(organiser)}", {"bot": mine}

    early = owner.post(f"{path}/enter", body).status_code
    organiser.post(f"{path}/open")
    foreign = service.person().post(f"{path}/enter", body).status_code
    entered = owner.post(f"{path}/enter", body)
    twice = owner.post(f"{path}/enter", body).status_code
    gone = owner.post(f"{path}/withdraw", body)
    again = owner.post(f"{path}/enter", body).status_code

    assert (early, foreign, entered.status_code, twice, again) == (404, 403, 200, 409, 200)
    assert (entered.get_json()["bot"], entered.get_json()["withdrawn_at"]) == (mine, None)
    assert gone.get_json()["withdrawn_at"] is not None
    other = opened(organiser)
    for verb, bot in (("enter", "bot_" + "0" * 26), ("enter", "x"), ("enter", 5), ("withdraw", mine)):
        answer = owner.post(f"/tournaments/{other}/{verb}", {"bot": bot})
        assert (answer.status_code, fields_of(answer)) == (422, {"bot"})
    assert owner.post(f"/tournaments/trn_{'0' * 26}/enter", body).status_code == 404


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
