"""A draft is seen by those who run it, and by nobody else."""

import pytest

from tests.api.conftest import API, Person, Service


@pytest.fixture
def draft(organiser: Person) -> str:
    made = organiser.post("/tournaments", {"name": "Not yet", "game": "saint-poker", "seats": 2, "rated": False})
    assert made.status_code == 201
    return str(made.get_json()["id"])


def addresses(service: Service, draft: str) -> list[str]:
    """Every address of the API and the pages that names the tournament, and no other object or number."""
    rules = service.app.url_map.iter_rules()
    named = [rule for rule in rules if "GET" in (rule.methods or ()) and rule.arguments == {"tournament_id"}]
    filtered = [f"/matches?tournament={draft}", f"/voids?tournament={draft}"]
    return sorted(str(rule.build({"tournament_id": draft})[1]) for rule in named) + filtered  # type: ignore[index]


def test_nobody_else_is_told_anything_about_a_draft(service: Service, owner: Person, draft: str) -> None:
    found = addresses(service, draft)
    its_page = f"/tournaments/{draft}/organise"  # a page that says nothing of the draft
    assert len(found) > 20

    for headers in ({}, owner.headers()):
        client = service.anonymous()
        told = {address: client.get(address, headers=headers) for address in found}
        assert [address for address, answer in told.items() if answer.status_code < 400] == [its_page]
        assert not [address for address, answer in told.items() if "Not yet" in answer.text]
        assert draft not in client.get(f"{API}/tournaments", headers=headers).text


def test_a_draft_of_others_is_answered_as_an_unknown_tournament(owner: Person, draft: str) -> None:
    unknown = f"trn_{'0' * 26}"

    def answers(tournament_id: str) -> list[tuple[int, str]]:
        path = f"/tournaments/{tournament_id}"
        all_verbs = ("open", "start", "pause", "resume", "cancel")
        told = [owner.get(f"{path}/admission"), owner.get(f"{path}/requests"), owner.ask("DELETE", path)]
        told += [owner.ask("PATCH", path, {"If-Match": "*"}, json={}), *(owner.post(f"{path}/{v}") for v in all_verbs)]
        return [(answer.status_code, answer.get_json()["detail"].replace(tournament_id, unknown)) for answer in told]

    assert answers(draft) == answers(unknown)


def test_those_who_run_a_draft_see_it(service: Service, organiser: Person, admin: Person, draft: str) -> None:
    for person in (organiser, admin):
        assert person.get(f"/tournaments/{draft}").get_json()["name"] == "Not yet"
        assert draft in [item["id"] for item in person.get("/tournaments").get_json()["items"]]
        page = service.anonymous().get(f"/tournaments/{draft}/organise", headers=person.headers())
        assert 'value="Not yet"' in page.text
        assert page.headers["Cache-Control"] == "no-store"


def test_a_draft_is_deleted_and_not_cancelled_which_would_show_it(organiser: Person, owner: Person, draft: str) -> None:
    cancelled = organiser.post(f"/tournaments/{draft}/cancel", {"reason": "no"})

    assert (cancelled.status_code, "Delete it instead." in cancelled.get_json()["detail"]) == (409, True)
    assert owner.get(f"/tournaments/{draft}").status_code == 404
    assert organiser.ask("DELETE", f"/tournaments/{draft}").status_code == 204


def test_an_open_tournament_is_seen_by_everybody(organiser: Person, owner: Person, draft: str) -> None:
    organiser.post(f"/tournaments/{draft}/open")

    assert owner.get(f"/tournaments/{draft}").status_code == 200
    assert draft in owner.get("/tournaments").text
