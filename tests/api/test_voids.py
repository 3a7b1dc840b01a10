"""Voids in the API and on pages: proposals, decisions, and what everybody can read of them."""

from typing import Any

from tests.api.conftest import API, Person, Service
from tests.api.test_site_tournaments import HARMFUL, read
from tests.api.tournaments import play, started
from tests.database.world import World


def ended_match(service: Service, organiser: Person) -> tuple[str, str]:
    """Return the ids of a tournament and of one of its matches that has ended."""
    tournament_id = started(service, organiser, 3, deal_sharing="own")
    play(service, tournament_id, 1)
    (match,) = organiser.get(f"/matches?tournament={tournament_id}&status=finished").get_json()["items"]
    return tournament_id, match["id"]


def propose(person: Person, match_id: str, reason: str = "a cable was cut") -> dict[str, Any]:
    answer = person.post(f"/matches/{match_id}/void", {"reason": reason})
    assert answer.status_code == 200
    proposal: dict[str, Any] = answer.get_json()["proposal"]
    return proposal


def test_F13_a_proposal_and_its_decision_are_public(service: Service, organiser: Person, admin: Person) -> None:
    tournament_id, match_id = ended_match(service, organiser)
    client, of_it = service.anonymous(), f"tournament={tournament_id}&state=proposed"

    proposal = propose(organiser, match_id, HARMFUL)
    proposed_page, listed_page = (read(client, path) for path in (f"/matches/{match_id}", f"/voids?{of_it}"))
    proposed_tournament = read(client, f"/tournaments/{tournament_id}")
    declined = read(client, f"/voids?match={match_id}&state=declined")
    confirmed = admin.post(f"/voids/{proposal['id']}/confirm")
    confirmed_page = read(client, f"/matches/{match_id}")
    confirmed_tournament = read(client, f"/tournaments/{tournament_id}")
    listed = client.get(f"{API}/voids?tournament={tournament_id}").get_json()["items"]

    assert (proposal["state"], proposal["match"], proposal["decided_at"]) == ("proposed", match_id, None)
    for page in (proposed_page, listed_page):
        assert HARMFUL not in page
        assert "&lt;img src=x" in page
    assert f"/organise/void?match={match_id}" in listed_page
    assert "No match was voided" in declined
    assert "A void is proposed" in proposed_page
    assert proposal["proposed_by"] in proposed_page
    assert "1 more proposed" in proposed_tournament
    assert confirmed.status_code == 200
    assert (confirmed.get_json()["void"], confirmed.get_json()["proposal"]) == ([match_id], None)
    assert len(confirmed.get_json()["rematches"]) == len(confirmed.get_json()["ledger_entries"]) == 1
    assert "Confirmed by" in confirmed_page
    assert "This match does not count" in confirmed_page
    assert f'<a href="/voids?tournament={tournament_id}">1 match</a>' in confirmed_tournament
    assert client.get(f"{API}/tournaments/{tournament_id}").get_json()["voided_matches"] == 1
    (void,) = listed
    assert (void["state"], void["reason"]) == ("confirmed", HARMFUL)
    assert {void["proposed_by"], void["decided_by"]} == {
        person.get("/accounts/me").get_json()["name"] for person in (organiser, admin)
    }
    assert client.get(f"{API}/voids/{void['id']}").get_json() == void
    assert client.get(f"{API}/voids?{of_it}").get_json()["items"] == []
    (act,) = admin.get("/acts?kind=match.void_confirmed").get_json()["items"]
    assert (act["object"], act["details"]) == (match_id, {"void": void["id"]})
    assert client.get(f"{API}/voids?state=open").status_code == 422
    assert client.get(f"{API}/voids/vod_{'0' * 26}").status_code == 404


def test_F13_who_may_propose_decide_and_void_alone(
    service: Service, owner: Person, organiser: Person, admin: Person
) -> None:
    tournament_id, match_id = ended_match(service, organiser)
    strangers = [owner, service.person("organiser")]

    refused = [person.post(f"/matches/{match_id}/void", {"reason": "x"}).status_code for person in strangers]
    path = f"/voids/{propose(organiser, match_id)['id']}"
    again = organiser.post(f"/matches/{match_id}/void", {"reason": "x"})
    asking = [(person, verb) for person in (*strangers, organiser) for verb in ("confirm", "decline")]
    undecided = {person.post(f"{path}/{verb}").status_code for person, verb in asking}
    foreign = [person.post(f"{path}/withdraw").status_code for person in (*strangers, admin)]
    withdrawn = organiser.post(f"{path}/withdraw")
    late = admin.post(f"{path}/confirm")
    declined = admin.post(f"/voids/{propose(organiser, match_id)['id']}/decline")

    assert refused == [403, 403]
    assert again.status_code == 409
    assert "proposed already" in again.get_json()["detail"]
    assert (undecided, foreign) == ({403}, [403, 403, 403])
    assert (withdrawn.get_json()["state"], late.status_code) == ("withdrawn", 409)
    assert declined.get_json()["state"] == "declined"
    assert owner.get(f"/matches/{match_id}").get_json()["status"] == "finished"
    page = read(service.anonymous(), f"/matches/{match_id}")
    assert "A void was withdrawn" in page
    assert "A void was declined" in page
    alone = admin.post(f"/matches/{match_id}/void", {"reason": "wrong cards", "rematch": False}).get_json()
    assert (alone["void"], alone["rematches"], alone["proposal"]) == ([match_id], [], None)
    assert "Voided by" in read(service.anonymous(), f"/matches/{match_id}")
    kinds = [act["kind"] for act in admin.get(f"/acts?tournament={tournament_id}").get_json()["items"]]
    assert [kind.rpartition("_")[2] for kind in kinds[4::-1]] == ["asked", "withdrawn", "asked", "declined", "asked"]


def test_F13_a_finished_leg_keeps_its_result(service: Service, organiser: Person, admin: Person, world: World) -> None:
    tournament_id = started(service, organiser, 2, deal_sharing="duplicate", trusted=True)
    made = organiser.get(f"/matches?tournament={tournament_id}&tournament_round=1").get_json()["items"]
    claims = world.claim(limit=len(made))
    world.finish(claims[0])
    (left,) = {match["id"] for match in made} - {claims[0].match_id}

    refused = organiser.post(f"/matches/{left}/cancel", {"whole_group": True})
    by_operator = admin.post(f"/matches/{left}/cancel", {"whole_group": True})

    assert refused.status_code == 409
    assert "second account" in refused.get_json()["detail"]
    assert by_operator.get_json()["status"] == "cancelled"
