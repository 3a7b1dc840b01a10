"""Ended openings in the API and on pages: who ended them, when that is public, and what owners see."""

from collections.abc import Sequence

import pytest

from referee.match.reveal import OpeningFailure
from referee.matches import matches
from referee.matches.deals import openings
from referee.matches.deals.openings import FailedStep
from referee.workflows.ending import deal_group_superseding
from tests.api.conftest import Service
from tests.database.world import World
from tests.surroundings import MASTER_KEY

PROMISED = "5" * 64


def end_opening(world: World, match_id: str, failed: Sequence[str]) -> str:
    """End the opening of the match by these bots. Return the id of the closed group."""
    with world.database.write() as session:
        group_id = matches.get_match(session, match_id).group_id
        opening = openings.claim_opening(session, group_id)
        assert opening is not None
        hashes = [PROMISED if entry in failed else "" for entry in opening.entries]
        openings.record_nonce_hashes(session, group_id, opening.epoch, hashes)
        step = FailedStep(OpeningFailure.NONCE_WITHHELD, "no answer", b'{"step":2}', b"\xff")
        blank = [""] * len(hashes)
        deal_group_superseding.supersede_group(
            session, group_id, opening.epoch, blank, dict.fromkeys(failed, step), master_key=MASTER_KEY
        )
    return group_id


@pytest.fixture
def world(service: Service) -> World:
    return World(service.database)


def test_D8_ended_openings_are_listed_and_name_their_bots_when_the_match_is_over(
    service: Service, world: World
) -> None:
    bots, client = world.bots(2), service.anonymous()
    match_id = world.match(bots)
    group_id = end_opening(world, match_id, [bots[1]])

    (running,) = client.get("/api/v1/openings").get_json()["items"]
    hidden = client.get(f"/api/v1/openings?bot={bots[1]}").get_json()["items"]
    page = client.get("/openings").text
    match = client.get(f"/api/v1/matches/{match_id}").get_json()
    (claim,) = world.claim()
    world.finish(claim)
    (over,) = client.get(f"/api/v1/openings?bot={bots[1]}").get_json()["items"]

    assert (running["id"], running["matches"]) == (group_id, [match_id])
    assert running["failures"] == [{"bot": None, "code": "nonce_withheld"}]
    assert hidden == []
    assert "a bot, named when the match is over" in page
    assert running["seed"] in page
    assert match["group"]["openings"][0]["failures"] == running["failures"]
    assert match["group"]["openings"][0]["seed"] == running["seed"]
    assert over["failures"] == [{"bot": bots[1], "code": "nonce_withheld"}]
    assert f'href="/bots/{bots[1]}"' in client.get("/openings").text
    assert f'href="/openings?bot={bots[1]}">list</a>' in client.get(f"/bots/{bots[1]}").text
    assert "Openings ended" not in client.get(f"/bots/{bots[0]}").text
    assert group_id in client.get(f"/matches/{match_id}").text


def test_ended_openings_are_filtered_by_ladder_and_paged(service: Service, world: World) -> None:
    bots, client = world.bots(2), service.anonymous()
    ids = [world.match(bots, rated=True), *(world.match(bots) for _ in range(2))]
    ended = {end_opening(world, match_id, [bots[0]]) for match_id in ids}
    (claim,) = world.claim(match_id=ids[0])
    world.finish(claim)
    (ladder,) = client.get("/api/v1/ladders").get_json()["items"]

    found, none = (
        client.get(f"/api/v1/openings?ladder={id}").get_json()["items"] for id in (ladder["id"], f"lad_{'0' * 26}")
    )
    first = client.get("/api/v1/openings?limit=2").get_json()
    second = client.get(f"/api/v1/openings?limit=2&cursor={first['next']}").get_json()

    assert ([item["matches"] for item in found], none) == ([[ids[0]]], [])
    assert "Openings that ended without a deal: 1" in client.get(f"/ladders/{ladder['id']}").text
    assert {item["id"] for item in first["items"] + second["items"]} == ended
    assert second["next"] is None


def test_only_the_owner_sees_what_a_bot_answered(service: Service) -> None:
    owner, other = service.person(), service.person()
    world = World(service.database)
    bot_id, other_id = (service.verified_bot(person)["id"] for person in (owner, other))
    end_opening(world, world.match([bot_id, other_id]), [bot_id])

    (item,) = owner.get(f"/bots/{bot_id}/openings").get_json()["items"]

    assert (item["code"], item["detail"]) == ("nonce_withheld", "no answer")
    assert (item["request"], item["reply"]) == ('{"step":2}', None)
    assert other.get(f"/bots/{bot_id}/openings").status_code == 404
