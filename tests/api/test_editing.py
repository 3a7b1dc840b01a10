"""Which terms change after a tournament was opened, notices to owners, and drafts that are deleted."""

from typing import Any

import pytest

from referee.games import catalogue
from referee.match.time_limits import Limits
from referee.tournaments.presets import PRESETS
from referee.tournaments.requested_terms import Terms
from tests.api.conftest import Person, Service, fields_of
from tests.api.test_admission import listen, told
from tests.api.tournaments import drafted, entered, opened, started


def change(person: Person, tournament_id: str, **changes: Any) -> Any:
    return person.ask("PATCH", f"/tournaments/{tournament_id}", {"If-Match": "*"}, json=changes)


def test_without_entries_an_open_tournament_is_changed_like_a_draft(organiser: Person) -> None:
    tournament_id = opened(organiser)

    changed = change(organiser, tournament_id, format="knockout", seats=3, rated=False, time={"budget_ms": 300})
    listed = change(organiser, tournament_id, listed=False)

    shown = changed.get_json()
    assert (changed.status_code, shown["format"], shown["seats"], shown["rated"]) == (200, "knockout", 3, False)
    assert (listed.status_code, "listed can no longer be changed" in listed.get_json()["detail"]) == (409, True)


@pytest.mark.parametrize(
    "changes",
    [
        *({"format": "swiss"}, {"rated": False}, {"options": {"rounds": 3}}, {"seats": 3}, {"cycles": 2}),
        *({"deal_sharing": "own"}, {"anonymous": False}, {"frozen_version": True}, {"time": {"budget_ms": 100}}),
    ],
    ids=str,
)
def test_with_entries_what_their_owners_rely_on_is_fixed(
    service: Service, organiser: Person, changes: dict[str, Any]
) -> None:
    tournament_id, _ = entered(service, organiser, 1)

    answer = change(organiser, tournament_id, **changes)

    assert answer.status_code == 409
    assert f"has entries: {next(iter(changes))} can no longer be changed" in answer.get_json()["detail"]


def test_with_entries_the_rest_is_changed_and_their_owners_are_told(
    service: Service, organiser: Person, owner: Person, mine: str
) -> None:
    tournament_id = opened(organiser)
    owner.post(f"/tournaments/{tournament_id}/enter", {"bot": mine})
    listen(service, owner, "tournament.changed")
    changes = {"name": "Renamed cup", "max_entries": 8, "min_entries": 2, "starts_at": "2099-01-31T18:00:00Z"}

    changed = change(organiser, tournament_id, **changes)
    same = change(organiser, tournament_id, name="Renamed cup")
    by_another = change(owner, tournament_id, name="Mine now")

    assert [answer.status_code for answer in (changed, same, by_another)] == [200, 200, 403]
    assert {name: changed.get_json()[name] for name in ("name", "max_entries", "min_entries")} == {
        "name": "Renamed cup",
        "max_entries": 8,
        "min_entries": 2,
    }
    (message,) = told(service, owner)
    assert '"changed":["max_entries","min_entries","name","starts_at"]' in message.replace(" ", "")
    found = organiser.get("/search?q=renamed").get_json()["items"]
    assert [item["id"] for item in found] == [tournament_id]


def test_a_request_that_waits_counts_as_an_entry(service: Service, organiser: Person, owner: Person, mine: str) -> None:
    tournament_id = opened(organiser, approval=True)
    owner.post(f"/tournaments/{tournament_id}/requests", {"bot": mine})

    assert change(organiser, tournament_id, rated=False).status_code == 409


def test_the_cap_does_not_go_below_the_entries(service: Service, organiser: Person) -> None:
    tournament_id, _ = entered(service, organiser, 3)

    low = change(organiser, tournament_id, max_entries=2)

    assert (low.status_code, fields_of(low)) == (422, {"max_entries"})
    assert change(organiser, tournament_id, max_entries=3).status_code == 200


def test_only_drafts_are_deleted(service: Service, organiser: Person, owner: Person) -> None:
    draft, open_id, running = drafted(organiser), opened(organiser), started(service, organiser)
    organiser.ask("PUT", f"/tournaments/{draft}/admission", json={"join_code": "spring2030", "guests": [owner.id]})

    by_another = owner.ask("DELETE", f"/tournaments/{draft}").status_code
    deleted = [organiser.ask("DELETE", f"/tournaments/{id}").status_code for id in (draft, open_id, running)]

    assert (by_another, deleted) == (404, [204, 409, 409])
    assert organiser.get(f"/tournaments/{draft}").status_code == 404


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_suits_every_game(preset: str) -> None:
    for game in catalogue().values():
        terms = dict(PRESETS[preset].terms)
        limits = Limits(**terms.pop("time", {}))
        for seats in {max(2, game.seats[0]), game.seats[-1]}:
            Terms(name="A cup", game=game.name, seats=seats, options={}, limits=limits, **terms).columns()
