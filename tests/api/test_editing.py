"""Which terms change after a tournament was opened, and drafts, which nobody else sees."""

from typing import Any

import pytest

from referee.events import Event, TournamentChanged
from referee.games import catalogue
from referee.match.time_limits import Limits
from referee.tournaments.presets import PRESETS
from referee.tournaments.requested_terms import Terms
from tests.api.conftest import API, Person, Service, fields_of, told
from tests.api.tournaments import drafted, entered, opened, started

CAPS = {"max_entries": 4, "min_entries": 2}


def change(person: Person, tournament_id: str, **changes: Any) -> Any:
    return person.ask("PATCH", f"/tournaments/{tournament_id}", {"If-Match": "*"}, json=changes)


def test_without_entries_an_open_tournament_is_changed_like_a_draft(organiser: Person) -> None:
    tournament_id = opened(organiser)

    changed = change(organiser, tournament_id, format="knockout", seats=3, rated=False, time={"budget_ms": 300})
    listed = change(organiser, tournament_id, listed=False)

    shown = changed.get_json()
    assert (changed.status_code, shown["format"], shown["seats"], shown["rated"]) == (200, "knockout", 3, False)
    assert (listed.status_code, "listed can no longer be changed" in listed.get_json()["detail"]) == (409, True)


def test_what_owners_of_entries_rely_on_is_fixed(service: Service, organiser: Person, owner: Person, mine: str) -> None:
    tournament_id, _ = entered(service, organiser, 3)
    waiting = opened(organiser, approval=True)
    owner.post(f"/tournaments/{waiting}/requests", {"bot": mine})

    for changes in (
        *({"format": "swiss"}, {"rated": False}, {"options": {"rounds": 3}}, {"seats": 3}, {"cycles": 2}),
        *({"deal_sharing": "own"}, {"anonymous": False}, {"frozen_version": True}, {"time": {"budget_ms": 100}}),
    ):
        answer = change(organiser, tournament_id, **changes)
        assert answer.status_code == 409
        assert f"has entries: {next(iter(changes))} can no longer be changed" in answer.get_json()["detail"]
    low = change(organiser, tournament_id, max_entries=2)
    assert (low.status_code, fields_of(low)) == (422, {"max_entries"})
    assert change(organiser, tournament_id, max_entries=3).status_code == 200
    assert change(organiser, waiting, rated=False).status_code == 409


def test_owners_of_entries_are_told_of_changes(
    organiser: Person, owner: Person, mine: str, reported_events: list[Event]
) -> None:
    tournament_id = opened(organiser)
    owner.post(f"/tournaments/{tournament_id}/enter", {"bot": mine})
    changes = {"name": "Renamed cup", "max_entries": 8, "min_entries": 2}

    changed = change(organiser, tournament_id, **changes, starts_at="2099-01-31T18:00:00Z")
    same = change(organiser, tournament_id, name="Renamed cup")
    by_another = change(owner, tournament_id, name="Mine now")

    assert [answer.status_code for answer in (changed, same, by_another)] == [200, 200, 403]
    assert changed.get_json() | changes == changed.get_json()
    (event,) = told(reported_events, TournamentChanged, owner)
    assert event.changed == ["max_entries", "min_entries", "name", "starts_at"]


def test_only_drafts_are_deleted(service: Service, organiser: Person, owner: Person) -> None:
    draft, open_id, running = drafted(organiser, **CAPS), opened(organiser), started(service, organiser)
    organiser.ask("PUT", f"/tournaments/{draft}/admission", json={"join_code": "spring2030", "guests": [owner.id]})
    uncapped = change(organiser, draft, **dict.fromkeys(CAPS)).get_json()
    assert [uncapped[name] for name in CAPS] == [None, None]

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


@pytest.fixture
def draft(organiser: Person) -> str:
    return drafted(organiser, name="Not yet", rated=False)


def addresses(service: Service, draft: str) -> list[str]:
    """Every address of the API and the pages that names the tournament, and no other object or number."""
    rules = service.app.url_map.iter_rules()
    named = [rule for rule in rules if "GET" in (rule.methods or ()) and rule.arguments == {"tournament_id"}]
    filtered = [f"/matches?tournament={draft}", f"/voids?tournament={draft}"]
    return sorted(str(rule.build({"tournament_id": draft})[1]) for rule in named) + filtered  # type: ignore[index]


def test_only_those_who_run_a_draft_see_it(
    service: Service, owner: Person, organiser: Person, admin: Person, draft: str
) -> None:
    found = addresses(service, draft)
    its_page = f"/tournaments/{draft}/organise"  # a page that says nothing of the draft
    assert len(found) > 20

    client = service.anonymous()
    for headers in ({}, owner.headers()):
        answers = {address: client.get(address, headers=headers) for address in found}
        assert [address for address, answer in answers.items() if answer.status_code < 400] == [its_page]
        assert not [address for address, answer in answers.items() if "Not yet" in answer.text]
        assert draft not in client.get(f"{API}/tournaments", headers=headers).text
    for person in (organiser, admin):
        assert person.get(f"/tournaments/{draft}").get_json()["name"] == "Not yet"
        assert draft in person.get("/tournaments").text
        page = client.get(its_page, headers=person.headers())
        assert ('value="Not yet"' in page.text, page.headers["Cache-Control"]) == (True, "no-store")


def test_a_draft_of_others_is_answered_as_an_unknown_tournament(owner: Person, draft: str) -> None:
    unknown = f"trn_{'0' * 26}"

    def answers(tournament_id: str) -> list[tuple[int, str]]:
        path = f"/tournaments/{tournament_id}"
        given = [owner.get(f"{path}/admission"), owner.get(f"{path}/requests"), owner.ask("DELETE", path)]
        given += [owner.ask("PATCH", path, {"If-Match": "*"}, json={})]
        given += [owner.post(f"{path}/{verb}") for verb in ("open", "start", "pause", "resume", "cancel")]
        return [(answer.status_code, answer.get_json()["detail"].replace(tournament_id, unknown)) for answer in given]

    assert answers(draft) == answers(unknown)


def test_a_draft_is_not_cancelled_which_would_show_it_but_opened(organiser: Person, owner: Person, draft: str) -> None:
    cancelled = organiser.post(f"/tournaments/{draft}/cancel", {"reason": "no"})

    assert (cancelled.status_code, "Delete it instead." in cancelled.get_json()["detail"]) == (409, True)
    assert owner.get(f"/tournaments/{draft}").status_code == 404
    organiser.post(f"/tournaments/{draft}/open")
    assert owner.get(f"/tournaments/{draft}").status_code == 200
    assert draft in owner.get("/tournaments").text
